/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/activity.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cuda/api.h"
#include "cuda/attach.h"
#include "cuda/buffers.h"
#include "cuda/clock_map.h"
#include "cuda/pack.h"
#include "cuda/record.h"
#include "record/segment.h"
#include "record/tally.h"
#include "record/thread.h"
#include "slots/dl.h"

#define BRACKETS   30      /* looks at the clocks, of which the quickest counts */
#define ROOM_NS    2000000 /* until the drain is asked again whether there is room */
#define ROOM_TRIES 500

/* Kinds, and the level and version from which on they are wanted. */
static const struct kind {
	int kind;
	enum activity_level first, last;
	uint32_t version;
} kinds[] = {
	/* Where kernels are, copies and memsets must be: alone they leak in some versions. */
	{CUPTI_KIND_MEMCPY, ACTIVITY_MEMCPY, ACTIVITY_FULL, 0},
	{CUPTI_KIND_MEMCPY2, ACTIVITY_MEMCPY, ACTIVITY_FULL, 0},
	{CUPTI_KIND_MEMSET, ACTIVITY_MEMCPY, ACTIVITY_FULL, 0},
	{CUPTI_KIND_SYNCHRONIZATION, ACTIVITY_MEMCPY, ACTIVITY_FULL, 0},
	{CUPTI_KIND_CONCURRENT_KERNEL, ACTIVITY_DEFAULT, ACTIVITY_FULL, 0},
	{CUPTI_KIND_OVERHEAD, ACTIVITY_DEFAULT, ACTIVITY_FULL, 0},
	{CUPTI_KIND_GRAPH_TRACE, ACTIVITY_MEMCPY, ACTIVITY_DEFAULT, CUPTI_VERSION_GRAPH_TRACE},
};

static struct {
	enum activity_level level;
	bool graph_level;
	bool calls; /* wanted */
	bool with_calls;
	bool armed_before;
	uint64_t enabled; /* bits of kinds */
	struct clock_map clock;
	bool rate_noted;
	struct pack pack;
	bool no_room; /* the drain was too far behind the last time, too */
	uint64_t told_complete_ns;
	uint64_t newest_ns;
	uint64_t record_count, bad_count, dropped_count, own_drop_count, overhead_ns;
	uint32_t named_devices; /* bits: in the meta table */
} own;

cupti_complete_function *_Atomic activity_their_complete;
void (*_Atomic activity_share)(void *context, uint32_t stream, const uint8_t *buffer,
				size_t valid_size);

/* Waits for the drain, which this thread may: up to a second, and not again until it moved. */
static void push(void *context, const struct dlprof_event *event)
{
	struct thread *thread = thread_get();

	(void)context;
	if (!thread) {
		own.own_drop_count++;
		return;
	}
	for (int i = 0; !thread_has_room(thread); i++) {
		if (own.no_room || i == ROOM_TRIES) {
			own.no_room = true;
			own.own_drop_count += event->kind == DLPROF_EVENT_GPU_COPIES
						      ? event->gpu_copies.count
						      : event->gpu_ops.count;
			return;
		}
		sys_nap(ROOM_NS);
	}
	own.no_room = false;
	thread_push(thread, event);
}

int activity_init(enum activity_level level, bool calls)
{
	int r = buffers_init(cupti.version < CUPTI_VERSION_NULL_BUFFER);

	own.level = level;
	own.calls = calls;
	pack_init(&own.pack, push, NULL);
	return r;
}

bool activity_has_calls(void)
{
	return own.with_calls;
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
		if (activity_share && attach_is_yielded())
			activity_share(context, stream, buffer, valid_size);
		buffers_complete(buffer, valid_size);
		attach_wake();
	} else if (theirs) {
		theirs(context, stream, buffer, size, valid_size);
	}
}

