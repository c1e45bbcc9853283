/* SPDX-License-Identifier: Apache-2.0 */
/* remedy.c - says what a remedy is, and how to apply it, with the run's figures. */
#include "render/run/remedy.h"

#include <string.h>

#include "render/run/explain.h"

static void (*const words[ADVICE_MAX])(const struct report *, const struct advice *,
				       struct remedy *) = {
	[ADVICE_MORE_LOADER_CAPACITY] = remedy_workers,
	[ADVICE_USE_WORKERS] = remedy_workers,
	[ADVICE_USE_FEWER_WORKERS] = remedy_workers,
	[ADVICE_USE_NO_WORKERS] = remedy_no_workers,
	[ADVICE_MARK_LOADS] = remedy_marks,
	[ADVICE_PREFETCH_OR_IN_ORDER_FALSE] = remedy_ahead,
	[ADVICE_PERSISTENT_WORKERS] = remedy_starts,
	[ADVICE_CHEAPER_STARTS] = remedy_starts,
	[ADVICE_REDUCE_DELIVERY_COST] = remedy_delivery,
	[ADVICE_RETURN_TENSORS] = remedy_return_tensors,
	[ADVICE_SEND_LESS] = remedy_send_less,
	[ADVICE_SHRINK_BATCH] = remedy_shrink,
	[ADVICE_OWN_CORES] = remedy_own_cores,
	[ADVICE_FIX_SLOW_WORKER] = remedy_slow_worker,
	[ADVICE_REDUCE_CPU_PER_BATCH] = remedy_cpu,
	[ADVICE_STOP_GROWTH] = remedy_growth,
	[ADVICE_SHORTEN_LOCK] = remedy_lock,
	[ADVICE_INSPECT_LOADS] = remedy_inspect_loads,
	[ADVICE_DECODE_BOUND] = remedy_decoding,
	[ADVICE_DECODE_FEWER] = remedy_decode_fewer,
	[ADVICE_INDEX_AT_ONCE] = remedy_index,
	[ADVICE_FIX_SAMPLES] = remedy_samples,
	[ADVICE_KEEP_OPEN] = remedy_keep_open,
	[ADVICE_READ_LESS] = remedy_read_less,
	[ADVICE_SPLIT_FIRST] = remedy_split,
	[ADVICE_SMOOTH_SHARD_OPENING] = remedy_shards,
	[ADVICE_FIND_EVENT] = remedy_event,
	[ADVICE_FEWER_REQUESTS] = remedy_requests,
	[ADVICE_WITHOUT_HELPER] = remedy_helper,
	[ADVICE_VECTORISE_SAMPLER] = remedy_sampler,
	[ADVICE_INSPECT_WAITS] = remedy_receiving,
	[ADVICE_REDUCE_MAIN_THREAD_EVENT] = remedy_pauses,
	[ADVICE_MOVE_OUT_OF_PROCESS] = remedy_other_thread,
	[ADVICE_CHEAPER_STEP] = remedy_step,
};

/* Replaces words by those for the pipeline's stages, or for the library of the loader. */
static void use_dialect(const struct report *report, const struct advice *advice,
			struct remedy *ret)
{
	char text[REMEDY_WORDS] = "";

	if (stages_add_line(report, advice->id, text, sizeof(text)) ||
	    dialect_add_line(report, advice, text, sizeof(text)))
		memcpy(ret->line_buffer, text, sizeof(text));
	*text = '\0';
	if (dialect_add_how(report, advice, text, sizeof(text)) ||
	    (!words[advice->id] && stages_add_how(report, advice->id, text, sizeof(text))))
		memcpy(ret->how_buffer, text, sizeof(text));
}

const struct remedy *remedy_say(const struct report *report, const struct advice *advice,
				struct remedy *ret)
{
	const struct explanation *said = explain_find(advice_names[advice->id]);

	ret->line = said->line;
	ret->how = said->how;
	*ret->line_buffer = *ret->how_buffer = '\0';
	if (words[advice->id])
		words[advice->id](report, advice, ret);
	use_dialect(report, advice, ret);
	if (*ret->line_buffer)
		ret->line = ret->line_buffer;
	if (*ret->how_buffer)
		ret->how = ret->how_buffer;
	return ret;
}
