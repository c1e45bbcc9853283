/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/freeing.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "batch/scope.h"
#include "batch/training.h"
#include "dlprof/hash.h"
#include "record/activate.h"
#include "record/summary.h"

#define BUCKET_BITS 9
#define BUCKET_MAPS 8
#define RETURN_NS   50000 /* an older batch's first munmap() follows a delivery in this time */
/* a batch's next munmap() follows the previous one within this time */
#define GAP_NS	    500000
#define LATER_NS    1000000 /* after a longer pause, munmap() counts as a call of the loop's body */
/* a delivery's first munmap() comes within this time if the thread only waited for a core */
#define NO_CORE_NS  20000000
/* after a possible lack of a core, the thread's clocks are read for this many batches */
#define WATCHED     32

/* Addresses of batches' mappings, a hash table (0: free). If it is full, some are not followed. */
static struct bucket {
	alignas(64) _Atomic uintptr_t maps[BUCKET_MAPS];
} buckets[1 << BUCKET_BITS];
static atomic_bool any;

static struct bucket *bucket_of(const void *address)
{
	return &buckets[hash_word(0, (uintptr_t)address >> 12) >> (64 - BUCKET_BITS)];
}

void freeing_mapped(const void *address)
{
	struct bucket *bucket;

	if (!activate_on() || !thread_waiting())
		return;
	bucket = bucket_of(address);
	atomic_store_explicit(&any, true, memory_order_relaxed);
	for (int i = 0; i < BUCKET_MAPS; i++) {
		uintptr_t expected = 0;

		if (atomic_compare_exchange_strong(&bucket->maps[i], &expected, (uintptr_t)address))
			return;
	}
}

/* Removes the address from the table. Returns false if it was not there. */
static bool forget(const void *address)
{
	struct bucket *bucket = bucket_of(address);

	for (int i = 0; i < BUCKET_MAPS; i++) {
		uintptr_t expected = (uintptr_t)address;

		if (atomic_load_explicit(&bucket->maps[i], memory_order_relaxed) == expected)
			return atomic_compare_exchange_strong(&bucket->maps[i], &expected, 0);
	}
	return false;
}

void freeing_batch_came(struct thread *thread, uint64_t now_ns)
{
	thread->free_since_ns = now_ns;
	thread->free_used.cpu_ns = 0;
	if (thread->free_watched && thread->free_watched--)
		thread->free_used = scope_used(thread, now_ns);
}

/* Returns true if, since the newest batch came, the thread has hardly run and never paused. */
static bool lacked_core(struct thread *thread)
{
	const struct thread_used now = scope_used(thread, 0), *came = &thread->free_used;

	thread->free_watched = WATCHED;
	return came->cpu_ns && now.pauses >= 0 && now.pauses == came->pauses &&
	       now.cpu_ns - came->cpu_ns <= RETURN_NS;
}

bool freeing_begin(struct freeing *freeing, const void *address)
{
	struct thread *thread = thread_known();
	uint64_t now_ns, pause_ns;

	if (likely(!atomic_load_explicit(&any, memory_order_relaxed)) || !forget(address))
		return false;
	if (!thread || !thread->free_since_ns)
		return false;
	now_ns = clock_now_ns();
	pause_ns = now_ns - thread->free_since_ns;
	freeing->thread = thread;
	freeing->begin_ns = now_ns;
	if (pause_ns <= (thread->free_ns ? GAP_NS : RETURN_NS) ||
	    (!thread->free_ns && pause_ns <= NO_CORE_NS && lacked_core(thread)))
		freeing->begin_ns = thread->free_since_ns;
	else if (pause_ns > LATER_NS)
		thread->free_since_ns = 0;
	return thread->free_since_ns != 0;
}

void freeing_end(const struct freeing *freeing)
{
	const uint64_t now_ns = clock_now_ns(), ns = now_ns - freeing->begin_ns;
	struct thread *thread = freeing->thread;

	thread->free_since_ns = now_ns;
	thread->free_ns += ns;
	thread->waited_ns += ns;
	training_skip(thread, ns);
	if (thread->account)
		thread->account->waited_ns += ns;
}
