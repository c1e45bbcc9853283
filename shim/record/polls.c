/* SPDX-License-Identifier: Apache-2.0 */
#include "record/polls.h"

#include "base/clock.h"
#include "record/launches.h"

void polls_send_all(struct thread *thread)
{
	struct thread_poll *poll = &thread->poll;
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_GPU_OPS,
		.worker = -1,
		.begin_ns = poll->begin_ns,
		.duration_ns = poll->end_ns - poll->begin_ns,
		.gpu_ops = {.count = 1, .ops = {{.what = DLPROF_GPU_WHAT(poll->kind, 0, 0)}}},
	};

	if (event.duration_ns >= POLLS_LEAST_NS)
		thread_push(thread, &event);
	poll->begin_ns = 0;
}

/* Returns true if the thread did nothing but wait since its last query. */
static bool only_waited(const struct thread_poll *poll, uint64_t begin_ns)
{
	const uint64_t apart_ns = begin_ns - poll->asked_ns;

	if (poll->step != launches_steps || apart_ns >= POLLS_APART_NS)
		return false;
	return apart_ns <= POLLS_BUSY_NS ||
	       (poll->cpu_ns && clock_ns(CLOCK_THREAD_CPUTIME_ID) - poll->cpu_ns <= POLLS_BUSY_NS);
}

void polls_add(struct thread *thread, enum dlprof_gpu_kind kind, uint64_t begin_ns, uint64_t end_ns,
	       bool unfinished)
{
	struct thread_poll *poll = &thread->poll;

	if (poll->begin_ns && !only_waited(poll, begin_ns))
		polls_send_all(thread);
	/* Reading CPU time takes a system call: it is done from the second query in a row on. */
	poll->cpu_ns = poll->unfinished && unfinished ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
	if (poll->begin_ns && poll->unfinished)
		poll->end_ns = end_ns;
	if (!poll->begin_ns && unfinished) {
		poll->begin_ns = poll->end_ns = begin_ns;
		poll->kind = (uint8_t)kind;
		poll->step = launches_steps;
	}
	poll->unfinished = unfinished;
	poll->asked_ns = end_ns;
}
