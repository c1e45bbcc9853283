/* SPDX-License-Identifier: Apache-2.0 */
/* dlprof.h - tells dlprof where the batches of your own training loop begin and end. */
#ifndef DLPROF_H
#define DLPROF_H

#include <stdint.h>

#define DLPROF_NEXT (-1)	/* the last number in this epoch and one more; at first 0 */
#define DLPROF_END  (-2)	/* there was no batch: the data has ended */

#ifdef DLPROF_SHIM		/* the library itself includes this file */
#define DLPROF_MARK(name, params, types, args) \
	__attribute__((visibility("default"))) void name params;
#else
#include <dlfcn.h>
#include <string.h>

/* Returns the function with this name, or NULL. `cache` begins as 0; its own address means NULL. */
static __inline__ void *dlprof_find_(void **cache, const char *name)
{
	void *found = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

	if (__builtin_expect(!found, 0)) {
		found = dlsym(NULL, name);	/* NULL is RTLD_DEFAULT, which wants _GNU_SOURCE */
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
 * The training thread begins to wait for a batch, as before next() in Python. A wait that was not
 * ended counts as failed, and a new one begins.
 */
DLPROF_MARK(dlprof_batch_begin, (void), (void), ())

/*
 * The training thread has the batch of this number, or DLPROF_NEXT if the loop has no numbers. From
 * here to the next dlprof_batch_begin() is compute. DLPROF_END: there was no batch, and loads and
 * waits from now on belong to the next epoch, whose numbers may begin at 0 again. A loader that
 * loads ahead past the end of an epoch counts on instead, and nobody marks the end.
 */
DLPROF_MARK(dlprof_batch_end, (int64_t batch), (int64_t), (batch))

/*
 * The calling thread begins to load the batch of this number; DLPROF_NEXT: the number is not known
 * yet. A thread has one load at a time: a load that was not ended is dropped.
 */
DLPROF_MARK(dlprof_load_begin, (int64_t batch), (int64_t), (batch))

/*
 * The thread that began a load has finished it. The load's number is this one (DLPROF_NEXT: the one
 * given at the begin). DLPROF_END: nothing was loaded.
 */
DLPROF_MARK(dlprof_load_end, (int64_t batch), (int64_t), (batch))

/*
 * For loops that cannot be marked better: the time between two calls is one step. Steps alone show
 * how long each took, not the waits in it, so there is no verdict. In a loop that marks its batches
 * this does nothing.
 */
DLPROF_MARK(dlprof_step, (void), (void), ())

/* Writes a line with its time to the database's view `mark`, cut after 87 bytes; NULL: no line. */
DLPROF_MARK(dlprof_mark, (const char *text), (const char *), (text))

/*
 * How long this process's training thread has waited for data so far, as the report counts it, up
 * to the begin of its last wait, by the host's clock. All 0 before its second batch. Any thread may
 * call it. Programs that the process ran before an execve() are included, once this one has a
 * batch.
 */
struct dlprof_account {
	uint64_t batches;	/* number of batches of all threads */
	uint64_t wait_ns;
	uint64_t time_ns;	/* waits and steps; wait_ns / time_ns is the stall ratio */
};

/* Fills in *ret, or leaves it as it is if nothing is preloaded. */
DLPROF_MARK(dlprof_account, (struct dlprof_account *ret), (struct dlprof_account *), (ret))

#ifdef __cplusplus
}
#endif

#undef DLPROF_MARK
#endif
