/* SPDX-License-Identifier: Apache-2.0 */
/* dlprof.h - tells dlprof where the batches of your own training loop begin and end. */
#ifndef DLPROF_H
#define DLPROF_H

#include <stdint.h>

/* These values may stand in place of a batch number: */
#define DLPROF_NEXT (-1)	/* the previous number of this epoch + 1; for its first batch, 0 */
#define DLPROF_END  (-2)	/* no batch: the data has ended */

#ifdef DLPROF_SHIM		/* the library itself includes this file */
#define DLPROF_MARK(name, params, types, args) \
	__attribute__((visibility("default"))) void name params;
#else
#include <dlfcn.h>
#include <string.h>

/* Returns a function or NULL. `*cache` is 0 at first, then the function or, if missing, `cache`. */
static __inline__ void *dlprof_find_(void **cache, const char *name)
{
	void *found = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

	if (__builtin_expect(!found, 0)) {
		found = dlsym(NULL, name); /* NULL is RTLD_DEFAULT, which needs _GNU_SOURCE */
		if (!found)
			found = cache;
		__atomic_store_n(cache, found, __ATOMIC_RELEASE);
	}
	return found == cache ? NULL : found;
}

#define DLPROF_MARK(name, params, types, args) \
	static __inline__ void name params \
	{ \
		static void *cache; \
		void *found = dlprof_find_(&cache, #name); \
		void (*function) types; \
\
		if (!found) \
			return; \
		memcpy(&function, &found, sizeof(function)); \
		function args; \
	}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The training thread begins to wait for a batch. If the last wait was not ended, it has failed. */
DLPROF_MARK(dlprof_batch_begin, (void), (void), ())

/*
 * The training thread has got batch number `batch` (or DLPROF_NEXT), and computes until the next
 * dlprof_batch_begin(). DLPROF_END: there was no batch, and a new epoch follows, whose numbers may
 * begin at 0 again. If the loader already loads for the next epoch, mark no end: go on counting.
 */
DLPROF_MARK(dlprof_batch_end, (int64_t batch), (int64_t), (batch))

/* This thread begins to load batch `batch` (or DLPROF_NEXT). Its unended load is dropped. */
DLPROF_MARK(dlprof_load_begin, (int64_t batch), (int64_t), (batch))

/*
 * This thread's load has ended. `batch` is its number; DLPROF_NEXT: the number with which it began;
 * DLPROF_END: it made no batch.
 */
DLPROF_MARK(dlprof_load_end, (int64_t batch), (int64_t), (batch))

/* A step begins in a loop without other marks. Its waits are unknown: the run gets no verdict. */
DLPROF_MARK(dlprof_step, (void), (void), ())

/* Writes `text`, cut after 87 bytes, and the time to the database's view `mark`. NULL: ignored. */
DLPROF_MARK(dlprof_mark, (const char *text), (const char *), (text))

/*
 * The training thread's time until its newest wait began, by the host's clock, as in the report.
 * All members are 0 before the second batch. An execve() does not reset them.
 */
struct dlprof_account {
	uint64_t batches;	/* number of batches of all threads */
	uint64_t wait_ns;
	uint64_t time_ns;	/* time of waits and steps; wait_ns / time_ns is the stall ratio */
};

/* Fills *ret, in any thread. If the library is not preloaded, *ret stays as it is. */
DLPROF_MARK(dlprof_account, (struct dlprof_account *ret), (struct dlprof_account *), (ret))

#ifdef __cplusplus
}
#endif

#undef DLPROF_MARK
#endif