int activity_arm(void)
{
	const bool again = own.armed_before;
	int r;

	/*
	 * That buffers come zeroed is not promised, though ours could be: the promise would be
	 * everybody's, and who takes CUPTI over by dlsym() may keep none.
	 */
	if (cupti.SetThreadIdType)
		cupti.SetThreadIdType(CUPTI_THREAD_ID_SYSTEM);
	r = cupti.ActivityRegisterCallbacks(activity_request, activity_complete);
	if (r != 0)
		return r;
	own.graph_level = false;
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
		own.graph_level |= kind->kind == CUPTI_KIND_GRAPH_TRACE;
	}
	if (!own.enabled)
		return r ? r : CUPTI_UNKNOWN;
	own.armed_before = true;
	if (own.calls)
		own.with_calls = api_enable(true, 0) > 0;
	/* Of polling with cudaEventQuery() there is nothing to know. */
	if (cupti.ActivityEnableAllSyncRecords)
		cupti.ActivityEnableAllSyncRecords(0);
	if (cupti.ActivityFlushPeriod)
		cupti.ActivityFlushPeriod(ATTACH_PERIOD_MS);
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

/* The quickest of so many looks at both clocks. */
static bool read_clocks(int tries, uint64_t *ret_mono_ns, uint64_t *ret_cupti_ns)
{
	uint64_t best_ns = UINT64_MAX;

	for (int i = 0; i < tries; i++) {
		uint64_t begin_ns = clock_now_ns(), middle_ns = 0, end_ns;

		if (cupti.GetTimestamp(&middle_ns) != 0)
			return false;
		end_ns = clock_now_ns();
		if (end_ns - begin_ns >= best_ns)
			continue;
		best_ns = end_ns - begin_ns;
		*ret_mono_ns = begin_ns + best_ns / 2;
		*ret_cupti_ns = middle_ns;
	}
	return true;
}

static bool look_once(void)
{
	uint64_t mono_ns = 0, cupti_ns = 0;

	return read_clocks(BRACKETS, &mono_ns, &cupti_ns) &&
	       clock_map_add(&own.clock, mono_ns, cupti_ns);
}

void activity_look(bool anew)
{
	double rate;

	if (anew)
		clock_map_break(&own.clock);
	if (!look_once())
		return;
	/* The first of a stretch: another one, to know how fast the clock is now. */
	sys_nap(20000000);
	look_once();
	rate = clock_map_rate(&own.clock);
	if ((rate > 1.001 || rate < 0.999) && !own.rate_noted) {
		own.rate_noted = true;
		segment_note('i',
			     "another user of CUPTI changed its clock: the times of the GPU are as "
			     "good as that one");
	}
}

/* In CUPTI's clock to ours; false: it cannot be, and is counted. */
static bool convert(uint64_t *begin, uint64_t *end)
{
	uint64_t begin_ns, end_ns;

	if (!*begin || !*end || *end < *begin ||
	    !clock_map_convert(&own.clock, *begin, &begin_ns) ||
	    !clock_map_convert(&own.clock, *end, &end_ns) || end_ns < begin_ns) {
		own.bad_count++;
		return false;
	}
	*begin = begin_ns;
	*end = end_ns;
	if (end_ns > own.newest_ns)
		own.newest_ns = end_ns;
	return true;
}

/* What the driver says of a device, or "". */
static void ask_driver(const char *function, char *text, size_t size, uint32_t device)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	int (*get)(char *text, int size, int device) =
		driver ? (int (*)(char *, int, int))dl_real(driver, function) : NULL;

	memset(text, 0, size);
	if (get && get(text, (int)size - 1, (int)device) != 0)
		text[0] = '\0';
}

/*
 * Its name, and where it is, which is what tells the devices of several processes apart, once it
 * was seen to work: cuInit() is over by then. Of the first one also as the run's.
 */
static void name_device(uint32_t device)
{
	char name[128], place[32];
	TEXT(note, 200);
	TEXT(numbered, 240);

	if (device >= 32 || own.named_devices & 1u << device)
		return;
	ask_driver("cuDeviceGetName", name, sizeof(name), device);
	ask_driver("cuDeviceGetPCIBusId", place, sizeof(place), device);
	text_add(&note, "gpu ");
	text_add(&note, name);
	if (name[0] && !own.named_devices)
		segment_note('m', note.buffer);
	own.named_devices |= 1u << device;
	text_add(&numbered, "gpu.");
	text_add_number(&numbered, device);
	text_add(&numbered, " ");
	text_add(&numbered, name);
	if (place[0]) {
		text_add(&numbered, name[0] ? " at " : "at ");
		text_add(&numbered, place);
	}
	if (name[0] || place[0])
		segment_note('m', numbered.buffer);
}

