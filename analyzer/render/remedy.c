/* SPDX-License-Identifier: Apache-2.0 */
#include "render/parts.h"

#include <inttypes.h>
#include <math.h>

#include "render/explain.h"
#include "render/units.h"

#define FEW_TENSORS_NS 3e6 /* a shorter hand-over is that of a few tensors */

/* What receiving a batch takes; NAN: not known. */
static double handover_ns(const struct report *report)
{
	const struct account *own = &report->finding.own;

	return own->count ? own->part_ns[ACCOUNT_RECEIVING] / (double)own->count : NAN;
}

static bool has_few_tensors(const struct report *report)
{
	return handover_ns(report) < FEW_TENSORS_NS;
}

static int32_t prefetch_factor(const struct report *report)
{
	return report->diagnosis.whatif.setups[WHATIF_PREFETCH_X4].prefetch_factor;
}

const char *remedy_line(const struct report *report, const struct advice *advice, char *buffer)
{
	const char *line = explain_find(advice_name(advice->id))->line;

	if (advice->whatif == WHATIF_IN_ORDER_FALSE)
		return "Hand out finished batches out of order: in_order=False.";
	if (advice->whatif == WHATIF_PREFETCH_X4) {
		snprintf(buffer, REMEDY_WORDS, "Load further ahead: prefetch_factor=%" PRId32 ".",
			 prefetch_factor(report));
		return buffer;
	}
	if (advice->id == ADVICE_REDUCE_DELIVERY_COST && has_few_tensors(report))
		return "Make receiving finished batches cheaper.";
	return line;
}

static void workers_words(int32_t workers, const char *what, char *buffer)
{
	snprintf(buffer, REMEDY_WORDS,
		 "DataLoader(..., num_workers=%" PRId32
		 ") or a Trainer's dataloader_num_workers=%" PRId32 "%s.",
		 workers, workers, what);
}

/* The two largest parts of the loads, by name or, where there are no names, by column. */
static void loads_words(const struct report *report, char *buffer)
{
	const struct load_totals *totals = &report->totals;
	const struct inside_largest columns[] = {
		{"opening files", totals->open_ns},
		{"reading", totals->read_ns},
		{"decoding", totals->decode_ns},
		{"collating", totals->collate_ns},
		{"the dataset's own code", totals->other_ns},
	};
	struct inside_largest top[2] = {{"", 0}, {"", 0}};
	double all_ns = (double)report->inside.loads.load_ns;

	if (!inside_find_largest(&report->inside, top)) {
		all_ns = (double)totals->load_ns;
		for (size_t i = 0; i < ARRAY_COUNT(columns); i++)
			inside_take_largest(top, &columns[i]);
	}
	if (top[1].ns <= 0 || !(all_ns > 0))
		return;
	snprintf(buffer, REMEDY_WORDS,
		 "Their largest parts are %.80s (%s) and %.80s (%s); dlprof-report -v names files "
		 "and samples.",
		 top[0].name, UNITS_SHARE((double)top[0].ns / all_ns), top[1].name,
		 UNITS_SHARE((double)top[1].ns / all_ns));
}

const char *remedy_how(const struct report *report, const struct advice *advice, char *buffer)
{
	const struct whatif *whatif = &report->diagnosis.whatif;

	*buffer = '\0';
	if (advice->whatif == WHATIF_WORKERS_X2 && whatif->needed_workers > 0)
		workers_words(whatif->needed_workers, " would be enough", buffer);
	else if (advice->id == ADVICE_MORE_LOADER_CAPACITY && report->series.workers > 0)
		workers_words(2 * report->series.workers, " doubles them", buffer);
	else if (advice->id == ADVICE_USE_WORKERS && whatif->use_workers > 0)
		workers_words(whatif->use_workers, " loads beside the training", buffer);
	else if (advice->whatif == WHATIF_IN_ORDER_FALSE)
		return "DataLoader(..., in_order=False) hands out whatever is finished.";
	else if (advice->whatif == WHATIF_PREFETCH_X4)
		snprintf(buffer, REMEDY_WORDS,
			 "DataLoader(..., prefetch_factor=%" PRId32 ") keeps %" PRId32
			 " batches a worker ready; the default is 2.",
			 prefetch_factor(report), prefetch_factor(report));
	else if (advice->id == ADVICE_REDUCE_DELIVERY_COST && has_few_tensors(report))
		snprintf(buffer, REMEDY_WORDS,
			 "Each batch takes %s, as few tensors do: make fewer, larger batches, or "
			 "with a GPU pass pin_memory=True, so that a thread receives them.",
			 UNITS_TIME(handover_ns(report)));
	else if (advice->id == ADVICE_INSPECT_LOADS)
		loads_words(report, buffer);
	return *buffer ? buffer : explain_find(advice_name(advice->id))->how;
}
