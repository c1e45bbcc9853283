/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/batches/sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "drain/base/now.h"
#include "drain/base/process.h"
#include "drain/batches/stream.h"
#include "drain/lines/booking.h"
#include "drain/lines/targets.h"

#define FAST_NS    UINT64_C(50000000)
#define SLOW_NS    UINT64_C(1000000000)
/* with 1,000 samples, a share is known to +-3 percentage points: 1.96 * sqrt(0.25 / 1000) */
#define ENOUGH     1000
#define COST_PART  333
/* CPU time that sampling may use in addition to its COST_PART, to find interpreters at first */
#define COST_AHEAD UINT64_C(20000000)
/* this long after it was taken, a stack sample is booked for good, by what is known then */
#define EXPIRE_NS  UINT64_C(120000000000)
/* a process that records nothing for this long is noted as hanging */
#define DOING_NS   UINT64_C(5000000000)

_Static_assert(FAST_NS == LINE_LEAST_NS && SLOW_NS == LINE_MOST_NS, "the weights of samples");

struct sampler {
	struct targets targets;
	struct booking *booking;
	struct seen_stacks *seen;
	struct python_sample sample;
	uint64_t begin_ns, cost_ns;
	uint64_t due_ns, looked_ns; /* next and last sampling of a worker's stack */
	uint64_t random;
	char said[120]; /* the note about sampling that the database has now */
};

void sampler_open(struct sampler **ret)
{
	const char *wanted = getenv("DLPROF_LINES");
	struct sampler *sampler;

	*ret = NULL;
	if (wanted && strcmp(wanted, "off") == 0)
		return;
	sampler = calloc(1, sizeof(*sampler));
	if (!sampler)
		return;
	sampler->begin_ns = now_ns();
	sampler->random = sampler->begin_ns;
	if (booking_open(&sampler->booking) == 0 && seen_open(&sampler->seen) == 0)
		*ret = sampler;
	else
		sampler_close(sampler);
}

void sampler_close(struct sampler *sampler)
{
	if (!sampler)
		return;
	targets_done(&sampler->targets);
	booking_close(sampler->booking);
	seen_close(sampler->seen);
	free(sampler);
}

/* Returns a random time between 0.5 and 1.5 times `ns`. */
static uint64_t around(struct sampler *sampler, uint64_t ns)
{
	return ns / 2 + stats_random(&sampler->random) % ns;
}

void sampler_follow(struct sampler *sampler, struct segment *const *segments, size_t count)
{
	if (sampler)
		targets_follow(&sampler->targets, segments, count);
}

int sampler_wait_ms(const struct sampler *sampler, int most_ms)
{
	uint64_t now = now_ns(), due = UINT64_MAX;

	if (!sampler)
		return most_ms;
	for (size_t i = 0; i < sampler->targets.count; i++) {
		const struct target *target = &sampler->targets.list[i];
		uint64_t own = target_trains(target)  ? target->due_ns
			       : target_loads(target) ? sampler->due_ns
						      : UINT64_MAX;

		due = own < due ? own : due;
	}
	if (due <= now)
		return 0;
	return due - now < (uint64_t)most_ms * 1000000 ? (int)((due - now) / 1000000) + 1 : most_ms;
}

static bool idles(const struct stack *stack)
{
	static const char queues[] = "/multiprocessing/queues.py";
	const char *file = NULL;
	size_t length;

	for (size_t i = 0; i < stack->depth; i++) {
		if (strstr(stack->frames[i].code->name, "_worker_loop"))
			break;
		file = stack->frames[i].code->file;
	}
	length = file ? strlen(file) : 0;
	return length >= sizeof(queues) - 1 &&
	       strcmp(file + length - (sizeof(queues) - 1), queues) == 0;
}

/* Finds a thread by tid. If tids are unknown (before 3.11), the oldest is the main thread. */
static const struct python_thread *thread_of(const struct python_sample *sample, uint32_t tid,
					     int32_t pid)
{
	for (size_t i = 0; i < sample->count; i++)
		if (sample->threads[i].tid == tid)
			return &sample->threads[i];
	if (sample->count && tid == (uint32_t)pid && !sample->threads[sample->count - 1].tid)
		return &sample->threads[sample->count - 1];
	return NULL;
}

