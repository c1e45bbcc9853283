/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - writes runs as Chrome's trace events, for ui.perfetto.dev and chrome://tracing.
 * trace.sql makes the events; this module gives them lanes. Events are written as they come and not
 * stored; each lane remembers only its last slice.
 *
 * A rank is shown as a process, a lane as a thread in it. Slices in a lane never overlap: one that
 * begins before the last ended is cut, or left out if nothing remains.
 */
#pragma once

#include "render/form/jsonw.h"
#include "store/run/timeline.h"

struct trace_lane;

struct tracer {
	struct jsonw json;
	int64_t rank;
	int64_t base_ns; /* time on the run's clock that is 0 in the trace */
	struct trace_lane *lanes;
	size_t lane_count;
	int64_t left_out_count;
	bool out_of_memory;
};

/* Begins a trace; `run` is one of its runs, and names it. */
void trace_begin(struct tracer *trace, FILE *out, const struct run_info *run);

/* Begins the events of a run; `base_ns` on its clock is time 0 of the trace. */
void trace_run(struct tracer *trace, const struct run_info *run, int64_t base_ns);
void trace_event(struct tracer *trace, const struct timeline_event *event);

/* Ends the trace. Returns 0 or -ENOMEM: events are missing. */
int trace_end(struct tracer *trace);
