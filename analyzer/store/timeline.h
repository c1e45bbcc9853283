/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - what happened when: one row after the other in the order of time, none of which is
 * kept. Functions return 0, a negative errno (db.h), or what stopped them.
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdint.h>

#include "store/run.h"

/* QUERY_UNKNOWN where not observed. The columns are those of t_batch. */
#define TIMELINE_COLUMNS(X)                                                                        \
	X(loader_id)                                                                               \
	X(epoch)                                                                                   \
	X(batch)                                                                                   \
	X(begin_ns)                                                                                \
	X(wait_ns)                                                                                 \
	X(receive_ns)                                                                              \
	X(compute_ns)                                                                              \
	X(head_ready)                                                                              \
	X(qdepth)                                                                                  \
	X(hol_ns)                                                                                  \
	X(gpu_busy_ns)                                                                             \
	X(gpu_idle_wait_ns)                                                                        \
	X(worker_id)                                                                               \
	X(load_begin_ns)                                                                           \
	X(load_ns)                                                                                 \
	X(open_ns)                                                                                 \
	X(read_ns)                                                                                 \
	X(decode_ns)                                                                               \
	X(collate_ns)                                                                              \
	X(cpu_ns)                                                                                  \
	X(samples)                                                                                 \
	X(read_bytes)

struct timeline_batch {
#define X(name) int64_t name;
	TIMELINE_COLUMNS(X)
#undef X
};

/* Every delivered batch within the filter, in order of delivery. */
int timeline_batches(struct db *db, const struct batch_filter *filter,
		     int (*row)(const struct timeline_batch *batch, void *context), void *context);

/* The last `count` delivered batches of a loader, the newest first. */
int timeline_newest(struct db *db, int64_t loader_id, int64_t count,
		    int (*row)(const struct timeline_batch *batch, void *context), void *context);

#define TIMELINE_LOADERS 64

struct timeline_loader {
	int64_t loader_id, workers, prefetch_factor, in_order;
	int64_t newest_ns; /* when its newest batch was asked for; QUERY_UNKNOWN: there is none */
};

/* The first TIMELINE_LOADERS loaders, without a look at their batches but the newest. */
int timeline_loaders(struct db *db, struct timeline_loader *ret, size_t *ret_count);

enum timeline_kind {
	TIMELINE_EPOCH, /* an iterator was made; `pid` is its loader, `tid` its epoch */
	TIMELINE_SLOW,  /* a slow operation */
	TIMELINE_GAP,   /* the GPU was not recorded */
	TIMELINE_MARK,  /* dlprof_mark() */
	TIMELINE_RANGE, /* of NVTX; an outer one comes before those in it */
	TIMELINE_MAX
};

/* Strings are valid until the function that is called returns; they may be NULL. */
struct timeline_event {
	enum timeline_kind kind;
	int64_t begin_ns, ns, pid, tid;
	const char *class, *what;
};

/* Every event of that kind. */
int timeline_events(struct db *db, enum timeline_kind kind,
		    int (*row)(const struct timeline_event *event, void *context), void *context);

#endif