/* Returns the stack of the thread that holds the GIL; SEEN_NONE: there is none, or it is `but`. */
static uint32_t holder_of(struct sampler *sampler, const struct python_thread *but)
{
	for (size_t i = 0; i < sampler->sample.count; i++) {
		const struct python_thread *thread = &sampler->sample.threads[i];

		if (thread->has_gil && thread != but && thread->stack && thread->stack->depth)
			return seen_stack(sampler->seen, thread->stack);
	}
	return SEEN_NONE;
}

static void take_thread(struct sampler *sampler, struct target *target, uint32_t tid,
			enum line_role role, struct booking_sample *sample)
{
	const struct python_thread *thread = thread_of(&sampler->sample, tid, target->pid);

	target->seen_ns = sample->when_ns;
	target->stack = SEEN_NONE;
	if (!thread || !thread->stack || !thread->stack->depth ||
	    (role == LINE_ROLE_WORKER && idles(thread->stack)))
		return;
	sample->pid = target->pid;
	sample->tid = tid;
	sample->role = role;
	sample->stack = target->stack = seen_stack(sampler->seen, thread->stack);
	sample->holder = holder_of(sampler, thread);
	sample->has_gil = thread->has_gil;
	sample->awaits_gil = role == LINE_ROLE_MAIN && sample->holder != SEEN_NONE &&
			     python_awaits_gil(target->python, tid);
	if (sample->stack != SEEN_NONE)
		booking_add(sampler->booking, sample);
}

/* Returns for how many ns a sample counts: the time since the last one, if the drain was late. */
static uint32_t weight_of(uint64_t looked_ns, uint64_t now, uint64_t every_ns)
{
	if (!looked_ns || now - looked_ns < 2 * every_ns)
		return (uint32_t)every_ns;
	return (uint32_t)within(FAST_NS, SLOW_NS, now - looked_ns);
}

static void look_at(struct sampler *sampler, struct target *target, const uint32_t *tids,
		    size_t count, enum line_role role, uint32_t weight_ns)
{
	struct booking_sample sample = {.weight_ns = weight_ns};
	enum reason reason;

	if (!target_open(&sampler->targets, target, now_ns()))
		return;
	sample.when_ns = now_ns();
	reason = python_sample(target->python, tids, count, &sampler->sample);
	if (reason) {
		python_close(target->python);
		target->python = NULL;
		return;
	}
	for (size_t i = 0; i < count; i++)
		take_thread(sampler, target, tids[i], role, &sample);
}

static struct target *choose(struct sampler *sampler)
{
	struct target *chosen = NULL;
	uint64_t seen = 0;

	for (size_t i = 0; i < sampler->targets.count; i++)
		if (target_loads(&sampler->targets.list[i]) &&
		    stats_random(&sampler->random) % ++seen == 0)
			chosen = &sampler->targets.list[i];
	return chosen;
}

static uint64_t rest_ns(const struct sampler *sampler, uint64_t now)
{
	uint64_t allowed = COST_AHEAD + (now - sampler->begin_ns) / COST_PART;

	return sampler->cost_ns > allowed ? (sampler->cost_ns - allowed) * COST_PART : 0;
}

/* Returns FAST_NS until ENOUGH samples are booked to loads (or to waits and steps). */
static uint64_t interval(const struct sampler *sampler, bool of_loads)
{
	return booking_count(sampler->booking, of_loads) < ENOUGH ? FAST_NS : SLOW_NS;
}

static void look_at_workers(struct sampler *sampler, uint64_t now)
{
	const uint64_t every_ns = interval(sampler, true);
	struct target *target = choose(sampler);
	uint32_t tid;

	if (!target)
		return;
	tid = (uint32_t)target->pid;
	look_at(sampler, target, &tid, 1, LINE_ROLE_WORKER,
		weight_of(sampler->looked_ns, now, every_ns));
	sampler->looked_ns = now;
	sampler->due_ns = now + around(sampler, every_ns) + rest_ns(sampler, now);
}

