/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cuda_layout.c - our table of CUPTI's records and constants against the vendor's headers. It
 * need not run: it compiles or it does not. That later structs begin the same: tests/cuda/abi.py.
 */
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>
#if CUDA_VERSION >= 13000 && __has_include(<cudaTypedefs.h>)
#include <cudaTypedefs.h>
#define HAS_TYPES 1
#endif

#include "cuda/cupti.h"
#include "cuda/record.h"

#define X(record, vendor, field, type, offset)                                                     \
	_Static_assert(offsetof(vendor, field) == (offset), #vendor "." #field " lies there");     \
	_Static_assert(sizeof(((vendor *)0)->field) == sizeof(type),                               \
		       #vendor "." #field " is as large");
CUPTI_FIELDS(X)
#undef X

#define EQUAL(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs);
EQUAL(CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY)
EQUAL(CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET)
EQUAL(CUPTI_KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL)
EQUAL(CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
EQUAL(CUPTI_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD)
EQUAL(CUPTI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2)
EQUAL(CUPTI_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)
EQUAL(CUPTI_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
EQUAL(CUPTI_KIND_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER)
EQUAL(CUPTI_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME)
EQUAL(CUPTI_COPY_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD)
EQUAL(CUPTI_COPY_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH)
EQUAL(CUPTI_COPY_HTOA, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA)
EQUAL(CUPTI_COPY_ATOH, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH)
EQUAL(CUPTI_SYNC_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE)
EQUAL(CUPTI_SYNC_STREAM, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE)
EQUAL(CUPTI_SYNC_CONTEXT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE)
EQUAL(CUPTI_MEMORY_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE)
EQUAL(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED)
EQUAL(CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
EQUAL(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
EQUAL(CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN)
EQUAL(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
EQUAL(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)

/* Numbers of calls, where all of them are known. */
#if CUPTI_API_VERSION >= 130000
#define CALL(domain, class, name, number) EQUAL(number, CUPTI_##domain##_TRACE_CBID_##name)
#include "cuda/api.def"
#undef CALL
#endif

/* Each function of the driver takes as many arguments, and pointers where we have pointers. */
#ifdef HAS_TYPES
#define STRIP(...) __VA_ARGS__
#define CHECK(name, theirs, params, args)                                                          \
	__attribute__((unused)) static int name(theirs real, STRIP params)                         \
	{                                                                                          \
		return (int)real args;                                                             \
	}
#define CHECK_LAUNCH                              CHECK
#define CHECK_GRAPH                               CHECK
#define CHECK_TO_DEVICE                           CHECK
#define CHECK_TO_HOST                             CHECK
#define CHECK_ANYWHERE                            CHECK
#define CHECK_PLANE                               CHECK
#define CHECK_STREAM                              CHECK
#define CHECK_EVENT                               CHECK
#define CHECK_LOOKUP                              CHECK
#define CHECK_CONTEXT(name, theirs, params, args) /* one has none, and gets one */
#define DRIVER(family, version, base, symbol, params, args)                                        \
	CHECK_##family(call_##symbol, PFN_##base##_v##version, params, args)
#include "cuda/driver.def"
#undef DRIVER
#endif

_Static_assert(offsetof(CUDA_MEMCPY2D, srcMemoryType) == 16 &&
		       offsetof(CUDA_MEMCPY2D, dstMemoryType) == 72 &&
		       offsetof(CUDA_MEMCPY2D, WidthInBytes) == 112 &&
		       offsetof(CUDA_MEMCPY2D, Height) == 120,
	       "as struct plane of driver.c");
EQUAL(1, CU_MEMORYTYPE_HOST)
EQUAL(2, CU_MEMORYTYPE_DEVICE)
EQUAL(3, CU_MEMORYTYPE_ARRAY)

int main(void)
{
	return 0;
}
