/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/statistics/clamp.h"

#define LEVELS     16
#define MOST_LANES 20000 /* a damaged database could have any number */

enum lane_kind {
	LANE_TRAIN,    /* of a loader */
	LANE_WORKER,   /* of a loader, by worker */
	LANE_ITERATOR, /* of a loader */
	LANE_SLOW,     /* of a process, by thread and level: LEVELS each */
	LANE_GAP,
	LANE_MARK,
	LANE_RANGE, /* as well */
	LANE_KIND_MAX
};

struct trace_lane {
	enum lane_kind kind;
	int64_t of, index;
	int64_t end_ns; /* of its last slice */
};

static void open_event(struct tracer *trace, char phase, int64_t lane, const char *name)
{
	struct jsonw *json = &trace->json;
	const char text[] = {phase, '\0'};

	jsonw_open(json, NULL, '{');
	jsonw_string(json, "ph", text);
	jsonw_int(json, "pid", trace->rank);
	if (lane >= 0)
		jsonw_int(json, "tid", lane);
	jsonw_string(json, "name", name);
}

static void open_args(struct tracer *trace)
{
	jsonw_open(&trace->json, "args", '{');
}

/* Of the arguments, and of the event that they are of. */
static void close_args(struct tracer *trace)
{
	jsonw_close(&trace->json, '}');
	jsonw_close(&trace->json, '}');
}

/* How a process or a lane is called, and where it stands. */
static void put_name(struct tracer *trace, int64_t lane, const char *name, int64_t index)
{
	bool is_lane = lane >= 0;

	open_event(trace, 'M', lane, is_lane ? "thread_name" : "process_name");
	open_args(trace);
	jsonw_string(&trace->json, "name", name);
	close_args(trace);
	open_event(trace, 'M', lane, is_lane ? "thread_sort_index" : "process_sort_index");
	open_args(trace);
	jsonw_int(&trace->json, "sort_index", index);
	close_args(trace);
}

static void put_lane(struct tracer *trace, int64_t number, const struct trace_lane *lane)
{
	char name[96];

	switch (lane->kind) {
	case LANE_TRAIN:
		snprintf(name, sizeof(name), "loader %" PRId64 ": training", lane->of);
		break;
	case LANE_WORKER:
		if (lane->index == QUERY_UNKNOWN)
			snprintf(name, sizeof(name), "loader %" PRId64 ": loads", lane->of);
		else
			snprintf(name, sizeof(name), "loader %" PRId64 ": worker %" PRId64,
				 lane->of, lane->index);
		break;
	case LANE_ITERATOR:
		snprintf(name, sizeof(name), "loader %" PRId64 ": iterators", lane->of);
		break;
	case LANE_SLOW:
		snprintf(name, sizeof(name),
			 "slow operations of thread %" PRId64 " (process %" PRId64 ")",
			 lane->index / LEVELS, lane->of);
		break;
	case LANE_GAP:
		snprintf(name, sizeof(name), "GPU not recorded");
		break;
	case LANE_RANGE:
		snprintf(name, sizeof(name), "ranges of thread %" PRId64 " (process %" PRId64 ")",
			 lane->index / LEVELS, lane->of);
		break;
	case LANE_MARK:
	case LANE_KIND_MAX:
		snprintf(name, sizeof(name), "marks");
		break;
	}
	/* Training first, then its workers in their order, however they came up. */
	put_name(trace, number, name,
		 (lane->kind == LANE_TRAIN || lane->kind == LANE_WORKER
			  ? 1000 * (lane->of < 0      ? 0
				    : lane->of < 1000 ? lane->of
						      : 1000)
			  : 1000000) +
			 (lane->kind == LANE_WORKER && lane->index >= 0 && lane->index < 900
				  ? lane->index + 1
				  : 0));
}

