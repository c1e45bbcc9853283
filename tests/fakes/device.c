/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - simulates the GPUs without threads: the times of an operation are computed when it is
 * submitted. It begins at now + latency, or at the end of what it must follow if that is later; a
 * synchronization sleeps until the end. FAKE_TRUTH: file that gets a line for each operation.
 */
#include "device.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

enum { MAX_DEVICES = 8, MAX_STREAMS = 256, MAX_NODES = 512 };
enum { LEGACY_ID = 7, FIRST_ID = 13 };

struct stream {
	uint32_t id;
	uint32_t device;
	bool blocking; /* this stream and the legacy default stream wait for each other */
	uint64_t tail_ns;
	struct graph *capture;
};

struct event {
	uint64_t ns;
	bool recorded;
	struct stream *stream;
};

struct graph {
	uint32_t id;
	uint64_t instantiated_ns;
	size_t count;
	struct op nodes[MAX_NODES]; /* end_ns of a node is its duration */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stream streams[MAX_STREAMS];
static size_t stream_count;
static struct stream *defaults[MAX_DEVICES][2]; /* default streams: [0] legacy, [1] per thread */
static uint64_t engine_ns[MAX_DEVICES][2];      /* when the engine for copies to, from is free */
static uint32_t correlation_count;
static uint32_t graph_count;
static struct tracer tracer;
static int truth_fd = -1;

static __thread uint32_t correlation;
static __thread int api_depth;
static __thread int current_device;

static const char *const op_names[] = {
	[OP_KERNEL] = "kernel", [OP_MEMCPY] = "memcpy", [OP_PEER] = "peer",
	[OP_MEMSET] = "memset", [OP_SYNC] = "sync",     [OP_GRAPH] = "graph",
};

void tracer_set(const struct tracer *which)
{
	tracer = *which;
}

/* FAKE_TRUTH_LAZY=1: lines are written in blocks, which is fast enough for 10,000s a second. */
static char lines[1 << 16];
static size_t lines_length;
static pthread_mutex_t lines_lock = PTHREAD_MUTEX_INITIALIZER;

static void write_truth(const char *text, size_t length)
{
	if (length && write(truth_fd, text, length) != (ssize_t)length)
		fprintf(stderr, "fakes: cannot write the truth\n");
}

__attribute__((destructor)) static void write_lines(void)
{
	write_truth(lines, lines_length);
	lines_length = 0;
}

static void put_line(const char *line, size_t length)
{
	pthread_mutex_lock(&lines_lock);
	if (lines_length + length > sizeof(lines))
		write_lines();
	memcpy(lines + lines_length, line, length);
	lines_length += length;
	pthread_mutex_unlock(&lines_lock);
}

static void tell_truth(const struct op *op)
{
	const char *path = knob_text("TRUTH");
	char line[2048];
	int length;

	if (!path)
		return;
	if (truth_fd < 0)
		truth_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	length = snprintf(line, sizeof(line), "%s %u %u %llu %llu %llu %u %u %u %u %s\n",
			  op_names[op->kind], op->device, op->stream,
			  (unsigned long long)op->begin_ns, (unsigned long long)op->end_ns,
			  (unsigned long long)op->bytes, op->copy_kind, op->source, op->sync_type,
			  op->graph, op->name ? op->name : "-");
	if (knob("TRUTH_LAZY", 0))
		put_line(line, (size_t)length);
	else
		write_truth(line, (size_t)length);
}

/* CUDA_VISIBLE_DEVICES must be a list of numbers here; CUDA also accepts UUIDs. */
int device_physical(int device)
{
	const char *at = getenv("CUDA_VISIBLE_DEVICES");

	for (; at && device > 0; device--) {
		at = strchr(at, ',');
		at += at != NULL;
	}
	return at ? atoi(at) : device;
}

/* Writes, if FAKE_TRUTH_CALLS=1, "call THREAD DEPTH BEGIN END NUMBER DOMAIN 0 0 0 NAME". */
static void tell_call(enum api_domain domain, uint32_t id, const char *name, uint64_t begin_ns,
		      uint64_t end_ns)
{
	const char *path = knob_text("TRUTH");
	char line[256];
	int length;

	if (!path || truth_fd < 0)
		return; /* the file is opened at the first operation */
	length = snprintf(line, sizeof(line), "call %u %d %llu %llu %u %u 0 0 0 %s\n", thread_id(),
			  api_depth - 1, (unsigned long long)begin_ns, (unsigned long long)end_ns,
			  id, domain, name);
	write_truth(line, (size_t)length);
}

int device_count(void)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	int count = visible && *visible ? 1 : 0;

	for (; visible && *visible; visible++)
		count += *visible == ',';
	return visible ? count : (int)knob("DEVICES", 1);
}

int device_current(void)
{
	return current_device;
}

void device_select(int device)
{
	current_device = device;
}

