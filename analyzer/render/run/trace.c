/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS     16
#define MOST_LANES 20000 /* only a damaged database has more */

struct trace_lane {
	char *name;
	int64_t level; /* depth of nesting in lanes of this name; 0: outermost */
	int64_t begin_ns, end_ns;
};

static void open_event(struct tracer *trace, const char *phase, int64_t lane)
{
	struct jsonw *json = &trace->json;

	jsonw_open(json, NULL, '{');
	jsonw_string(json, "ph", phase);
	jsonw_int(json, "pid", trace->rank);
	if (lane >= 0)
		jsonw_int(json, "tid", lane);
}

static void put_fact(struct tracer *trace, int64_t lane, const char *what, const char *text,
		     int64_t number)
{
	struct jsonw *json = &trace->json;

	open_event(trace, "M", lane);
	jsonw_string(json, "name", what);
	jsonw_open(json, "args", '{');
	if (text)
		jsonw_string(json, "name", text);
	else
		jsonw_int(json, "sort_index", number);
	jsonw_close(json, '}');
	jsonw_close(json, '}');
}

/* Returns the number of a lane, which is made if it is new; -1: no room. */
static int64_t find_lane(struct tracer *trace, const char *name, int64_t level, int64_t at)
{
	struct trace_lane *lanes = trace->lanes;
	int64_t number;

	/* Search from the end, since the oldest lanes get no more events. */
	for (size_t i = trace->lane_count; i-- > 0;)
		if (lanes[i].level == level && strcmp(lanes[i].name, name) == 0)
			return (int64_t)i + 1;
	if (trace->lane_count == MOST_LANES)
		return -1;
	lanes = reallocarray(lanes, trace->lane_count + 1, sizeof(*lanes));
	if (lanes) {
		trace->lanes = lanes;
		lanes += trace->lane_count;
		*lanes = (struct trace_lane){strdup(name), level, INT64_MIN, INT64_MIN};
	}
	if (!lanes || !lanes->name) {
		trace->out_of_memory = true;
		return -1;
	}
	number = (int64_t)++trace->lane_count;
	put_fact(trace, number, "thread_name", name, 0);
	put_fact(trace, number, "thread_sort_index", NULL, at);
	return number;
}

static int64_t find_level(struct tracer *trace, const struct timeline_event *event)
{
	int64_t lane = -1;

	for (int64_t level = 0; level < LEVELS; level++) {
		lane = find_lane(trace, event->lane, level, event->at);
		if (lane < 0 || trace->lanes[lane - 1].end_ns <= event->begin_ns)
			break;
	}
	return lane;
}

static void put_event(struct tracer *trace, const char *phase, int64_t lane, int64_t begin_ns,
		      int64_t ns, const char *members)
{
	open_event(trace, phase, lane);
	jsonw_us(&trace->json, "ts", begin_ns - trace->base_ns);
	if (*phase == 'X')
		jsonw_us(&trace->json, "dur", ns);
	jsonw_members(&trace->json, members);
	jsonw_close(&trace->json, '}');
}

/* Writes the part of an event that comes after its lane's last slice; false: there is none. */
static bool put_slice(struct tracer *trace, int64_t number, const struct timeline_event *event)
{
	struct trace_lane *lane = number < 0 ? NULL : &trace->lanes[number - 1];
	int64_t begin_ns = event->begin_ns, end_ns;

	if (!lane)
		return false;
	lane->begin_ns = INT64_MAX; /* nothing is written within a slice that is left out */
	if (event->ns < 0 || __builtin_add_overflow(begin_ns, event->ns, &end_ns) ||
	    end_ns < lane->end_ns || (event->ns > 0 && end_ns == lane->end_ns))
		return false;
	if (begin_ns < lane->end_ns)
		begin_ns = lane->end_ns;
	lane->begin_ns = begin_ns;
	lane->end_ns = end_ns;
	put_event(trace, "X", number, begin_ns, end_ns - begin_ns, event->members);
	return true;
}

static void put_within(struct tracer *trace, int64_t number, const struct timeline_event *event)
{
	const struct trace_lane *lane = number < 0 ? NULL : &trace->lanes[number - 1];
	int64_t end_ns;

	if (lane && event->begin_ns >= lane->begin_ns &&
	    !__builtin_add_overflow(event->begin_ns, event->ns, &end_ns) && end_ns <= lane->end_ns)
		put_event(trace, "X", number, event->begin_ns, event->ns, event->members);
}

void trace_event(struct tracer *trace, const struct timeline_event *event)
{
	const bool is_nested = strcmp(event->kind, "nested") == 0;
	const bool is_slice = is_nested || strcmp(event->kind, "slice") == 0;
	const bool is_within = strcmp(event->kind, "within") == 0;
	int64_t lane = -1, unused;

	if (event->begin_ns == UNKNOWN ||
	    ((is_slice || is_within) && event->ns == UNKNOWN))
		return;
	if (__builtin_sub_overflow(event->begin_ns, trace->base_ns, &unused)) {
		trace->left_out_count += is_slice;
		return;
	}
	if (event->lane)
		lane = is_nested ? find_level(trace, event)
				 : find_lane(trace, event->lane, 0, event->at);
	if (is_slice)
		trace->left_out_count += !put_slice(trace, lane, event);
	else if (is_within)
		put_within(trace, lane, event);
	else if (!event->lane)
		put_event(trace, "C", lane, event->begin_ns, 0, event->members);
	else if (lane > 0)
		put_event(trace, "i", lane, event->begin_ns, 0, event->members);
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

static void forget_lanes(struct tracer *trace)
{
	while (trace->lane_count)
		free(trace->lanes[--trace->lane_count].name);
}

void trace_run(struct tracer *trace, const struct run_info *run, int64_t base_ns)
{
	char name[200];

	forget_lanes(trace);
	trace->rank = run->rank;
	trace->base_ns = base_ns;
	snprintf(name, sizeof(name), "rank %" PRId64 "%s%s", run->rank, run->host ? " @ " : "",
		 run->host ? run->host : "");
	put_fact(trace, -1, "process_name", name, 0);
	put_fact(trace, -1, "process_sort_index", NULL, run->rank);
}

int trace_end(struct tracer *trace)
{
	jsonw_close(&trace->json, ']');
	jsonw_close(&trace->json, '}');
	forget_lanes(trace);
	free(trace->lanes);
	trace->lanes = NULL;
	return trace->out_of_memory ? -ENOMEM : 0;
}