/* Its number, or -1: there is no room. */
static int64_t find_lane(struct tracer *trace, enum lane_kind kind, int64_t of, int64_t index)
{
	struct trace_lane *lanes = trace->lanes;

	/* Newest first: finished lanes gather at the beginning. */
	for (size_t i = trace->lane_count; i-- > 0;)
		if (lanes[i].kind == kind && lanes[i].of == of && lanes[i].index == index)
			return (int64_t)i + 1;
	if (trace->lane_count == MOST_LANES)
		return -1;
	lanes = reallocarray(lanes, trace->lane_count + 1, sizeof(*lanes));
	if (!lanes) {
		trace->out_of_memory = true;
		return -1;
	}
	trace->lanes = lanes;
	lanes[trace->lane_count++] = (struct trace_lane){kind, of, index, INT64_MIN};
	put_lane(trace, (int64_t)trace->lane_count, &lanes[trace->lane_count - 1]);
	return (int64_t)trace->lane_count;
}

/*
 * Opens a slice that lies after the last one of its lane, as far as that leaves of it. The caller
 * adds arguments and calls close_slice(). False: nothing of it is to be written.
 */
static bool open_slice(struct tracer *trace, int64_t lane, const char *name, int64_t begin_ns,
		       int64_t ns, int64_t *ret_begin_ns)
{
	struct trace_lane *at;
	int64_t end_ns, from_ns;

	if (begin_ns == QUERY_UNKNOWN || ns == QUERY_UNKNOWN)
		return false;
	if (lane < 0 || ns < 0 || __builtin_add_overflow(begin_ns, ns, &end_ns) ||
	    __builtin_sub_overflow(begin_ns, trace->base_ns, &from_ns)) {
		trace->left_out_count++;
		return false;
	}
	at = &trace->lanes[lane - 1];
	if (begin_ns < at->end_ns)
		begin_ns = at->end_ns;
	if (end_ns < begin_ns || (ns > 0 && begin_ns == end_ns)) {
		trace->left_out_count++;
		return false;
	}
	at->end_ns = end_ns;
	open_event(trace, 'X', lane, name);
	jsonw_us(&trace->json, "ts", begin_ns - trace->base_ns);
	jsonw_us(&trace->json, "dur", end_ns - begin_ns);
	*ret_begin_ns = begin_ns;
	return true;
}

static void close_slice(struct tracer *trace)
{
	jsonw_close(&trace->json, '}');
}

static void put_known_int(struct jsonw *json, const char *key, int64_t value)
{
	if (value != QUERY_UNKNOWN)
		jsonw_int(json, key, value);
}

static void put_known_ns(struct jsonw *json, const char *key, int64_t ns)
{
	if (ns != QUERY_UNKNOWN)
		jsonw_ns(json, key, ns);
}

static void put_batch_args(struct jsonw *json, const struct batch_record *batch)
{
	put_known_int(json, "epoch", batch->epoch);
	put_known_int(json, "batch", batch->batch);
}

/* The last `ns` of what lies within [begin_ns, *end_ns), of which it then is no part any more. */
static void put_within(struct tracer *trace, int64_t lane, const char *name, int64_t begin_ns,
		       int64_t *end_ns, int64_t ns)
{
	if (ns <= 0 || ns > *end_ns - begin_ns)
		return;
	*end_ns -= ns;
	open_event(trace, 'X', lane, name);
	jsonw_us(&trace->json, "ts", *end_ns - trace->base_ns);
	jsonw_us(&trace->json, "dur", ns);
	close_slice(trace);
}

/*
 * Without workers samples are chosen first. Else a wait ends with receiving, its fetches at its end
 * here though the bytes come before and after, and then with choosing samples.
 */
static void put_parts(struct tracer *trace, int64_t lane, const struct batch_record *batch,
		      int64_t begin_ns)
{
	int64_t end_ns = batch->begin_ns + batch->wait_ns, sampled_ns;

	if (batch->worker_id == QUERY_UNKNOWN && batch->load_begin_ns >= batch->begin_ns) {
		if (!__builtin_add_overflow(begin_ns, batch->sample_ns, &sampled_ns) &&
		    sampled_ns <= end_ns)
			put_within(trace, lane, "sample", begin_ns, &sampled_ns, batch->sample_ns);
	} else {
		put_within(trace, lane, "sample", begin_ns, &end_ns, batch->sample_ns);
	}
	sampled_ns = end_ns;
	put_within(trace, lane, "receive", begin_ns, &end_ns, batch->receive_ns);
	if (batch->receive_ns > 0)
		put_within(trace, lane, "fetch", end_ns, &sampled_ns, batch->fetch_ns);
}

