/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - runs as Chrome's trace events, which ui.perfetto.dev and chrome://tracing open.
 * trace.sql makes the events; here they get their lanes. They are written as they come and none is
 * kept; each lane remembers only its last slice.
 *
 * A rank is a process, a lane a thread in it. Slices in a lane never overlap: one that begins
 * before the last ended is cut, or left out if nothing remains.
 */
#pragma once

#include "render/form/jsonw.h"
#include "store/run/timeline.h"

struct trace_lane;

struct tracer {
	struct jsonw json;
	int64_t rank;
	int64_t base_ns; /* time 0 of the trace */
	struct trace_lane *lanes;
	size_t lane_count;
	int64_t left_out_count;
	bool out_of_memory;
};

/* `run`: one of the following runs, which gives the trace its name. */
void trace_begin(struct tracer *trace, FILE *out, const struct run_info *run);

/* Further events belong to this run; `base_ns` on its clock is time 0 of the trace. */
void trace_run(struct tracer *trace, const struct run_info *run, int64_t base_ns);
void trace_event(struct tracer *trace, const struct timeline_event *event);

/* 0, or -ENOMEM: lanes are missing. */
int trace_end(struct tracer *trace);
