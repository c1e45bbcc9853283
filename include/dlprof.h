/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlprof.h - tell dlprof where the batches of your own training loop begin and end.
 *
 * For loops that dlprof cannot follow by itself: C, C++, Rust, a Python loader of your own. Header
 * only; nothing to link. Each function looks for the preloaded libdlprof.so once; without it every
 * call is a load and two compares, and nothing else happens. The first mark begins the recording.
 *
 *	training thread				each loading thread
 *
 *	while (training) {			dlprof_load_begin(n);
 *		dlprof_batch_begin();		batch = load(n);
 *		batch = queue_pop(queue);	dlprof_load_end(n);
 *		dlprof_batch_end(batch->n);	queue_push(queue, batch);
 *		train(batch);
 *	}
 *
 * gives the wait and the compute of every batch, how long it took to load, whether it was ready
 * when it was asked for, and the verdict. The marks of batches alone give waits and the verdict.
 *
 * Numbers of batches are yours: 0 to 4294967295, each once until the data is at an end. They tie a
 * load to the delivery of its batch, which may be in any order; the database numbers deliveries 0,
 * 1, 2, ... by itself.
 *
 * Threads. batch_* and step belong to the thread that trains. If it changes, one at a time; calls
 * of two threads at once are left out. load_* and mark may be called by any thread at any time.
 * None may be called by a signal handler. None touches errno, fails, or waits, but for the very
 * first marks of a program, which take a few milliseconds.
 *
 * Processes. Loads in forked processes are recorded if the training process made a batch mark
 * before it forked them and does not mark an end of the data. Those of other processes are not
 * joined with the batches.
 */
#ifndef DLPROF_H
#define DLPROF_H

#include <stdint.h>

#define DLPROF_NEXT (-1)	/* one more than the number before it in this epoch; 0 at first */
#define DLPROF_END  (-2)	/* there was no batch: the data is at an end */

#ifdef DLPROF_SHIM		/* we are the library */
#define DLPROF_MARK(name, params, types, args) \
	__attribute__((visibility("default"))) void name params;
#else
#include <dlfcn.h>
#include <string.h>

/* The function of that name or NULL. `cache` is 0 at first, and its own address for "not there". */
static __inline__ void *dlprof_find_(void **cache, const char *name)
{
	void *found = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

	if (__builtin_expect(!found, 0)) {
		found = dlsym(NULL, name);	/* RTLD_DEFAULT, which wants _GNU_SOURCE */
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
 * The training thread begins to wait for a batch: before what would be next() in Python. A wait
 * that was begun and not ended counts as failed, and the new one begins.
 */
DLPROF_MARK(dlprof_batch_begin, (void), (void), ())

/*
 * It has the batch of this number, or DLPROF_NEXT where the loop has no numbers. From here to the
 * next dlprof_batch_begin() is compute. DLPROF_END: there was none, and what is loaded or asked for
 * from now on is of the next epoch, whose numbers may begin at 0 again. A loader that loads ahead
 * past the end of an epoch counts on instead, and nobody marks the end.
 */
DLPROF_MARK(dlprof_batch_end, (int64_t batch), (int64_t), (batch))

/*
 * The calling thread begins to load the batch of this number; DLPROF_NEXT: not known yet. A thread
 * has one load at a time: one that was not ended is dropped.
 */
DLPROF_MARK(dlprof_load_begin, (int64_t batch), (int64_t), (batch))

/*
 * It is loaded, and has this number (DLPROF_NEXT: the one given at the begin). DLPROF_END: nothing
 * was loaded. On the thread that began it.
 */
DLPROF_MARK(dlprof_load_end, (int64_t batch), (int64_t), (batch))

/*
 * For loops that cannot be marked better: what lies between two calls is one step. Steps alone say
 * how long each took, not what was waited in it, so there is no verdict. In a loop that marks its
 * batches it does nothing.
 */
DLPROF_MARK(dlprof_step, (void), (void), ())

/* A line in the database's view `mark`, with its time; cut after 87 bytes. NULL: nothing. */
DLPROF_MARK(dlprof_mark, (const char *text), (const char *), (text))

/*
 * What the training thread of this process waited for data so far, by the report's account, up to
 * where its last wait began; the host's clock. All 0 before its second batch. Any thread may ask.
 * What this process was before an execve() is in it, once it has a batch of its own.
 */
struct dlprof_account {
	uint64_t batches;	/* of all threads */
	uint64_t wait_ns;
	uint64_t time_ns;	/* of which it waited; wait_ns / time_ns is the stall ratio */
};

/* Leaves *ret as it was where nothing is preloaded. */
DLPROF_MARK(dlprof_account, (struct dlprof_account *ret), (struct dlprof_account *), (ret))

#ifdef __cplusplus
}
#endif

#undef DLPROF_MARK
#endif