static void look_at_training(struct sampler *sampler, struct target *target, uint64_t now)
{
	const uint64_t every_ns = interval(sampler, false);

	look_at(sampler, target, target->askers, target->askers[1] ? 2 : 1, LINE_ROLE_MAIN,
		weight_of(target->looked_ns, now, every_ns));
	target->looked_ns = now;
	target->due_ns = now + around(sampler, every_ns) + rest_ns(sampler, now);
}

void sampler_look(struct sampler *sampler)
{
	uint64_t now = now_ns(), begin;

	if (!sampler || sampler_wait_ms(sampler, 1))
		return;
	begin = cpu_ns();
	for (size_t i = 0; i < sampler->targets.count; i++)
		if (target_trains(&sampler->targets.list[i]) &&
		    sampler->targets.list[i].due_ns <= now)
			look_at_training(sampler, &sampler->targets.list[i], now);
	/* A worker that is due soon is sampled now, which saves waking up once more. */
	if (sampler->due_ns <= now + FAST_NS / 2)
		look_at_workers(sampler, now);
	sampler->cost_ns += cpu_ns() - begin;
}

static void claim(struct sampler *sampler, int32_t pid, uint32_t tid, uint64_t begin_ns,
		  uint64_t end_ns, enum booking_from from, enum line_phase phase, int64_t loader_id)
{
	const struct booking_span span = {pid, tid, begin_ns, end_ns, from, phase, loader_id};

	if (begin_ns < end_ns)
		booking_claim(sampler->booking, &span);
}

void sampler_take(struct sampler *sampler, const struct record *record)
{
	const struct dlprof_event *event = record->event;
	const uint64_t begin_ns = event->begin_ns, end_ns = begin_ns + event->duration_ns;
	struct target *target;

	if (!sampler || (event->kind != DLPROF_EVENT_LOAD && event->kind != DLPROF_EVENT_BATCH))
		return;
	target = targets_find(&sampler->targets, record->segment->header->pid);
	if (!target)
		return;
	target->moved_ns = end_ns;
	if (event->kind == DLPROF_EVENT_LOAD) {
		if (target_loads(target))
			booking_drop(sampler->booking, target->pid, record->ring->tid,
				     target->loaded_ns, begin_ns);
		target->loaded_ns = end_ns;
		claim(sampler, target->pid, record->ring->tid, begin_ns, end_ns, BOOKING_FREE,
		      LINE_LOAD, 0);
	} else if (!(event->flags & (DLPROF_FLAG_NESTED | DLPROF_FLAG_STEP))) {
		const uint32_t tid = record_trainer(record);

		target_note_asker(target, tid);
		if (target->ended_tid == tid)
			target->ended_tid = 0;
		claim(sampler, target->pid, tid, begin_ns, end_ns, BOOKING_FREE, LINE_NOT_READY, 0);
	}
}

void sampler_epoch(struct sampler *sampler, const struct record *record, int64_t loader_id)
{
	const struct dlprof_event *event = record->event;
	const bool is_end = event->kind == DLPROF_EVENT_STOP;
	const uint32_t tid = record_trainer(record);
	struct target *target =
		sampler ? targets_find(&sampler->targets, record->segment->header->pid) : NULL;

	if (!target || event->flags & DLPROF_FLAG_NESTED || target_loads(target))
		return;
	target->moved_ns = event->begin_ns + event->duration_ns;
	target_note_asker(target, tid);
	if (!is_end && target->ended_tid == tid)
		claim(sampler, target->pid, tid, target->ended_ns, event->begin_ns, BOOKING_FREE,
		      LINE_GAP, loader_id);
	target->ended_ns = target->moved_ns;
	target->ended_tid = is_end && !(event->flags & DLPROF_FLAG_FAILED) ? tid : 0;
	claim(sampler, target->pid, tid, event->begin_ns, target->moved_ns, BOOKING_FREE,
	      is_end ? LINE_EPOCH_END : LINE_EPOCH_START, loader_id);
}

