/* SPDX-License-Identifier: Apache-2.0 */
/*
 * abi.c - reads the fakes' records through NVIDIA's structs. abi.py builds it where NVIDIA's
 * headers are installed, and defines KERNEL, MEMCPY, ... as the newest structs in these headers.
 */
#include <cuda.h>
#include <cupti.h>
#include <stdio.h>

#include "records.h"

static int failed;

#define SAME(found, expected)                                                                      \
	do {                                                                                       \
		if ((unsigned long long)(found) != (unsigned long long)(expected)) {               \
			printf("line %d: %s is %llu\n", __LINE__, #found,                          \
			       (unsigned long long)(found));                                       \
			failed = 1;                                                                \
		}                                                                                  \
	} while (0)

static unsigned char space[256];

static void *write_as(uint32_t kind)
{
	const struct entry entry = {
		.kind = kind,
		.call = 307,
		.thread = 77,
		.op = {.device = 3,
		       .stream = 14,
		       .correlation = 99,
		       .bytes = 1ull << 33,
		       .graph = 6,
		       .node = 1ull << 40,
		       .name = "name",
		       .copy_kind = COPY_HTOD,
		       .source = MEMORY_PAGEABLE,
		       .target = MEMORY_DEVICE,
		       .sync_type = SYNC_STREAM},
	};

	for (size_t i = 0; i < sizeof(space); i++)
		space[i] = 0;
	record_write(space, &entry, 1ull << 60, (1ull << 60) + 5);
	return space;
}

/* Checks the fields that the records of all operations of the device have. */
#define COMMON(record)                                                                             \
	do {                                                                                       \
		SAME((record)->start, 1ull << 60);                                                 \
		SAME((record)->end, (1ull << 60) + 5);                                             \
		SAME((record)->contextId, 4);                                                      \
		SAME((record)->streamId, 14);                                                      \
		SAME((record)->correlationId, 99);                                                 \
	} while (0)

static void check_work(void)
{
	const KERNEL *kernel = write_as(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	const MEMCPY *copy;
	const MEMCPY2 *peer;
	const MEMSET *set;
	const GRAPH *graph;

	SAME(record_bytes(kernel->kind), sizeof(*kernel));
	COMMON(kernel);
	SAME(kernel->deviceId, 3);
	SAME(kernel->graphId, 6);
	SAME(kernel->graphNodeId, 1ull << 40);
	SAME(kernel->name[3], 'e');
	copy = write_as(CUPTI_ACTIVITY_KIND_MEMCPY);
	SAME(record_bytes(copy->kind), sizeof(*copy));
	COMMON(copy);
	SAME(copy->deviceId, 3);
	SAME(copy->bytes, 1ull << 33);
	SAME(copy->copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
	SAME(copy->srcKind, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
	SAME(copy->dstKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
	SAME(copy->graphId, 6);
	peer = write_as(CUPTI_ACTIVITY_KIND_MEMCPY2);
	SAME(record_bytes(peer->kind), sizeof(*peer));
	COMMON(peer);
	SAME(peer->bytes, 1ull << 33);
	SAME(peer->graphId, 6);
	set = write_as(CUPTI_ACTIVITY_KIND_MEMSET);
	SAME(record_bytes(set->kind), sizeof(*set));
	COMMON(set);
	SAME(set->bytes, 1ull << 33);
	SAME(set->graphId, 6);
	graph = write_as(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	SAME(record_bytes(graph->kind), sizeof(*graph));
	COMMON(graph);
	SAME(graph->deviceId, 3);
	SAME(graph->graphId, 6);
}

static void check_host(void)
{
	const SYNC *sync = write_as(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	const CUpti_ActivityAPI *api;

	SAME(record_bytes(sync->kind), sizeof(*sync));
	COMMON(sync);
	SAME(sync->type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
	api = write_as(CUPTI_ACTIVITY_KIND_DRIVER);
	SAME(record_bytes(api->kind), sizeof(*api));
	SAME(api->start, 1ull << 60);
	SAME(api->end, (1ull << 60) + 5);
	SAME(api->cbid, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	SAME(api->threadId, 77);
	SAME(api->correlationId, 99);
	SAME(record_bytes(CUPTI_ACTIVITY_KIND_OVERHEAD), sizeof(OVERHEAD));
}

static void check_numbers(void)
{
	SAME(SYNC_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
	SAME(SYNC_WAIT_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
	SAME(SYNC_CONTEXT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
	SAME(COPY_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
	SAME(COPY_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
	SAME(COPY_PTOP, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
	SAME(MEMORY_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
	SAME(API_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
	SAME(API_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
}

int main(void)
{
	check_work();
	check_host();
	check_numbers();
	printf("checked\n");
	return failed;
}
