/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/driver.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/sys.h"
#include "cuda/cudart.h"
#include "record/activate.h"
#include "record/segment.h"
#include "slots/dl.h"

#define INSTANCE_MAX  4     /* its twin for the thread's own stream, and a second libcuda */
#define VERSION_KNOWN 13000 /* of CUDA: driver.def holds for its headers */

uint32_t driver_hooks NEAR = 0;

static bool driver_refused;

/*
 * What each instance stands for; never given back, since libcuda stays. Read after the pointer that
 * led to the instance, which the host may hand from thread to thread without any ordering.
 */
static _Atomic(void *) reals[DRIVER_ROW_MAX][INSTANCE_MAX];

/* No pointers: every process would have ld.so add its base to all of them. */
static const struct row {
	char base[28];
	char symbol[28];
	int version;
} rows[DRIVER_ROW_MAX] = {
#define DRIVER(family, version, base, symbol, params, args) {#base, #symbol, version},
#include "cuda/driver.def"
#undef DRIVER
};

void driver_prepare(void)
{
	const char *value = getenv("DLPROF_DRIVER_HOOK");

	if (!value || strcmp(value, "1") != 0 || config_cuda_is_off())
		return;
	driver_refused = !dl_is_first();
	driver_hooks = !driver_refused;
}

void driver_note(void)
{
	if (driver_hooks)
		segment_note('m', "cuda_driver_hook on");
	else if (driver_refused)
		segment_note('m', "cuda_driver_hook off: another library's dlsym() comes first");
}

