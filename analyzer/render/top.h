/* SPDX-License-Identifier: Apache-2.0 */
/* top.h - how a run goes now: its newest batches, for people and for programs. */
#pragma once

#include "analysis/cause.h"
#include "analysis/stall.h"
#include "render/page.h"
#include "store/batch.h"
#include "store/lines.h"
#include "store/timeline.h"

#define TOP_WORKERS 256

struct top_worker {
	int64_t load_count;
	double load_ns;  /* sum */
	int64_t last_ns; /* the newest load */
};

struct top {
	const char *path;
	bool live;
	const struct run_info *run;
	int64_t loader_id, loader_count;
	int64_t epoch, batch; /* the newest */
	int64_t since_ns;     /* since it was handed out; QUERY_UNKNOWN: the run is over */
	size_t window;        /* so many of the newest batches are judged */
	double batches_per_s; /* over them; NAN: one batch is no rate */
	double queue_mean;    /* finished batches that wait; NAN: not observed */
	int64_t queue_now;
	struct batch_series series; /* of them those that are shown as cells */
	struct finding finding;
	struct diagnosis diagnosis;
	struct top_worker workers[TOP_WORKERS];
	int64_t worker_count; /* the highest that was seen, + 1 */
	struct line_samples samples;
	struct doing *stuck; /* processes that have been at one place for long */
	size_t stuck_count;
};

/* Of a run without a batch only what is stuck. 0 or -ENOMEM. */
int top_text(const struct top *top, const struct page *page);

/* `dlprof.top/2` */
void top_json(const struct top *top, FILE *out);