static void take_kernel(const uint8_t *at)
{
	const char *name = record_KERNEL_name(at);
	uint64_t begin = record_KERNEL_start(at), end = record_KERNEL_end(at);
	uint32_t device = record_KERNEL_deviceId(at);
	struct thread *thread = thread_get();
	enum dlprof_gpu_kind kind = DLPROF_GPU_KERNEL;

	if (!convert(&begin, &end))
		return;
	if (!name)
		name = "";
	if (strncmp(name, "nccl", 4) == 0)
		kind = DLPROF_GPU_NCCL;
	if (thread)
		tally_kernel(thread, name, end - begin);
	name_device(device);
	pack_op(&own.pack, (int32_t)device, begin, end,
		DLPROF_GPU_WHAT(kind, record_KERNEL_streamId(at), 0));
}

static void take_copy(const uint8_t *at)
{
	uint64_t begin = record_MEMCPY_start(at), end = record_MEMCPY_end(at);
	uint8_t copy = record_MEMCPY_copyKind(at);
	enum dlprof_gpu_kind kind = DLPROF_GPU_COPY;
	uint32_t id = 0;

	if (!convert(&begin, &end))
		return;
	if (copy == CUPTI_COPY_HTOD || copy == CUPTI_COPY_HTOA)
		kind = DLPROF_GPU_H2D;
	else if (copy == CUPTI_COPY_DTOH || copy == CUPTI_COPY_ATOH)
		kind = DLPROF_GPU_D2H;
	if (kind == DLPROF_GPU_H2D && record_MEMCPY_srcKind(at) == CUPTI_MEMORY_PAGEABLE)
		id = DLPROF_GPU_PAGEABLE;
	name_device(record_MEMCPY_deviceId(at));
	pack_copy(&own.pack, (int32_t)record_MEMCPY_deviceId(at), begin, end,
		  DLPROF_GPU_WHAT(kind, record_MEMCPY_streamId(at), id), record_MEMCPY_bytes(at));
}

static void take_copy_between(const uint8_t *at)
{
	uint64_t begin = record_MEMCPY2_start(at), end = record_MEMCPY2_end(at);

	if (convert(&begin, &end))
		pack_copy(&own.pack, (int32_t)record_MEMCPY2_deviceId(at), begin, end,
			  DLPROF_GPU_WHAT(DLPROF_GPU_COPY, record_MEMCPY2_streamId(at),
					  DLPROF_GPU_PEER),
			  record_MEMCPY2_bytes(at));
}

static void take_memset(const uint8_t *at)
{
	uint64_t begin = record_MEMSET_start(at), end = record_MEMSET_end(at);

	if (convert(&begin, &end))
		pack_copy(&own.pack, (int32_t)record_MEMSET_deviceId(at), begin, end,
			  DLPROF_GPU_WHAT(DLPROF_GPU_MEMSET, record_MEMSET_streamId(at), 0),
			  record_MEMSET_bytes(at));
}

static void take_sync(const uint8_t *at)
{
	static const uint8_t of_type[] = {
		[CUPTI_SYNC_EVENT] = DLPROF_GPU_SYNC_EVENT,
		[CUPTI_SYNC_STREAM] = DLPROF_GPU_SYNC_STREAM,
		[CUPTI_SYNC_CONTEXT] = DLPROF_GPU_SYNC_CONTEXT,
	};
	uint64_t begin = record_SYNC_start(at), end = record_SYNC_end(at);
	uint32_t type = record_SYNC_type(at);

	/* A stream that waits for an event does not block the host. */
	if (type >= sizeof(of_type) || !of_type[type])
		return;
	if (convert(&begin, &end))
		pack_op(&own.pack, -1, begin, end,
			DLPROF_GPU_WHAT(of_type[type], record_SYNC_streamId(at), 0));
}

static void take_graph(const uint8_t *at)
{
	uint64_t begin = record_GRAPH_start(at), end = record_GRAPH_end(at);

	name_device(record_GRAPH_deviceId(at));
	if (convert(&begin, &end))
		pack_op(&own.pack, (int32_t)record_GRAPH_deviceId(at), begin, end,
			DLPROF_GPU_WHAT(DLPROF_GPU_GRAPH, record_GRAPH_streamId(at),
					record_GRAPH_graphId(at)));
}

