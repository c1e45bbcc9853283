/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - writes the events of trace.sql as Chrome trace events, in lanes without overlaps. A
 * slice that begins before its lane's last one has ended loses its start.
 */
#pragma once

#include "render/form/jsonw.h"
#include "store/run/timeline.h"

struct trace_lane;

struct tracer {
	struct jsonw json;
	int64_t rank;
	int64_t base_ns;
	struct trace_lane *lanes;
	size_t lane_count;
	int64_t left_out_count;
	bool out_of_memory;
};

void trace_begin(struct tracer *trace, FILE *out, const struct run_info *run);

/* Begins the events of a run. The time `base_ns` of the run becomes 0. */
void trace_run(struct tracer *trace, const struct run_info *run, int64_t base_ns);
void trace_event(struct tracer *trace, const struct timeline_event *event);

/* Ends the trace. Returns 0, or -ENOMEM if events are missing. */
int trace_end(struct tracer *trace);