/* CUDA's names: libcudart's begin with cuda. */
static bool is_drivers(const char *name)
{
	return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

int driver_row_of(const char *symbol)
{
	size_t length;

	if (likely(!is_drivers(symbol)))
		return -1;
	length = strlen(symbol);
	if (length > 5 && (strcmp(symbol + length - 5, "_ptsz") == 0 ||
			   strcmp(symbol + length - 5, "_ptds") == 0))
		length -= 5;
	for (int row = 0; row < DRIVER_ROW_MAX; row++)
		if (strncmp(rows[row].symbol, symbol, length) == 0 && !rows[row].symbol[length])
			return row;
	return -1;
}

/* The row of what cuGetProcAddress() finds for a caller of this version. */
static int row_at_version(const char *base, int version)
{
	int found = -1;

	if (!is_drivers(base))
		return -1;
	for (int row = 0; row < DRIVER_ROW_MAX; row++)
		if (rows[row].version <= version && strcmp(rows[row].base, base) == 0 &&
		    (found < 0 || rows[row].version > rows[found].version))
			found = row;
	return found;
}

/* The function at the end of what it is called with. */
typedef int lookup_v1(const char *name, void **function, int version, uint64_t flags);
typedef int lookup_v2(const char *name, void **function, int version, uint64_t flags, void *status);

/*
 * A newer function than driver.def knows may have other parameters: then an older caller gets
 * another one.
 */
static bool is_known(void *real, bool with_status, const char *name, void *found, uint64_t flags)
{
	void *known = NULL;
	int status;
	int result = with_status ? ((lookup_v2 *)real)(name, &known, VERSION_KNOWN, flags, &status)
				 : ((lookup_v1 *)real)(name, &known, VERSION_KNOWN, flags);

	return result == 0 && known == found;
}

static void looked_up(void *real, bool with_status, const char *name, void **function, int version,
		      uint64_t flags)
{
	int row;

	if (!name || !function || !*function)
		return;
	row = row_at_version(name, version < VERSION_KNOWN ? version : VERSION_KNOWN);
	if (row >= 0 &&
	    (version <= VERSION_KNOWN || is_known(real, with_status, name, *function, flags)))
		*function = driver_wrapper(row, *function);
}

/* CUDA_MEMCPY2D, as far as it is read. */
struct plane {
	uint64_t unused[2];
	int from;
	uint64_t unused_too[6];
	int to;
	uint64_t unused_as_well[4];
	uint64_t width, height;
};

static_assert(offsetof(struct plane, from) == 16 && offsetof(struct plane, to) == 72 &&
		      offsetof(struct plane, width) == 112,
	      "as the vendor has it, see tests/unit/test_cuda_layout.c");

static void plane_copied(uint64_t begin_ns, const void *copy)
{
	const int host = 1, unified = 4; /* the others are a device's */
	const struct plane *plane = copy;
	bool from_host = plane->from == host, to_host = plane->to == host;
	int kind = CUDART_WITHIN;

	if (plane->from == unified || plane->to == unified)
		kind = CUDART_ANYWHERE;
	else if (from_host && !to_host)
		kind = CUDART_TO_DEVICE;
	else if (to_host && !from_host)
		kind = CUDART_TO_HOST;
	cudart_copied(begin_ns, plane->width * plane->height, kind);
}

/* One that is under way; its address is how calls within calls are told. */
struct call {
	uint64_t begin_ns;
};

#define TIMED_BEGIN                                                                                \
	(activate_on() && cudart_enter((uintptr_t)&call) && (call.begin_ns = cudart_begin(), true))

/* BEGIN_x: false: there is no end. END_x sees the parameters, `real`, `call` and `result`. */
#define BEGIN_LAUNCH    (activate_on() && cudart_enter((uintptr_t)&call))
#define END_LAUNCH      cudart_leave(), result ? (void)0 : cudart_launch(false)
#define BEGIN_GRAPH     BEGIN_LAUNCH
#define END_GRAPH       cudart_leave(), result ? (void)0 : cudart_launch(true)
#define BEGIN_TO_DEVICE TIMED_BEGIN
#define END_TO_DEVICE   cudart_leave(), cudart_copied(call.begin_ns, count, CUDART_TO_DEVICE)
#define BEGIN_TO_HOST   TIMED_BEGIN
#define END_TO_HOST     cudart_leave(), cudart_copied(call.begin_ns, count, CUDART_TO_HOST)
#define BEGIN_ANYWHERE  TIMED_BEGIN
#define END_ANYWHERE    cudart_leave(), cudart_copied(call.begin_ns, count, CUDART_ANYWHERE)
#define BEGIN_PLANE     TIMED_BEGIN
#define END_PLANE       cudart_leave(), result ? (void)0 : plane_copied(call.begin_ns, copy)
#define BEGIN_STREAM    TIMED_BEGIN
#define END_STREAM      cudart_leave(), cudart_synced(call.begin_ns, DLPROF_GPU_SYNC_STREAM)
#define BEGIN_EVENT     TIMED_BEGIN
#define END_EVENT       cudart_leave(), cudart_synced(call.begin_ns, DLPROF_GPU_SYNC_EVENT)
#define BEGIN_CONTEXT   TIMED_BEGIN
#define END_CONTEXT     cudart_leave(), cudart_synced(call.begin_ns, DLPROF_GPU_SYNC_CONTEXT)
/* Whether this process records or not: what is handed out now may be used when it does. */
#define BEGIN_LOOKUP ((void)call, true)
#define END_LOOKUP                                                                                 \
	if (result == 0)                                                                           \
	looked_up((void *)real, __builtin_types_compatible_p(__typeof__(*real), lookup_v2), name,  \
		  function, version, flags)

#define STRIP(...) __VA_ARGS__

#define INSTANCE(symbol, number, params, args)                                                     \
	static int symbol##_##number params                                                        \
	{                                                                                          \
		return call_##symbol(&reals[DRIVER_ROW_##symbol][number], STRIP args);             \
	}

#define DRIVER(family, version, base, symbol, params, args)                                        \
	__attribute__((noinline)) static int call_##symbol(_Atomic(void *) *target, STRIP params)  \
	{                                                                                          \
		int(*real) params;                                                                 \
		struct call call;                                                                  \
		int result;                                                                        \
                                                                                                   \
		atomic_thread_fence(memory_order_acquire);                                         \
		real = (int(*) params)atomic_load_explicit(target, memory_order_relaxed);          \
		if (!BEGIN_##family)                                                               \
			return real args;                                                          \
		result = real args;                                                                \
		END_##family;                                                                      \
		return result;                                                                     \
	}                                                                                          \
	INSTANCE(symbol, 0, params, args)                                                          \
	INSTANCE(symbol, 1, params, args)                                                          \
	INSTANCE(symbol, 2, params, args)                                                          \
	INSTANCE(symbol, 3, params, args)
#include "cuda/driver.def"
#undef DRIVER

static void *instance(int row, int number)
{
	switch (row * INSTANCE_MAX + number) {
#define DRIVER(family, version, base, symbol, params, args)                                        \
	case DRIVER_ROW_##symbol *INSTANCE_MAX:                                                    \
		return (void *)symbol##_0;                                                         \
	case DRIVER_ROW_##symbol *INSTANCE_MAX + 1:                                                \
		return (void *)symbol##_1;                                                         \
	case DRIVER_ROW_##symbol *INSTANCE_MAX + 2:                                                \
		return (void *)symbol##_2;                                                         \
	case DRIVER_ROW_##symbol *INSTANCE_MAX + 3:                                                \
		return (void *)symbol##_3;
#include "cuda/driver.def"
#undef DRIVER
	}
	return NULL;
}

void *driver_wrapper(int row, void *real)
{
	for (int i = 0; i < INSTANCE_MAX; i++)
		if (real == instance(row, i))
			return real;
	for (int i = 0; i < INSTANCE_MAX; i++) {
		void *before = NULL;

		if (atomic_compare_exchange_strong(&reals[row][i], &before, real) || before == real)
			return instance(row, i);
	}
	return real;
}
