/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - knows where fields are in CUPTI's records since CUDA 11.0 (see test_cuda_layout.c). */
#pragma once

#include <stdint.h>
#include <string.h>

enum cupti_kind {
	CUPTI_KIND_MEMCPY = 1,
	CUPTI_KIND_MEMSET = 2,
	CUPTI_KIND_KERNEL = 3,
	CUPTI_KIND_DRIVER = 4,
	CUPTI_KIND_RUNTIME = 5,
	CUPTI_KIND_CONCURRENT_KERNEL = 10,
	CUPTI_KIND_OVERHEAD = 17,
	CUPTI_KIND_MEMCPY2 = 22,
	CUPTI_KIND_SYNCHRONIZATION = 38,
	CUPTI_KIND_GRAPH_TRACE = 51,
};

enum cupti_copy {
	CUPTI_COPY_HTOD = 1,
	CUPTI_COPY_DTOH = 2,
	CUPTI_COPY_HTOA = 3,
	CUPTI_COPY_ATOH = 4,
};

enum cupti_sync {
	CUPTI_SYNC_EVENT = 1,
	CUPTI_SYNC_STREAM = 3,
	CUPTI_SYNC_CONTEXT = 4,
};

#define CUPTI_MEMORY_PAGEABLE 1

/* X(our name of the record, CUPTI's struct, field, type, offset) */
#define CUPTI_FIELDS(X)                                                                            \
	X(KERNEL, CUpti_ActivityKernel5, start, uint64_t, 16)                                      \
	X(KERNEL, CUpti_ActivityKernel5, end, uint64_t, 24)                                        \
	X(KERNEL, CUpti_ActivityKernel5, deviceId, uint32_t, 40)                                   \
	X(KERNEL, CUpti_ActivityKernel5, streamId, uint32_t, 48)                                   \
	X(KERNEL, CUpti_ActivityKernel5, correlationId, uint32_t, 92)                              \
	X(KERNEL, CUpti_ActivityKernel5, name, const char *, 104)                                  \
	X(MEMCPY, CUpti_ActivityMemcpy, copyKind, uint8_t, 4)                                      \
	X(MEMCPY, CUpti_ActivityMemcpy, srcKind, uint8_t, 5)                                       \
	X(MEMCPY, CUpti_ActivityMemcpy, bytes, uint64_t, 8)                                        \
	X(MEMCPY, CUpti_ActivityMemcpy, start, uint64_t, 16)                                       \
	X(MEMCPY, CUpti_ActivityMemcpy, end, uint64_t, 24)                                         \
	X(MEMCPY, CUpti_ActivityMemcpy, deviceId, uint32_t, 32)                                    \
	X(MEMCPY, CUpti_ActivityMemcpy, streamId, uint32_t, 40)                                    \
	X(MEMCPY2, CUpti_ActivityMemcpyPtoP, bytes, uint64_t, 8)                                   \
	X(MEMCPY2, CUpti_ActivityMemcpyPtoP, start, uint64_t, 16)                                  \
	X(MEMCPY2, CUpti_ActivityMemcpyPtoP, end, uint64_t, 24)                                    \
	X(MEMCPY2, CUpti_ActivityMemcpyPtoP, deviceId, uint32_t, 32)                               \
	X(MEMCPY2, CUpti_ActivityMemcpyPtoP, streamId, uint32_t, 40)                               \
	X(MEMSET, CUpti_ActivityMemset, bytes, uint64_t, 8)                                        \
	X(MEMSET, CUpti_ActivityMemset, start, uint64_t, 16)                                       \
	X(MEMSET, CUpti_ActivityMemset, end, uint64_t, 24)                                         \
	X(MEMSET, CUpti_ActivityMemset, deviceId, uint32_t, 32)                                    \
	X(MEMSET, CUpti_ActivityMemset, streamId, uint32_t, 40)                                    \
	X(SYNC, CUpti_ActivitySynchronization, type, uint32_t, 4)                                  \
	X(SYNC, CUpti_ActivitySynchronization, start, uint64_t, 8)                                 \
	X(SYNC, CUpti_ActivitySynchronization, end, uint64_t, 16)                                  \
	X(SYNC, CUpti_ActivitySynchronization, streamId, uint32_t, 32)                             \
	X(GRAPH, CUpti_ActivityGraphTrace, start, uint64_t, 8)                                     \
	X(GRAPH, CUpti_ActivityGraphTrace, end, uint64_t, 16)                                      \
	X(GRAPH, CUpti_ActivityGraphTrace, deviceId, uint32_t, 24)                                 \
	X(GRAPH, CUpti_ActivityGraphTrace, graphId, uint32_t, 28)                                  \
	X(GRAPH, CUpti_ActivityGraphTrace, streamId, uint32_t, 36)                                 \
	X(API, CUpti_ActivityAPI, cbid, uint32_t, 4)                                               \
	X(API, CUpti_ActivityAPI, start, uint64_t, 8)                                              \
	X(API, CUpti_ActivityAPI, end, uint64_t, 16)                                               \
	X(API, CUpti_ActivityAPI, threadId, uint32_t, 28)                                          \
	X(API, CUpti_ActivityAPI, correlationId, uint32_t, 32)                                     \
	X(OVERHEAD, CUpti_ActivityOverhead, start, uint64_t, 24)                                   \
	X(OVERHEAD, CUpti_ActivityOverhead, end, uint64_t, 32)

#define X(record, vendor, field, type, offset)                                                     \
	static inline type record_##record##_##field(const uint8_t *at)                            \
	{                                                                                          \
		type value;                                                                        \
                                                                                                   \
		memcpy(&value, at + (offset), sizeof(value));                                      \
		return value;                                                                      \
	}
CUPTI_FIELDS(X)
#undef X

/* an offset in CUpti_ActivityGraphTrace2, which CUDA 11 lacks */
#define RECORD_GRAPH_END_DEVICE 48

static inline uint32_t record_graph_end_device(const uint8_t *at)
{
	uint32_t device;

	memcpy(&device, at + RECORD_GRAPH_END_DEVICE, sizeof(device));
	return device;
}

static inline uint32_t record_kind(const uint8_t *at)
{
	uint32_t kind;

	memcpy(&kind, at, sizeof(kind));
	return kind;
}
