/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - writes Chrome's trace events, made by trace.sql, in lanes whose slices never overlap:
 * one that begins before the last ended is cut.
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

/* `base_ns` on the run's clock becomes time 0. */
void trace_run(struct tracer *trace, const struct run_info *run, int64_t base_ns);
void trace_event(struct tracer *trace, const struct timeline_event *event);

/* Returns 0, or -ENOMEM if events are missing. */
int trace_end(struct tracer *trace);
