/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - simulated GPUs. Each operation has a begin and an end on CLOCK_MONOTONIC as soon as it
 * is submitted to a stream. The fake libcupti makes records of these operations.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum op_kind {
	OP_KERNEL,
	OP_MEMCPY,
	OP_PEER, /* a copy between two devices */
	OP_MEMSET,
	OP_SYNC,
	OP_GRAPH,
};

/* The numbers in these enums are CUPTI's. */
enum copy_kind { COPY_NONE, COPY_HTOD = 1, COPY_DTOH = 2, COPY_DTOD = 8, COPY_PTOP = 10 };
enum memory_kind { MEMORY_PAGEABLE = 1, MEMORY_PINNED = 2, MEMORY_DEVICE = 3 };
enum sync_type { SYNC_EVENT = 1, SYNC_WAIT_EVENT = 2, SYNC_STREAM = 3, SYNC_CONTEXT = 4 };
enum api_domain { API_DRIVER = 1, API_RUNTIME = 2 };

struct op {
	enum op_kind kind;
	uint32_t device;
	uint32_t stream; /* as CUPTI numbers them: 7 is the legacy default stream */
	uint32_t correlation;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t bytes;
	const char *name;
	uint32_t graph; /* 0: none */
	uint64_t node;
	uint8_t copy_kind;
	uint8_t source;
	uint8_t target;
	uint8_t sync_type;
	bool polled; /* a query that found work unfinished */
};

struct graph;

/* Functions of the fake libcupti that are called for each operation, graph and API call. */
struct tracer {
	void (*op)(const struct op *op);
	void (*graph)(const struct op *whole, const struct op *nodes, size_t count,
		      uint64_t instantiated_ns);
	void (*api)(int exit, enum api_domain domain, uint32_t id, const char *name,
		    uint32_t correlation, uint64_t begin_ns, uint64_t end_ns);
};

struct stream;
struct event;

struct stream *stream_new(bool blocking);
struct stream *stream_of(void *handle); /* NULL or 1: legacy default stream; 2: thread's default */
void stream_wait(struct stream *stream, const struct event *event);
bool stream_query(struct stream *stream);
void stream_synchronize(struct stream *stream);
void device_synchronize(void);
/* Devices are numbered by their place in CUDA_VISIBLE_DEVICES. device_physical() returns the GPU's
 * own number. */
int device_count(void);
int device_physical(int device);
int device_current(void);
void device_select(int device);

struct event *event_new(void);
void event_record(struct event *event, struct stream *stream);
bool event_query(const struct event *event);
void event_synchronize(struct event *event);
uint64_t event_ns(const struct event *event);

void submit_kernel(struct stream *stream, const char *name, uint64_t ns);
void submit_memset(struct stream *stream, uint64_t bytes);
/* Submits a copy. Like CUDA, waits for its end if `blocking`, or if the target is pageable. */
void submit_copy(struct stream *stream, enum copy_kind kind, const void *target, const void *source,
		 uint64_t bytes, bool blocking);
void submit_graph(struct stream *stream, struct graph *graph);

void capture_begin(struct stream *stream);
struct graph *capture_end(struct stream *stream);
void graph_instantiate(struct graph *graph);

void memory_pin(const void *address, uint64_t bytes);
void memory_unpin(const void *address);
bool memory_is_pinned(const void *address);
bool memory_is_device(const void *address);
uint64_t memory_device(uint64_t bytes);

/* Each public function calls both. The outermost one's correlation id is that of its operations. */
uint64_t api_enter(enum api_domain domain, uint32_t id, const char *name);
void api_leave(enum api_domain domain, uint32_t id, const char *name, uint64_t begin_ns);

void tracer_set(const struct tracer *tracer);