static void put_training(struct tracer *trace, const struct batch_record *batch)
{
	int64_t lane = find_lane(trace, LANE_TRAIN, batch->loader_id, 0), begin_ns, end_ns;
	struct jsonw *json = &trace->json;

	if (open_slice(trace, lane, batch->head_ready > 0 ? "wait (ready)" : "wait",
		       batch->begin_ns, batch->wait_ns, &begin_ns)) {
		open_args(trace);
		put_batch_args(json, batch);
		put_known_int(json, "worker", batch->worker_id);
		put_known_ns(json, "head_of_line_s", batch->hol_ns);
		put_known_ns(json, "sample_s", batch->sample_ns);
		put_known_ns(json, "fetch_s", batch->fetch_ns);
		put_known_int(json, "fetch_count", batch->fetch_count);
		put_known_ns(json, "free_s", batch->free_ns);
		put_known_ns(json, "gpu_idle_s", batch->gpu_idle_wait_ns);
		close_args(trace);
		put_parts(trace, lane, batch, begin_ns);
	}
	if (batch->begin_ns == QUERY_UNKNOWN || batch->wait_ns == QUERY_UNKNOWN ||
	    __builtin_add_overflow(batch->begin_ns, batch->wait_ns, &end_ns))
		return;
	if (batch->free_ns > 0 &&
	    open_slice(trace, lane, "free", end_ns, batch->free_ns, &begin_ns)) {
		close_slice(trace);
		end_ns = clamp_add(end_ns, batch->free_ns);
	}
	if (open_slice(trace, lane, "compute", end_ns, batch->compute_ns, &begin_ns)) {
		open_args(trace);
		put_batch_args(json, batch);
		close_args(trace);
	}
}

static void put_load(struct tracer *trace, const struct batch_record *batch)
{
	struct jsonw *json = &trace->json;
	int64_t lane, begin_ns;

	if (batch->load_begin_ns == QUERY_UNKNOWN || batch->load_ns == QUERY_UNKNOWN)
		return;
	lane = find_lane(trace, LANE_WORKER, batch->loader_id, batch->worker_id);
	if (!open_slice(trace, lane, "load", batch->load_begin_ns, batch->load_ns, &begin_ns))
		return;
	open_args(trace);
	put_batch_args(json, batch);
	put_known_ns(json, "open_s", batch->open_ns);
	put_known_ns(json, "read_s", batch->read_ns);
	put_known_ns(json, "decode_s", batch->decode_ns);
	put_known_ns(json, "collate_s", batch->collate_ns);
	put_known_ns(json, "cpu_s", batch->cpu_ns);
	put_known_int(json, "samples", batch->samples);
	put_known_int(json, "read_bytes", batch->read_bytes);
	close_args(trace);
}

static void put_counter(struct tracer *trace, const struct batch_record *batch, const char *what,
			double value)
{
	char name[64];
	int64_t unused;

	if (batch->begin_ns == QUERY_UNKNOWN ||
	    __builtin_sub_overflow(batch->begin_ns, trace->base_ns, &unused))
		return;
	snprintf(name, sizeof(name), "loader %" PRId64 ": %s", batch->loader_id, what);
	open_event(trace, 'C', -1, name);
	jsonw_us(&trace->json, "ts", batch->begin_ns - trace->base_ns);
	open_args(trace);
	jsonw_number(&trace->json, "value", value);
	close_args(trace);
}

void trace_batch(struct tracer *trace, const struct batch_record *batch)
{
	double step_ns = (double)batch->wait_ns + (double)batch->compute_ns;

	put_training(trace, batch);
	put_load(trace, batch);
	if (batch->qdepth >= 0)
		put_counter(trace, batch, "finished batches", (double)batch->qdepth);
	if (batch->gpu_busy_ns >= 0 && batch->wait_ns >= 0 && batch->compute_ns >= 0 && step_ns > 0)
		put_counter(trace, batch, "GPU busy", (double)batch->gpu_busy_ns / step_ns);
}

