/* SPDX-License-Identifier: Apache-2.0 */
/* dlprof.h - tells dlprof where the batches of your own training loop begin and end. */
#ifndef DLPROF_H
#define DLPROF_H

#include <stdint.h>

/* What may be given in place of a batch number: */
#define DLPROF_NEXT (-1)	/* number of this epoch's last batch plus one; 0 for the first */
#define DLPROF_END  (-2)	/* there was no batch, because the data has ended */

#ifdef DLPROF_SHIM		/* the library itself includes this file */
#define DLPROF_MARK(name, params, types, args) \
	__attribute__((visibility("default"))) void name params;
#else
#include <dlfcn.h>
#include <string.h>

/* Returns the function of this name, or NULL. `*cache` starts as 0; it holds `cache` for NULL. */
static __inline__ void *dlprof_find_(void **cache, const char *name)
{
	void *found = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

	if (__builtin_expect(!found, 0)) {
		found = dlsym(NULL, name); /* NULL is RTLD_DEFAULT, whose name needs _GNU_SOURCE */
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

/*
 * Marks that the training thread begins to wait for a batch, as before next() in Python. If the
 * last wait was not ended, it counts as failed, and a new one begins.
 */
DLPROF_MARK(dlprof_batch_begin, (void), (void), ())

/*
 * Marks that the training thread has got batch number `batch`, or DLPROF_NEXT if the loop has no
 * numbers. The time from here to the next dlprof_batch_begin() is compute. DLPROF_END says that
 * there was no batch: later loads and waits belong to the next epoch, whose numbers may begin at 0
 * again. A loader that loads ahead past the end of an epoch counts on instead, and never marks the
 * end.
 */
DLPROF_MARK(dlprof_batch_end, (int64_t batch), (int64_t), (batch))

/*
 * Marks that the calling thread begins to load batch number `batch`, or DLPROF_NEXT if the number
 * is not known yet. A thread has one load at a time: a load that was not ended is dropped.
 */
DLPROF_MARK(dlprof_load_begin, (int64_t batch), (int64_t), (batch))

/*
 * Marks that the thread has finished its load. `batch` is the load's number; DLPROF_NEXT keeps the
 * number given at the begin; DLPROF_END says that nothing was loaded.
 */
DLPROF_MARK(dlprof_load_end, (int64_t batch), (int64_t), (batch))

/*
 * Marks that a step begins, for loops in which no other mark can be placed. Steps alone show how
 * long each took, but not the waits in it, so there is no verdict. In a loop that marks its batches
 * this call does nothing.
 */
DLPROF_MARK(dlprof_step, (void), (void), ())

/* Writes `text`, cut after 87 bytes, with its time to the database's view `mark`; NULL: no line. */
DLPROF_MARK(dlprof_mark, (const char *text), (const char *), (text))

/*
 * How long this process's training thread has waited for data so far: the report's count, by the
 * host's clock, up to the begin of the last wait. All members are 0 before the second batch. Any
 * thread may call dlprof_account(). After an execve(), the time of the earlier programs is included
 * as soon as the new program has a batch.
 */
struct dlprof_account {
	uint64_t batches;	/* number of batches of all threads */
	uint64_t wait_ns;
	uint64_t time_ns;	/* waits and steps together: wait_ns / time_ns is the stall ratio */
};

/* Fills in *ret; leaves *ret as it is if the library is not preloaded. */
DLPROF_MARK(dlprof_account, (struct dlprof_account *ret), (struct dlprof_account *), (ret))

#ifdef __cplusplus
}
#endif

#undef DLPROF_MARK
#endif
