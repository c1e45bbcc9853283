/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/activity.h"

#include "base/clock.h"
#include "cuda/buffers.h"
#include "cuda/record.h"
#include "cuda/state.h"
#include "record/thread.h"

/* Kinds of CUPTI's records, with the levels of DLPROF_CUDA and the first CUPTI that have them. */
static const struct kind {
	int kind;
	enum config_cuda first, last;
	uint32_t version;
} kinds[] = {
	/* Some versions leak memory if copies or memsets are recorded without kernels. */
	{CUPTI_KIND_MEMCPY, CONFIG_CUDA_MEMCPY, CONFIG_CUDA_FULL, 0},
	{CUPTI_KIND_MEMCPY2, CONFIG_CUDA_MEMCPY, CONFIG_CUDA_FULL, 0},
	{CUPTI_KIND_MEMSET, CONFIG_CUDA_MEMCPY, CONFIG_CUDA_FULL, 0},
	{CUPTI_KIND_SYNCHRONIZATION, CONFIG_CUDA_MEMCPY, CONFIG_CUDA_FULL, 0},
	{CUPTI_KIND_CONCURRENT_KERNEL, CONFIG_CUDA_GRAPHS, CONFIG_CUDA_FULL, 0},
	{CUPTI_KIND_OVERHEAD, CONFIG_CUDA_GRAPHS, CONFIG_CUDA_FULL, 0},
	/* Once this is enabled, no user of CUPTI sees a graph's kernels (cupti_activity.h 13.5). */
	{CUPTI_KIND_GRAPH_TRACE, CONFIG_CUDA_GRAPHS, CONFIG_CUDA_GRAPHS, CUPTI_VERSION_GRAPH_TRACE},
};

static struct {
	enum config_cuda level;
	bool whole_graphs;
	bool with_calls;  /* the host's calls are recorded, too */
	bool with_kernels;
	uint64_t enabled;
} own;

struct activity_others activity_others = {.sync_records = 1};
cupti_complete_function *_Atomic activity_their_complete;
_Atomic uint64_t activity_forced_ns;
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
	       (own.with_kernels ? DLPROF_GPU_WITH_KERNELS : 0) |
	       (own.with_calls ? DLPROF_GPU_WITH_CALLS : 0);
}

void activity_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = buffers_request();
	/* Another user may have come since CUPTI made this call: the buffer is then shared. */
	if (*buffer && state_is_yielded())
		buffers_share(*buffer);
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

void activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		       size_t valid_size)
{
	cupti_complete_function *complete = activity_their_complete;

	if (buffers_is_ours(buffer)) {
		if (activity_share && buffers_is_shared(buffer))
			activity_share(context, stream, buffer, valid_size);
		buffers_complete(buffer, valid_size, activity_forced_ns);
		state_wake();
	} else if (complete) {
		complete(context, stream, buffer, size, valid_size);
	}
}

/* Enables the kinds of our level. Returns CUPTI's first error if none could be enabled, else 0. */
static int enable_kinds(void)
{
	int r = 0;

	own.whole_graphs = false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *kind = &kinds[i];
		int failed;

		if (own.level < kind->first || own.level > kind->last ||
		    cupti.version < kind->version)
			continue;
		failed = cupti.ActivityEnable(kind->kind);
		if (failed && !r && !own.enabled)
			r = failed;
		if (failed)
			continue;
		own.enabled |= UINT64_C(1) << kind->kind;
		own.with_kernels |= kind->kind == CUPTI_KIND_CONCURRENT_KERNEL;
		own.whole_graphs |= kind->kind == CUPTI_KIND_GRAPH_TRACE;
	}
	if (own.enabled)
		return 0;
	return r ? r : CUPTI_UNKNOWN;
}

static const struct call {
	uint16_t domain; /* kind of CUPTI's record for the call */
	uint16_t number;
} calls[] = {
#define CALL(domain, class, name, number) {CUPTI_KIND_##domain, number},
#include "cuda/api.def"
};

static _Atomic bool enabled_by_others[sizeof(calls) / sizeof(calls[0])];

bool api_is_possible(void)
{
	return cupti.version >= CUPTI_VERSION_SINGLE_CALLS && cupti.ActivityEnableRuntimeApi &&
	       cupti.ActivityEnableDriverApi;
}

/*
 * Makes CUPTI record the calls of api.def or, if not `on`, no longer record them. Leaves calls that
 * another user wants, and kinds in `keep`, as they are. Returns how many calls were changed.
 */
static uint32_t enable_calls(bool on, uint64_t keep)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct call *call = &calls[i];

		if (keep & UINT64_C(1) << call->domain || (!on && enabled_by_others[i]))
			continue;
		count += 0 == (call->domain == CUPTI_KIND_RUNTIME
				       ? cupti.ActivityEnableRuntimeApi(call->number, on)
				       : cupti.ActivityEnableDriverApi(call->number, on));
	}
	return count;
}

/* Gives CUPTI our settings or, if `ours` is false, other users'. Kinds in `keep` stay unchanged. */
static void set_up(bool ours, uint64_t keep)
{
	uint32_t count;

	if (own.level >= CONFIG_CUDA_API && api_is_possible()) {
		if (cupti.SetThreadIdType)
			cupti.SetThreadIdType(ours ? CUPTI_THREAD_ID_SYSTEM
						   : activity_others.thread_id_type);
		count = enable_calls(ours, keep);
		/* The flag with_calls is also about earlier records, so it stays true. */
		if (ours)
			own.with_calls = count > 0;
	}
	/* CUPTI 13 also records each query by cudaEventQuery(), which nobody needs. */
	if (cupti.ActivityEnableAllSyncRecords && cupti.version >= CUPTI_VERSION_13_0)
		cupti.ActivityEnableAllSyncRecords(ours ? 0 : activity_others.sync_records);
}

void activity_insist(void)
{
	if (state_is_armed())
		set_up(true, 0);
}

int activity_arm(void)
{
	int r;

	/* Do not tell CUPTI that buffers are zeroed: other users would have to zero theirs, too. */
	r = cupti.ActivityRegisterCallbacks(activity_request, activity_complete);
	if (r != 0)
		return r;
	set_up(true, 0);
	r = enable_kinds();
	if (r != 0)
		set_up(false, 0);
	return r;
}

void activity_disarm(uint64_t keep)
{
	/* In CUPTI 13.0.0, disabling may hang, so kinds stay enabled there. */
	for (int kind = 0; kind < 64 && cupti.version != CUPTI_VERSION_13_0; kind++)
		if (own.enabled & ~keep & UINT64_C(1) << kind)
			cupti.ActivityDisable(kind);
	own.enabled = 0;
	set_up(false, keep);
}

void activity_yield(uint64_t keep)
{
	if (!state_yield(clock_now_ns()))
		return;
	/* This flush is not forced: running operations are recorded when the other user flushes. */
	cupti.ActivityFlushAll(0);
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

void api_note_theirs(uint32_t record_kind, uint32_t number, bool wanted)
{
	for (uint32_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].domain == record_kind && calls[i].number == number)
			enabled_by_others[i] = wanted;
}

enum dlprof_gpu_kind api_kind(uint32_t record_kind, uint32_t number)
{
#define CASE(domain, number) ((uint32_t)CUPTI_KIND_##domain << 16 | (number))
	switch (record_kind << 16 | (number & 0xffff)) {
#define CALL(domain, class, name, number)                                                          \
	case CASE(domain, number):                                                                 \
		return DLPROF_GPU_API_##class;
#include "cuda/api.def"
	default:
		return DLPROF_GPU_NONE;
	}
#undef CASE
}