static void put_mark(struct tracer *trace, const struct timeline_event *event)
{
	int64_t lane = find_lane(trace, LANE_MARK, 0, 0), unused;

	if (lane < 0 || event->begin_ns == QUERY_UNKNOWN ||
	    __builtin_sub_overflow(event->begin_ns, trace->base_ns, &unused))
		return;
	open_event(trace, 'i', lane, event->what ? event->what : "");
	jsonw_us(&trace->json, "ts", event->begin_ns - trace->base_ns);
	jsonw_string(&trace->json, "s", "p");
	close_slice(trace);
}

/* The first level of its thread that is free by then, so that what is nested lies below. */
static int64_t find_level(struct tracer *trace, enum lane_kind kind,
			  const struct timeline_event *event)
{
	int64_t lane = -1, tid = event->tid >= 0 && event->tid <= INT32_MAX ? event->tid : 0;

	for (int level = 0; level < LEVELS; level++) {
		lane = find_lane(trace, kind, event->pid, tid * LEVELS + level);
		if (lane < 0 || trace->lanes[lane - 1].end_ns <= event->begin_ns)
			break;
	}
	return lane;
}

static void put_range(struct tracer *trace, const struct timeline_event *event)
{
	int64_t lane = find_level(trace, LANE_RANGE, event), begin_ns;

	if (open_slice(trace, lane, event->what && *event->what ? event->what : "range",
		       event->begin_ns, event->ns, &begin_ns))
		close_slice(trace);
}

static void put_slow(struct tracer *trace, const struct timeline_event *event)
{
	int64_t lane = find_level(trace, LANE_SLOW, event), begin_ns;

	if (!open_slice(trace, lane, event->class ? event->class : "operation", event->begin_ns,
			event->ns, &begin_ns))
		return;
	open_args(trace);
	jsonw_string(&trace->json, "what", event->what);
	close_args(trace);
}

void trace_event(struct tracer *trace, const struct timeline_event *event)
{
	int64_t begin_ns;

	switch (event->kind) {
	case TIMELINE_EPOCH:
		if (open_slice(trace, find_lane(trace, LANE_ITERATOR, event->pid, 0),
			       "make iterator", event->begin_ns, event->ns, &begin_ns)) {
			open_args(trace);
			put_known_int(&trace->json, "epoch", event->tid);
			close_args(trace);
		}
		break;
	case TIMELINE_SLOW:
		put_slow(trace, event);
		break;
	case TIMELINE_GAP:
		if (open_slice(trace, find_lane(trace, LANE_GAP, 0, 0),
			       event->what ? event->what : "gap", event->begin_ns, event->ns,
			       &begin_ns))
			close_slice(trace);
		break;
	case TIMELINE_MARK:
		put_mark(trace, event);
		break;
	case TIMELINE_RANGE:
		put_range(trace, event);
		break;
	case TIMELINE_MAX:
		break;
	}
}

void trace_begin(struct tracer *trace, FILE *out, const struct run_info *run)
{
	*trace = (struct tracer){.base_ns = 0};
	jsonw_init(&trace->json, out);
	jsonw_open(&trace->json, NULL, '{');
	jsonw_string(&trace->json, "displayTimeUnit", "ms");
	jsonw_open(&trace->json, "otherData", '{');
	jsonw_string(&trace->json, "schema", "dlprof.trace/1");
	jsonw_string(&trace->json, "id", run->id);
	jsonw_string(&trace->json, "command", run->command);
	jsonw_string(&trace->json, "clock", run->clock);
	jsonw_close(&trace->json, '}');
	jsonw_open(&trace->json, "traceEvents", '[');
}

void trace_run(struct tracer *trace, const struct run_info *run, int64_t base_ns)
{
	char name[200];

	trace->rank = run->rank;
	trace->base_ns = base_ns;
	trace->lane_count = 0;
	snprintf(name, sizeof(name), "rank %" PRId64 "%s%s", run->rank, run->host ? " @ " : "",
		 run->host ? run->host : "");
	put_name(trace, -1, name, run->rank);
}

int trace_end(struct tracer *trace)
{
	jsonw_close(&trace->json, ']');
	jsonw_close(&trace->json, '}');
	free(trace->lanes);
	trace->lanes = NULL;
	return trace->out_of_memory ? -ENOMEM : 0;
}