static struct stream *add_stream(uint32_t id, bool blocking)
{
	struct stream *stream = &streams[stream_count++ % MAX_STREAMS];

	*stream =
		(struct stream){.id = id, .device = (uint32_t)current_device, .blocking = blocking};
	return stream;
}

struct stream *stream_new(bool blocking)
{
	struct stream *stream;

	pthread_mutex_lock(&lock);
	stream = add_stream(FIRST_ID + (uint32_t)stream_count, blocking);
	pthread_mutex_unlock(&lock);
	return stream;
}

struct stream *stream_of(void *handle)
{
	const uintptr_t number = (uintptr_t)handle;
	struct stream **slot;

	if (number > 2)
		return handle;
	slot = &defaults[current_device][number == 2];
	pthread_mutex_lock(&lock);
	if (!*slot)
		*slot = add_stream(number == 2 ? LEGACY_ID + 1 : LEGACY_ID, true);
	pthread_mutex_unlock(&lock);
	return *slot;
}

/* Returns the time at which the next operation of a stream can begin at the earliest. */
static uint64_t after_ns(const struct stream *stream)
{
	const struct stream *legacy = defaults[stream->device][0];
	uint64_t after = stream->tail_ns;

	if (stream == legacy) {
		for (size_t i = 0; i < stream_count && i < MAX_STREAMS; i++)
			if (streams[i].blocking && streams[i].device == stream->device &&
			    streams[i].tail_ns > after)
				after = streams[i].tail_ns;
	} else if (stream->blocking && legacy && legacy->tail_ns > after) {
		after = legacy->tail_ns;
	}
	return after;
}

static void place(struct stream *stream, struct op *op, uint64_t ns, uint64_t earliest_ns)
{
	uint64_t after = after_ns(stream);

	op->device = stream->device;
	op->stream = stream->id;
	op->correlation = correlation;
	if (op->copy_kind == COPY_HTOD || op->copy_kind == COPY_DTOH) {
		uint64_t *engine = &engine_ns[stream->device][op->copy_kind == COPY_DTOH];

		after = after > *engine ? after : *engine;
		*engine = (after > earliest_ns ? after : earliest_ns) + ns;
	}
	op->begin_ns = after > earliest_ns ? after : earliest_ns;
	op->end_ns = op->begin_ns + ns;
	stream->tail_ns = op->end_ns;
}

static void submit(struct stream *stream, struct op *op, uint64_t ns)
{
	const uint64_t latency = (uint64_t)knob("LAUNCH_LATENCY_NS", 5000);
	struct graph *capture;

	pthread_mutex_lock(&lock);
	capture = stream->capture;
	if (capture && capture->count < MAX_NODES) {
		op->end_ns = ns;
		capture->nodes[capture->count++] = *op;
	} else {
		place(stream, op, ns, now_ns() + latency);
	}
	pthread_mutex_unlock(&lock);
	if (capture)
		return;
	tell_truth(op);
	if (tracer.op)
		tracer.op(op);
}

void submit_kernel(struct stream *stream, const char *name, uint64_t ns)
{
	struct op op = {.kind = OP_KERNEL, .name = name};

	submit(stream, &op, ns);
}

void submit_memset(struct stream *stream, uint64_t bytes)
{
	struct op op = {.kind = OP_MEMSET, .bytes = bytes, .target = MEMORY_DEVICE};

	submit(stream, &op, bytes / 1000 + 1000); /* at 1 TB/s */
}

static enum memory_kind memory_kind(const void *address)
{
	return memory_is_device(address)   ? MEMORY_DEVICE
	       : memory_is_pinned(address) ? MEMORY_PINNED
					   : MEMORY_PAGEABLE;
}

void submit_copy(struct stream *stream, enum copy_kind kind, const void *target, const void *source,
		 uint64_t bytes, bool blocking)
{
	struct op op = {
		.kind = kind == COPY_PTOP ? OP_PEER : OP_MEMCPY,
		.copy_kind = kind,
		.bytes = bytes,
		.source = memory_kind(source),
		.target = memory_kind(target),
	};
	const uint64_t rate = (uint64_t)knob("PCIE_MB_S", 20000);

	submit(stream, &op, kind == COPY_DTOD ? bytes / 1000 : bytes * 1000 / rate);
	if (blocking || (kind == COPY_DTOH && op.target == MEMORY_PAGEABLE))
		sleep_until(op.end_ns);
}

