/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/reader.h"

#include <string.h>

#include "base/note.h"
#include "base/table.h"
#include "cuda/activity.h"
#include "cuda/buffers.h"
#include "cuda/cupti.h"
#include "cuda/cupti_clock.h"
#include "cuda/kernel.h"
#include "cuda/outbox.h"
#include "cuda/pack.h"
#include "cuda/record.h"
#include "cuda/state.h"
#include "cuda/unfinished.h"
#include "record/tally.h"
#include "record/thread.h"

#define CLOCKS_NS 1000000 /* converted times may be wrong by this much */

static struct pack pack;
struct reader_times reader_times = {.resumed_ns = 1};
static uint64_t resume_ns;

#define LAUNCHES 16384 /* number of newest launches that wait for records of their kernels */

struct launch {
	uint32_t id;
	int32_t device;
	uint64_t begin_ns;  /* 0: the launch's record was not read yet */
	uint64_t length_ns; /* the kernels' time that was not sent to the drain yet */
};

TABLE(struct launch, launches, LAUNCHES)

static struct {
	uint64_t requested_ns;
	uint8_t streams[256 / 8]; /* bit i: stream i has an operation in this buffer */
	uint64_t reached_ns;      /* by then, each stream in `streams` had begun to work */
	bool forced;              /* the flush was forced: unfinished operations have no end */
	uint64_t forced_ns;       /* when another user began the forced flush; 0: it is ours */
	uint32_t launcher;
} own;

static bool convert(uint64_t *begin, uint64_t *end)
{
	const bool good = cupti_clock_convert(begin, end);

	outbox_counts.bad += !good && !(own.forced && !*end);
	return good;
}

/* Notes by how much an operation is older than its buffer's request (fact 2 in coverage.h). */
static void note_lag(uint64_t begin_ns)
{
	if (begin_ns + CLOCKS_NS <= own.requested_ns &&
	    own.requested_ns - begin_ns > reader_times.lag_ns)
		reader_times.lag_ns = own.requested_ns - begin_ns;
}

static void note_newest(uint64_t end_ns)
{
	if (end_ns > reader_times.newest_ns)
		reader_times.newest_ns = end_ns;
}

static void note_stream(uint32_t stream, uint64_t begin_ns)
{
	uint8_t *byte = &own.streams[stream / 8 % sizeof(own.streams)];

	if (!(*byte >> stream % 8 & 1) && begin_ns > own.reached_ns)
		own.reached_ns = begin_ns;
	*byte |= (uint8_t)(1 << stream % 8);
}

/* Notes an operation that a forced flush returned before its end. */
static void note_unfinished(uint32_t device, uint32_t stream, uint64_t begin)
{
	uint64_t begin_ns = begin, again = begin;

	if (!cupti_clock_convert(&begin_ns, &again))
		begin_ns = 0;
	unfinished_note(device, stream, begin_ns, own.requested_ns, own.forced_ns);
}

/*
 * Converts the times of a GPU operation, and notes it for coverage.h. Times of the host's calls,
 * which say nothing about the coverage, are converted by convert().
 */
static bool convert_op(uint32_t device, uint32_t stream, uint64_t *begin, uint64_t *end)
{
	if (own.forced && !*end)
		note_unfinished(device, stream, *begin);
	if (!convert(begin, end))
		return false;
	note_newest(*end);
	note_stream(stream, *begin);
	note_lag(*begin);
	unfinished_pass(device, stream, *begin, *end);
	return true;
}

/* Calls a function of the driver. Sets `text` to its answer, or to "" if it fails. */
static void ask_driver(const char *function, char *text, size_t size, uint32_t device)
{
	int (*get)(char *text, int size, int device) =
		(int (*)(char *, int, int))cupti_driver(function);

	memset(text, 0, size);
	if (get && get(text, (int)size - 1, (int)device) != 0)
		text[0] = '\0';
}

/* Notes a device's name, and its PCI address, which shows whether processes use the same device. */
static void note_device(uint32_t device)
{
	static uint32_t noted;
	char name[128], place[32];

	if (device >= 32 || noted & 1u << device)
		return;
	ask_driver("cuDeviceGetName", name, sizeof(name), device);
	ask_driver("cuDeviceGetPCIBusId", place, sizeof(place), device);
	if (name[0] && !noted)
		state_note("gpu", name);
	noted |= 1u << device;
	if (name[0] || place[0])
		note_format('m', "gpu.%u %s%s%s%s", device, name, name[0] && place[0] ? " " : "",
			    place[0] ? "at " : "", place);
}