void sampler_save(struct sampler *sampler, const struct record *record, int64_t loader_id)
{
	const struct dlprof_parts *parts = &record->event->parts;
	const int32_t pid = record->segment->header->pid;

	if (sampler && targets_find(&sampler->targets, pid))
		claim(sampler, pid, record->ring->tid, parts->save_begin_ns, parts->save_end_ns,
		      BOOKING_FREE, LINE_SAVE, loader_id);
}

static void settle_step(struct sampler *sampler, const struct stream *stream,
			const struct entry *entry, uint32_t tid, uint64_t begin_ns)
{
	const uint64_t end_ns = entry->step_end_ns;
	const struct dlprof_parts *parts = &entry->parts;

	if (entry->parts_seen && parts->backward_ns)
		claim(sampler, stream->consumer.pid, tid, begin_ns,
		      within(begin_ns, end_ns, parts->backward_ns), BOOKING_FREE, LINE_BEFORE,
		      stream->loader_id);
	if (entry->parts_seen && parts->last_ns && parts->ns[DLPROF_PART_OPTIMIZER] <= INT64_MAX)
		claim(sampler, stream->consumer.pid, tid, within(begin_ns, end_ns, parts->last_ns),
		      end_ns, BOOKING_FREE, LINE_AFTER, stream->loader_id);
	claim(sampler, stream->consumer.pid, tid, begin_ns, end_ns, BOOKING_FREE, LINE_STEP,
	      stream->loader_id);
}

static uint32_t tid_of(const struct held *held, uint32_t otherwise)
{
	return held->ring && held->ring->tid ? held->ring->tid : otherwise;
}

void sampler_settle(struct sampler *sampler, const struct stream *stream, const struct entry *entry)
{
	const struct dlprof_event *batch = &entry->batch;
	const uint64_t load_end_ns = entry->load.begin_ns + entry->load.duration_ns;
	const uint64_t begin_ns = batch->begin_ns, end_ns = begin_ns + batch->duration_ns;
	const int64_t loader_id = stream->loader_id, workers = stream->place.workers;
	const uint64_t sample_ns =
		batch->batch.sample_ns == UINT64_MAX ? 0 : batch->batch.sample_ns;
	uint64_t ready_ns = end_ns, sampled_ns, free_ns = within(0, EXPIRE_NS, entry->free_ns);
	uint32_t tid;
	bool is_first;

	if (!sampler)
		return;
	if (entry->loaded)
		claim(sampler, entry->loader.pid,
		      tid_of(&entry->load_held, stream->key & DLPROF_STREAM_LOCAL
							? stream->tid
							: (uint32_t)entry->loader.pid),
		      entry->load.begin_ns, load_end_ns, BOOKING_LOADS, LINE_LOAD, loader_id);
	if (!entry->delivered || batch->flags & DLPROF_FLAG_NESTED)
		return;
	tid = batch->flags & DLPROF_FLAG_POOL ? (uint32_t)stream->consumer.pid
					      : tid_of(&entry->batch_held, stream->tid);
	if (batch->flags & DLPROF_FLAG_STEP) {
		claim(sampler, stream->consumer.pid, tid, begin_ns, end_ns, BOOKING_FREE, LINE_STEP,
		      loader_id);
		return;
	}
	/* Waits for workers' first batches count as epoch start (analysis/account/account.h). */
	is_first = batch->batch.ordinal < (uint64_t)(workers > 0 ? workers : 1);
	if (entry->loaded && workers != 0)
		ready_ns = within(begin_ns, end_ns, load_end_ns);
	/* Indices are drawn at the start of a wait without workers, and at the end with workers. */
	if (workers == 0 && !is_first) {
		sampled_ns = within(begin_ns, end_ns, begin_ns + sample_ns);
		claim(sampler, stream->consumer.pid, tid, begin_ns, sampled_ns, BOOKING_WAITS,
		      LINE_SAMPLING, loader_id);
	} else if (!is_first) {
		sampled_ns = within(ready_ns, end_ns, end_ns - sample_ns);
		claim(sampler, stream->consumer.pid, tid, sampled_ns, end_ns, BOOKING_WAITS,
		      LINE_SAMPLING, loader_id);
	}
	claim(sampler, stream->consumer.pid, tid, begin_ns, ready_ns, BOOKING_WAITS,
	      is_first ? LINE_EPOCH_START : LINE_NOT_READY, loader_id);
	claim(sampler, stream->consumer.pid, tid, ready_ns, end_ns, BOOKING_WAITS,
	      is_first ? LINE_EPOCH_START : LINE_RECEIVING, loader_id);
	claim(sampler, stream->consumer.pid, tid, end_ns, end_ns + free_ns, BOOKING_FREE,
	      is_first ? LINE_EPOCH_START : LINE_RECEIVING, loader_id);
	if (entry->stepped)
		settle_step(sampler, stream, entry, tid, end_ns + free_ns);
}