void submit_graph(struct stream *stream, struct graph *graph)
{
	const uint64_t gap = (uint64_t)knob("NODE_GAP_NS", 1000);
	struct op *nodes = malloc(graph->count * sizeof(*nodes));
	struct op whole = {.kind = OP_GRAPH, .graph = graph->id};
	uint64_t earliest = now_ns() + (uint64_t)knob("LAUNCH_LATENCY_NS", 5000);

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < graph->count; i++) {
		nodes[i] = graph->nodes[i];
		nodes[i].graph = graph->id;
		nodes[i].node = (uint64_t)graph->id << 32 | i;
		place(stream, &nodes[i], graph->nodes[i].end_ns, earliest);
		earliest = nodes[i].end_ns + gap;
	}
	whole.device = stream->device;
	whole.stream = stream->id;
	whole.correlation = correlation;
	whole.begin_ns = graph->count ? nodes[0].begin_ns : earliest;
	whole.end_ns = graph->count ? nodes[graph->count - 1].end_ns : earliest;
	pthread_mutex_unlock(&lock);
	tell_truth(&whole);
	for (size_t i = 0; i < graph->count; i++)
		tell_truth(&nodes[i]);
	if (tracer.graph)
		tracer.graph(&whole, nodes, graph->count, graph->instantiated_ns);
	free(nodes);
}

void capture_begin(struct stream *stream)
{
	struct graph *graph = calloc(1, sizeof(*graph));

	pthread_mutex_lock(&lock);
	graph->id = ++graph_count;
	stream->capture = graph;
	pthread_mutex_unlock(&lock);
}

struct graph *capture_end(struct stream *stream)
{
	struct graph *graph;

	pthread_mutex_lock(&lock);
	graph = stream->capture;
	stream->capture = NULL;
	pthread_mutex_unlock(&lock);
	return graph;
}

void graph_instantiate(struct graph *graph)
{
	graph->instantiated_ns = now_ns();
}

static void tell_sync(enum sync_type type, const struct stream *stream, uint64_t begin_ns)
{
	struct op op = {
		.kind = OP_SYNC,
		.sync_type = type,
		.device = stream ? stream->device : (uint32_t)current_device,
		.stream = stream ? stream->id : UINT32_MAX,
		.correlation = correlation,
		.begin_ns = begin_ns,
		.end_ns = now_ns(),
	};

	tell_truth(&op);
	if (tracer.op)
		tracer.op(&op);
}

/* Records a query, also one that found work unfinished: cupti.c decides which are delivered. */
static bool poll(enum sync_type type, const struct stream *stream, uint64_t end_ns)
{
	const uint64_t now = now_ns();
	struct op op = {
		.kind = OP_SYNC,
		.sync_type = type,
		.device = (uint32_t)current_device,
		.stream = stream ? stream->id : UINT32_MAX,
		.correlation = correlation,
		.begin_ns = now,
		.end_ns = now,
		.polled = end_ns > now,
	};

	if (tracer.op)
		tracer.op(&op);
	return !op.polled;
}

bool stream_query(struct stream *stream)
{
	return poll(SYNC_STREAM, stream, after_ns(stream));
}

void stream_synchronize(struct stream *stream)
{
	const uint64_t begin = now_ns();

	sleep_until(after_ns(stream));
	tell_sync(SYNC_STREAM, stream, begin);
}

void device_synchronize(void)
{
	const uint64_t begin = now_ns();
	uint64_t end = 0;

	for (size_t i = 0; i < stream_count && i < MAX_STREAMS; i++)
		if (streams[i].device == (uint32_t)current_device && streams[i].tail_ns > end)
			end = streams[i].tail_ns;
	sleep_until(end);
	tell_sync(SYNC_CONTEXT, NULL, begin);
}

void stream_wait(struct stream *stream, const struct event *event)
{
	const uint64_t begin = now_ns();

	pthread_mutex_lock(&lock);
	if (event->recorded && event->ns > stream->tail_ns)
		stream->tail_ns = event->ns;
	pthread_mutex_unlock(&lock);
	tell_sync(SYNC_WAIT_EVENT, stream, begin);
}

struct event *event_new(void)
{
	return calloc(1, sizeof(struct event));
}

void event_record(struct event *event, struct stream *stream)
{
	const uint64_t now = now_ns(), after = after_ns(stream);

	event->ns = after > now ? after : now;
	event->stream = stream;
	event->recorded = true;
}

bool event_query(const struct event *event)
{
	return poll(SYNC_EVENT, event->stream, event->ns);
}

void event_synchronize(struct event *event)
{
	const uint64_t begin = now_ns();

	sleep_until(event->ns);
	tell_sync(SYNC_EVENT, event->stream, begin);
}

uint64_t event_ns(const struct event *event)
{
	return event->ns;
}

uint64_t api_enter(enum api_domain domain, uint32_t id, const char *name)
{
	if (!api_depth++)
		correlation = __atomic_add_fetch(&correlation_count, 1, __ATOMIC_RELAXED);
	if (tracer.api)
		tracer.api(0, domain, id, name, correlation, 0, 0);
	return now_ns();
}

void api_leave(enum api_domain domain, uint32_t id, const char *name, uint64_t begin_ns)
{
	const uint64_t end_ns = now_ns();

	if (knob("TRUTH_CALLS", 0))
		tell_call(domain, id, name, begin_ns, end_ns);
	if (tracer.api)
		tracer.api(1, domain, id, name, correlation, begin_ns, end_ns);
	api_depth--;
}
