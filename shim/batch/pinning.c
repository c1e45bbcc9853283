/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/pinning.h"

#define PINNING_MAX 16 /* at most this many pinning threads are followed */

static struct pinning {
	uint64_t stream;	/* stream of the batches that the thread receives; 0: free */
	uint32_t tid;
	uint32_t life;
	struct thread_parts parts;
} pinnings[PINNING_MAX];
static bool any;

void pinning_of(struct thread *thread, uint64_t stream)
{
	for (int i = 0; i < PINNING_MAX; i++) {
		struct pinning *one = &pinnings[i];

		if (stream ? one->stream && one->life == thread_life : one->tid != thread->tid)
			continue;
		*one = (struct pinning){.stream = stream, .tid = thread->tid, .life = thread_life};
		thread->pins = stream != 0;
		any |= thread->pins;
		return;
	}
}

struct thread_parts *pinning_parts(const struct thread *thread)
{
	for (int i = 0; thread->pins && i < PINNING_MAX; i++)
		if (pinnings[i].stream && pinnings[i].tid == thread->tid &&
		    pinnings[i].life == thread->life)
			return &pinnings[i].parts;
	return NULL;
}

void pinning_take(uint64_t stream, struct thread_parts *parts)
{
	for (int i = 0; any && i < PINNING_MAX; i++) {
		struct thread_parts *from = &pinnings[i].parts;

		if (pinnings[i].stream != stream || pinnings[i].life != thread_life)
			continue;
		parts->fetch_ns += from->fetch_ns;
		parts->fetch_count += from->fetch_count;
		parts->timed_ns += from->timed_ns;
		parts->timed_cpu_ns += from->timed_cpu_ns;
		*from = (struct thread_parts){0};
		return;
	}
}