static int tell_doing(struct sampler *sampler, struct target *target, struct writer *writer,
		      uint64_t now)
{
	const bool stays = now - target->moved_ns > DOING_NS && target->stack != SEEN_NONE;
	struct doing_row row = {
		.pid = target->pid,
		.worker_id = target->segment->joined.worker_id,
		.since_ns = (int64_t)target->moved_ns,
		.seen_ns = (int64_t)target->seen_ns,
		.role = line_role_names[target_loads(target) ? LINE_ROLE_WORKER : LINE_ROLE_MAIN],
		.frames = "",
	};
	int r = 0;

	if ((!stays && !target->is_told) || (stays && now - target->told_ns < DOING_NS) ||
	    (stays && target->seen_ns <= target->moved_ns))
		return 0;
	if (stays)
		r = seen_text(sampler->seen, target->stack, writer, &row.frames);
	if (r == 0)
		r = writer_doing(writer, &row);
	target->is_told = stays;
	target->told_ns = now;
	return r;
}

/* Says whom Yama lets read memory: only ancestors (1), only root (2), or nobody (3). */
static const char *scope_words(void)
{
	char scope[8];

	if (!process_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope)) ||
	    scope[0] == '0')
		return "";
	return scope[0] == '1' ? " (its ptrace_scope is 1)"
			       : " (its ptrace_scope is 2 or 3; 1 would do)";
}

static int tell_state(struct sampler *sampler, struct writer *writer)
{
	const enum reason reason = sampler->targets.reason;
	char text[120] = "observed";

	if (!sampler->targets.is_observed && !reason)
		return 0;
	if (!sampler->targets.is_observed)
		snprintf(text, sizeof(text), "not observed: %s%s", reason_text(reason),
			 reason == REASON_DENIED ? scope_words() : "");
	if (strcmp(text, sampler->said) == 0)
		return 0;
	strcpy(sampler->said, text);
	return writer_meta(writer, META_LINES, text);
}

int sampler_write(struct sampler *sampler, struct writer *writer, bool is_last)
{
	uint64_t now = now_ns();
	int r;

	if (!sampler)
		return 0;
	if (is_last || now > EXPIRE_NS)
		booking_expire(sampler->booking, is_last ? UINT64_MAX : now - EXPIRE_NS);
	r = booking_write(sampler->booking, sampler->seen, writer);
	if (r == 0)
		r = tell_state(sampler, writer);
	for (size_t i = 0; r == 0 && i < sampler->targets.count; i++)
		if (sampler->targets.list[i].segment)
			r = tell_doing(sampler, &sampler->targets.list[i], writer, now);
	return r;
}

void sampler_written(struct sampler *sampler)
{
	if (sampler)
		booking_written(sampler->booking);
}

void sampler_rewind(struct sampler *sampler)
{
	if (!sampler)
		return;
	*sampler->said = 0;
	seen_forget_ids(sampler->seen);
	sampler_follow(sampler, NULL, 0);
}