/* Who is in a call has no part in whether the GPU's records come: it is not the newest. */
static void take_call(const uint8_t *at, enum dlprof_gpu_kind kind)
{
	uint64_t begin = record_API_start(at), end = record_API_end(at);
	const uint64_t newest_ns = own.newest_ns;

	if (convert(&begin, &end))
		pack_op(&own.pack, -1, begin, end,
			DLPROF_GPU_WHAT(kind, 0, record_API_threadId(at)));
	own.newest_ns = newest_ns;
}

static void take_record(const uint8_t *at)
{
	enum dlprof_gpu_kind call;

	own.record_count++;
	switch (record_kind(at)) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL:
		take_kernel(at);
		break;
	case CUPTI_KIND_MEMCPY:
		take_copy(at);
		break;
	case CUPTI_KIND_MEMCPY2:
		take_copy_between(at);
		break;
	case CUPTI_KIND_MEMSET:
		take_memset(at);
		break;
	case CUPTI_KIND_SYNCHRONIZATION:
		take_sync(at);
		break;
	case CUPTI_KIND_GRAPH_TRACE:
		take_graph(at);
		break;
	case CUPTI_KIND_DRIVER:
	case CUPTI_KIND_RUNTIME:
		call = api_kind(record_kind(at), record_API_cbid(at));
		if (call)
			take_call(at, call);
		else
			own.record_count--;
		break;
	case CUPTI_KIND_OVERHEAD:
		if (record_OVERHEAD_end(at) >= record_OVERHEAD_start(at))
			own.overhead_ns += record_OVERHEAD_end(at) - record_OVERHEAD_start(at);
		break;
	default:
		own.record_count--;
	}
}

void activity_read(void)
{
	uint64_t mono_ns = 0, cupti_ns = 0;
	uint8_t *buffer;
	size_t size;

	while ((buffer = buffers_take(&size))) {
		const uint8_t *at = NULL;

		if (read_clocks(3, &mono_ns, &cupti_ns) &&
		    !clock_map_fits(&own.clock, mono_ns, cupti_ns))
			activity_look(false);

		while (cupti.ActivityGetNextRecord(buffer, size, &at) == 0)
			take_record(at);
		buffers_free(buffer);
	}
	pack_flush(&own.pack);
}

void activity_flush(bool forced)
{
	cupti.ActivityFlushAll(forced ? CUPTI_FLUSH_FORCED : 0);
}

/* Asking sets it back: it is the other user's to ask while there is one. */
static void count_dropped(void)
{
	size_t dropped = 0;

	if (!attach_is_yielded() && cupti.ActivityGetNumDroppedRecords(NULL, 0, &dropped) == 0)
		own.dropped_count += dropped;
}

void activity_tell(enum dlprof_gpu_state_kind state, uint64_t when_ns, const char *why)
{
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_GPU_STATE,
		.worker = -1,
		.begin_ns = when_ns,
		.gpu_state =
			{
				.state = state,
				.flags = (own.graph_level ? DLPROF_GPU_WHOLE_GRAPHS : 0) |
					 (own.level > ACTIVITY_MEMCPY ? DLPROF_GPU_WITH_KERNELS
								      : 0) |
					 (own.with_calls ? DLPROF_GPU_WITH_CALLS : 0),
				.record_count = own.record_count,
				.bad_count = own.bad_count,
				.dropped_count = own.dropped_count,
				.own_drop_count = own.own_drop_count + buffers_dropped(),
				.overhead_ns = own.overhead_ns,
			},
	};
	struct text text;

	text_init(&text, event.gpu_state.why, sizeof(event.gpu_state.why));
	text_add(&text, why ? why : "");
	push(NULL, &event);
}

uint64_t activity_newest_ns(void)
{
	return own.newest_ns;
}

void activity_tell_complete(bool forced)
{
	uint64_t now_ns = clock_now_ns(),
		 complete_ns = forced ? now_ns : buffers_complete_ns(now_ns);

	if (complete_ns <= own.told_complete_ns)
		return;
	own.told_complete_ns = complete_ns;
	count_dropped();
	activity_tell(DLPROF_GPU_COMPLETE, complete_ns, NULL);
}