/* Sends how long the kernels of a launch ran, once the launch's and a kernel's record were read. */
static void pair(uint32_t id, uint64_t launch_ns, int32_t device, uint64_t length_ns)
{
	struct launch *launch = launches();

	if (!launch)
		return;
	launch += id % LAUNCHES;
	if (launch->id != id)
		*launch = (struct launch){.id = id};
	if (launch_ns)
		launch->begin_ns = launch_ns;
	else
		launch->device = device;
	launch->length_ns += length_ns;
	if (!id || !launch->begin_ns || !launch->length_ns)
		return;
	pack_op(&pack, launch->device, launch->begin_ns, launch->begin_ns + launch->length_ns,
		DLPROF_GPU_WHAT(DLPROF_GPU_LAUNCH, 0, 0));
	launch->length_ns = 0;
}

static void take_kernel(const uint8_t *at)
{
	const char *name = record_KERNEL_name(at);
	uint64_t begin = record_KERNEL_start(at), end = record_KERNEL_end(at);
	uint32_t device = record_KERNEL_deviceId(at);
	struct thread *thread = thread_get();
	struct kernel kernel;

	if (!convert_op(device, record_KERNEL_streamId(at), &begin, &end))
		return;
	if (!name)
		name = "";
	kernel = kernel_find(name);
	if (thread)
		tally_kernel(thread, name, kernel.id, end - begin);
	note_device(device);
	pack_op(&pack, (int32_t)device, begin, end,
		DLPROF_GPU_WHAT(kernel.kind, record_KERNEL_streamId(at), own.launcher));
	if (activity_flags() & DLPROF_GPU_WITH_CALLS && kernel.kind != DLPROF_GPU_LOADER)
		pair(record_KERNEL_correlationId(at), 0, (int32_t)device, end - begin);
}

/* Sends a copy. Counts it as bad if it moves 64 TB or more, which no copy does. */
static void send_copy(uint32_t device, uint64_t begin, uint64_t end, uint32_t what, uint64_t bytes)
{
	if (bytes >> 46)
		outbox_counts.bad++;
	else
		pack_copy(&pack, (int32_t)device, begin, end, what, bytes);
}

static void take_copy(const uint8_t *at)
{
	uint64_t begin = record_MEMCPY_start(at), end = record_MEMCPY_end(at);
	uint8_t copy = record_MEMCPY_copyKind(at);
	enum dlprof_gpu_kind kind = DLPROF_GPU_COPY;
	uint32_t id = 0;

	if (!convert_op(record_MEMCPY_deviceId(at), record_MEMCPY_streamId(at), &begin, &end))
		return;
	if (copy == CUPTI_COPY_HTOD || copy == CUPTI_COPY_HTOA)
		kind = DLPROF_GPU_H2D;
	else if (copy == CUPTI_COPY_DTOH || copy == CUPTI_COPY_ATOH)
		kind = DLPROF_GPU_D2H;
	if (kind == DLPROF_GPU_H2D && record_MEMCPY_srcKind(at) == CUPTI_MEMORY_PAGEABLE)
		id = DLPROF_GPU_PAGEABLE;
	note_device(record_MEMCPY_deviceId(at));
	send_copy(record_MEMCPY_deviceId(at), begin, end,
		  DLPROF_GPU_WHAT(kind, record_MEMCPY_streamId(at), id), record_MEMCPY_bytes(at));
}

