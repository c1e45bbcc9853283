/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - writes runs as Chrome's trace events, for ui.perfetto.dev and chrome://tracing.
 * trace.sql makes the events; this module assigns their lanes. Events are written one by one and
 * not stored; of each lane, only the last slice is remembered.
 *
 * A rank is shown as a process, and a lane as a thread in it. Slices of a lane never overlap: a
 * slice that begins before the last one ended is cut, or left out if nothing is left.
 */
#pragma once

#include "render/form/jsonw.h"
#include "store/run/timeline.h"

struct trace_lane;

struct tracer {
	struct jsonw json;
	int64_t rank;
	int64_t base_ns; /* time on the run's clock that becomes 0 in the trace */
	struct trace_lane *lanes;
	size_t lane_count;
	int64_t left_out_count;
	bool out_of_memory;
};

/* Begins a trace and names it after `run`, one of its runs. */
void trace_begin(struct tracer *trace, FILE *out, const struct run_info *run);

/* Begins the events of a run. `base_ns` on its clock becomes time 0 of the trace. */
void trace_run(struct tracer *trace, const struct run_info *run, int64_t base_ns);
void trace_event(struct tracer *trace, const struct timeline_event *event);

/* Ends the trace. Returns 0, or -ENOMEM if events are missing. */
int trace_end(struct tracer *trace);
