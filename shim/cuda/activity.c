/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/activity.h"

#include "base/clock.h"
#include "cuda/api.h"
#include "cuda/buffers.h"
#include "cuda/record.h"
#include "cuda/state.h"
#include "dlprof/event.h"
#include "record/thread.h"

/* Kinds, and the level and version from which on they are wanted. */
static const struct kind {
	int kind;
	enum config_cuda first, last;
	uint32_t version;
} kinds[] = {
	/* Where kernels are, copies and memsets must be: alone they leak in some versions. */
	{CUPTI_KIND_MEMCPY, CONFIG_CUDA_MEMCPY, CONFIG_CUDA_FULL, 0},
	{CUPTI_KIND_MEMCPY2, CONFIG_CUDA_MEMCPY, CONFIG_CUDA_FULL, 0},
	{CUPTI_KIND_MEMSET, CONFIG_CUDA_MEMCPY, CONFIG_CUDA_FULL, 0},
	{CUPTI_KIND_SYNCHRONIZATION, CONFIG_CUDA_MEMCPY, CONFIG_CUDA_FULL, 0},
	{CUPTI_KIND_CONCURRENT_KERNEL, CONFIG_CUDA_DEFAULT, CONFIG_CUDA_FULL, 0},
	{CUPTI_KIND_OVERHEAD, CONFIG_CUDA_DEFAULT, CONFIG_CUDA_FULL, 0},
	{CUPTI_KIND_GRAPH_TRACE, CONFIG_CUDA_MEMCPY, CONFIG_CUDA_API, CUPTI_VERSION_GRAPH_TRACE},
};

static struct {
	enum config_cuda level;
	bool whole_graphs;
	bool with_calls; /* of the host */
	bool armed_before;
	uint64_t enabled; /* bits of kinds */
} own;

cupti_complete_function *_Atomic activity_their_complete;
void (*_Atomic activity_share)(void *context, uint32_t stream, const uint8_t *buffer,
			       size_t valid_size);

int activity_init(enum config_cuda level)
{
	own.level = level;
	return buffers_init(cupti.version < CUPTI_VERSION_NULL_BUFFER);
}

uint32_t activity_flags(void)
{
	return (own.whole_graphs ? DLPROF_GPU_WHOLE_GRAPHS : 0) |
	       (own.level > CONFIG_CUDA_MEMCPY ? DLPROF_GPU_WITH_KERNELS : 0) |
	       (own.with_calls ? DLPROF_GPU_WITH_CALLS : 0);
}

void activity_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = buffers_request();
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

void activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		       size_t valid_size)
{
	cupti_complete_function *theirs = activity_their_complete;

	if (buffers_is_ours(buffer)) {
		if (activity_share && state_is_yielded())
			activity_share(context, stream, buffer, valid_size);
		buffers_complete(buffer, valid_size);
		state_wake();
	} else if (theirs) {
		theirs(context, stream, buffer, size, valid_size);
	}
}

/* 0, or CUPTI's error of the first that it refuses, when nothing before it was enabled. */
static int enable_kinds(bool again)
{
	int r = 0;

	own.whole_graphs = false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *kind = &kinds[i];
		int failed;

		if (own.level < kind->first || own.level > kind->last ||
		    cupti.version < kind->version)
			continue;
		/* Graphs from before would not be traced as wholes: their nodes are, then. */
		if (again && kind->kind == CUPTI_KIND_GRAPH_TRACE)
			continue;
		failed = cupti.ActivityEnable(kind->kind);
		if (failed && !r && !own.enabled)
			r = failed;
		if (failed)
			continue;
		own.enabled |= UINT64_C(1) << kind->kind;
		own.whole_graphs |= kind->kind == CUPTI_KIND_GRAPH_TRACE;
	}
	if (own.enabled)
		return 0;
	return r ? r : CUPTI_UNKNOWN;
}

int activity_arm(void)
{
	int r;

	/*
	 * That buffers come zeroed is not promised, though ours could be: the promise would be
	 * everybody's, and who takes CUPTI over by dlsym() may keep none.
	 */
	if (cupti.SetThreadIdType)
		cupti.SetThreadIdType(CUPTI_THREAD_ID_SYSTEM);
	r = cupti.ActivityRegisterCallbacks(activity_request, activity_complete);
	if (r == 0)
		r = enable_kinds(own.armed_before);
	if (r != 0)
		return r;
	own.armed_before = true;
	if (own.level >= CONFIG_CUDA_API && api_is_possible())
		own.with_calls = api_enable(true, 0) > 0;
	/* Of polling with cudaEventQuery() there is nothing to know. */
	if (cupti.ActivityEnableAllSyncRecords)
		cupti.ActivityEnableAllSyncRecords(0);
	if (cupti.ActivityFlushPeriod)
		cupti.ActivityFlushPeriod(ACTIVITY_PERIOD_MS);
	return 0;
}

void activity_disarm(uint64_t keep)
{
	for (int kind = 0; kind < 64; kind++)
		if (own.enabled & ~keep & UINT64_C(1) << kind)
			cupti.ActivityDisable(kind);
	own.enabled = 0;
	if (own.with_calls)
		api_enable(false, keep);
}

void activity_yield(uint64_t keep)
{
	if (!state_yield(clock_now_ns()))
		return;
	/* Without force: what is under way comes when theirs does. */
	cupti.ActivityFlushAll(0);
	if (cupti.version != CUPTI_VERSION_13_0)
		activity_disarm(keep);
	state_wake();
}

void activity_mute(bool muted)
{
	struct thread *thread = thread_get();

	if (!thread)
		return;
	if (muted)
		thread->quick_life = 0;
	thread->busy = muted;
}

void activity_flush(bool forced)
{
	activity_mute(true);
	cupti.ActivityFlushAll(forced ? CUPTI_FLUSH_FORCED : 0);
	activity_mute(false);
}
