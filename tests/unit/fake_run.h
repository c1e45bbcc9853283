/* SPDX-License-Identifier: Apache-2.0 */
/* fake_run.h - a run as processes would have left it: a folder of segments linked to a database. */
#pragma once

#include "dlprof/segment.h"

struct fake_run {
	char root[64];		/* folder of all files */
	char folder[96];
	char database[96];
};

void fake_run_make(struct fake_run *run);
void fake_run_remove(struct fake_run *run);

/* Makes a segment and maps it until the test ends; `pid` is in its header and its name. */
struct dlprof_segment *fake_run_segment(const struct fake_run *run, int32_t pid, uint32_t flags);

/* Returns a pid that no process has. */
int32_t fake_run_dead_pid(void);

void fake_run_push(struct dlprof_segment *segment, const struct dlprof_event *event);

#define MS UINT64_C(1000000)
#define FAKE_STREAM UINT64_C(4711)

/* Make records; a batch has the number of its task. */
struct dlprof_event fake_epoch(uint32_t loader, uint32_t epoch, int32_t workers,
			       uint32_t generation, uint64_t begin_ms);
struct dlprof_event fake_load(int32_t worker, uint32_t generation, uint32_t task,
			      uint64_t begin_ms, uint64_t length_ms);
struct dlprof_event fake_batch(uint32_t generation, uint32_t task, uint64_t begin_ms,
			       uint64_t wait_ms);
struct dlprof_event fake_stop(uint32_t generation, uint64_t begin_ms);

/* Queries the run's database; returns the first column of the first row, -1 for NULL. */
long long fake_run_ask(const struct fake_run *run, const char *sql);
