/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.h - stands in for NVIDIA's NVTX header where that is not installed. It finds the tool in the
 * same way, has the same ABI, and the functions that tests call have the same names.
 */
#pragma once

#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration *nvtxStringHandle_t;

typedef union {
	const char *ascii;
	const wchar_t *unicode;
	nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType;
	int32_t reserved0;
	uint64_t payload;
	int32_t messageType;
	nvtxMessageValue_t message;
} nvtxEventAttributes_t;

enum { NVTX_VERSION = 3, NVTX_EVENT_ATTRIB_STRUCT_SIZE = sizeof(nvtxEventAttributes_t) };
enum { NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE, NVTX_MESSAGE_TYPE_REGISTERED };

/* X(module, number in it, result's type, result without a tool, name, parameters, arguments) */
#define NVTX_EACH(X)                                                                               \
	X(1, 2, void, , nvtxMarkA, (const char *m), (m))                                           \
	X(1, 4, nvtxRangeId_t, 0, nvtxRangeStartEx, (const nvtxEventAttributes_t *a), (a))         \
	X(1, 5, nvtxRangeId_t, 0, nvtxRangeStartA, (const char *m), (m))                           \
	X(1, 7, void, , nvtxRangeEnd, (nvtxRangeId_t id), (id))                                    \
	X(1, 8, int, -2, nvtxRangePushEx, (const nvtxEventAttributes_t *a), (a))                   \
	X(1, 9, int, -2, nvtxRangePushA, (const char *m), (m))                                     \
	X(1, 10, int, -2, nvtxRangePushW, (const wchar_t *m), (m))                                 \
	X(1, 11, int, -2, nvtxRangePop, (void), ())                                                \
	X(5, 4, int, -2, nvtxDomainRangePushEx,                                                    \
	  (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a))                          \
	X(5, 5, int, -2, nvtxDomainRangePop, (nvtxDomainHandle_t d), (d))                          \
	X(5, 10, nvtxStringHandle_t, NULL, nvtxDomainRegisterStringA,                              \
	  (nvtxDomainHandle_t d, const char *m), (d, m))                                           \
	X(5, 12, nvtxDomainHandle_t, NULL, nvtxDomainCreateA, (const char *m), (m))

typedef void nvtx_function(void);

#define X(module, number, result, without, name, params, args)                                     \
	static nvtx_function *name##_slot;
NVTX_EACH(X)
#undef X

static nvtx_function **nvtx_core[17], **nvtx_core2[17];

static int nvtx_get_table(uint32_t module, nvtx_function ****table, unsigned int *count)
{
	*table = module == 1 ? nvtx_core : module == 5 ? nvtx_core2 : NULL;
	*count = 16;
	return *table != NULL;
}

static const void *nvtx_get_export_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*get_table)(uint32_t, nvtx_function ****, unsigned int *);
	} callbacks = {sizeof(callbacks), nvtx_get_table};

	return id == 1 ? &callbacks : NULL;
}

static void nvtx_once(void)
{
	static volatile int state; /* of the initialisation; 1: under way, 2: done */
	const char *path;
	void *tool;
	int (*init)(const void *(*)(uint32_t)) = NULL;

	while (state != 2) {
		if (__sync_bool_compare_and_swap(&state, 0, 1))
			break;
		sched_yield();
	}
	if (state == 2)
		return;
	path = getenv("NVTX_INJECTION64_PATH");
	tool = path ? dlopen(path, RTLD_LAZY) : NULL;
#define X(module, number, result, without, name, params, args)                                     \
	(module == 1 ? nvtx_core : nvtx_core2)[number] = &name##_slot;
	NVTX_EACH(X)
#undef X
	if (tool)
		*(void **)&init = dlsym(tool, "InitializeInjectionNvtx2");
	if (init)
		init(nvtx_get_export_table);
	__sync_synchronize();
	state = 2;
}

#define X(module, number, result, without, name, params, args)                                     \
	static inline __attribute__((unused)) result name params                                   \
	{                                                                                          \
		nvtx_once();                                                                       \
		if (!name##_slot)                                                                  \
			return without;                                                            \
		return ((result(*) params)name##_slot) args;                                       \
	}
NVTX_EACH(X)
#undef X