#define TAKE_OPERATION(name, record, kind, id)                                                     \
	static void name(const uint8_t *at)                                                        \
	{                                                                                          \
		uint64_t begin = record_##record##_start(at), end = record_##record##_end(at);     \
		uint32_t device = record_##record##_deviceId(at);                                  \
		uint32_t stream = record_##record##_streamId(at);                                  \
                                                                                                   \
		if (convert_op(device, stream, &begin, &end))                                      \
			send_copy(device, begin, end, DLPROF_GPU_WHAT(kind, stream, id),           \
				  record_##record##_bytes(at));                                    \
	}
TAKE_OPERATION(take_copy_between, MEMCPY2, DLPROF_GPU_COPY, DLPROF_GPU_PEER)
TAKE_OPERATION(take_memset, MEMSET, DLPROF_GPU_MEMSET, 0)

static void take_sync(const uint8_t *at)
{
	static const uint8_t of_type[] = {
		[CUPTI_SYNC_EVENT] = DLPROF_GPU_SYNC_EVENT,
		[CUPTI_SYNC_STREAM] = DLPROF_GPU_SYNC_STREAM,
		[CUPTI_SYNC_CONTEXT] = DLPROF_GPU_SYNC_CONTEXT,
	};
	uint64_t begin = record_SYNC_start(at), end = record_SYNC_end(at);
	uint32_t type = record_SYNC_type(at);

	/* If a stream waits for an event, the host does not wait. */
	if (type >= sizeof(of_type) || !of_type[type])
		return;
	if (!convert(&begin, &end))
		return;
	note_newest(end);
	pack_op(&pack, -1, begin, end, DLPROF_GPU_WHAT(of_type[type], record_SYNC_streamId(at), 0));
}

static void take_graph(const uint8_t *at)
{
	uint64_t begin = record_GRAPH_start(at), end = record_GRAPH_end(at);
	uint32_t device = record_GRAPH_deviceId(at);

	/* A graph that begins on the host has no device: it gets the one on which it ends. */
	if (device == INT32_MAX && cupti.version >= CUPTI_VERSION_GRAPH_TRACE)
		device = record_graph_end_device(at);
	note_device(device);
	if (convert_op(device, record_GRAPH_streamId(at), &begin, &end))
		pack_op(&pack, (int32_t)device, begin, end,
			DLPROF_GPU_WHAT(DLPROF_GPU_GRAPH, record_GRAPH_streamId(at),
					record_GRAPH_graphId(at)));
}

static void take_call(const uint8_t *at, enum dlprof_gpu_kind kind)
{
	uint64_t begin = record_API_start(at), end = record_API_end(at);

	if (!convert(&begin, &end))
		return;
	pack_op(&pack, -1, begin, end, DLPROF_GPU_WHAT(kind, 0, record_API_threadId(at)));
	if (kind == DLPROF_GPU_API_LAUNCH)
		pair(record_API_correlationId(at), begin, 0, 0);
}

static void take_record(const uint8_t *at)
{
	enum dlprof_gpu_kind call;

	outbox_counts.records++;
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
			outbox_counts.records--;
		break;
	case CUPTI_KIND_OVERHEAD:
		if (record_OVERHEAD_end(at) >= record_OVERHEAD_start(at))
			outbox_counts.overhead_ns +=
				record_OVERHEAD_end(at) - record_OVERHEAD_start(at);
		break;
	default:
		outbox_counts.records--;
	}
}

/* Returns true if each thread has buffers of its own: since CUDA 13, unless a user changed that. */
static bool has_own_buffers(void)
{
	uint8_t value = 0;
	size_t bytes = sizeof(value);

	return cupti.version >= CUPTI_VERSION_13_0 && cupti.ActivityGetAttribute &&
	       cupti.ActivityGetAttribute(CUPTI_ATTRIBUTE_OWN_BUFFERS, &bytes, &value) == 0 &&
	       value;
}

/* Returns the end of the last field that we read in records of this `kind`. */
static size_t bytes_read(uint32_t kind)
{
	switch (kind) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL:
		return 112;
	case CUPTI_KIND_MEMCPY:
	case CUPTI_KIND_MEMCPY2:
	case CUPTI_KIND_MEMSET:
		return 44;
	case CUPTI_KIND_GRAPH_TRACE:
		return cupti.version >= CUPTI_VERSION_GRAPH_TRACE ? 52 : 40;
	default:
		return 40;
	}
}

static bool is_whole(const uint8_t *at, size_t left)
{
	return left >= 40 && left >= bytes_read(record_kind(at));
}

void reader_read(bool forced)
{
	uint8_t *buffer;
	size_t size;
	int r;

	pack.push = outbox_push;
	while ((buffer = buffers_take(&size))) {
		const uint8_t *at = NULL;

		own.requested_ns = buffers_requested_ns(buffer);
		own.reached_ns = 0;
		memset(own.streams, 0, sizeof(own.streams));
		own.forced_ns = buffers_forced_ns(buffer);
		own.forced = forced || own.forced_ns;
		own.launcher = has_own_buffers() ? buffers_thread(buffer) : 0;
		cupti_clock_check();
		while ((r = cupti.ActivityGetNextRecord(buffer, size, &at)) == 0 &&
		       is_whole(at, size - (size_t)(at - buffer)))
			take_record(at);
		unfinished_settle();
		/* Behind a cut-off record, or one of an unknown kind, CUPTI finds no other. */
		if (r != CUPTI_MAX_LIMIT_REACHED)
			buffers_lose(at ? size - (size_t)(at - buffer) : size);
		buffers_free(buffer, own.reached_ns);
		if (!reader_times.resumed_ns && own.requested_ns >= resume_ns)
			reader_times.resumed_ns = own.reached_ns;
	}
	pack_flush(&pack);
}

void reader_resume(uint64_t now_ns)
{
	resume_ns = now_ns;
	reader_times.resumed_ns = 0;
}
