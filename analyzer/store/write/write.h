/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - writes what the drain found.
 *
 * A row may be written twice: if a drain is killed, the next one reads again what was not released.
 * UNKNOWN becomes NULL. Strings may be NULL. schema.sql explains the members of rows.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/database/columns.h"
#include "store/database/db.h"
#include "store/database/meta.h"
#include "store/database/run.h"

struct writer;

int writer_open(struct db *db, struct writer **ret_writer);
void writer_close(struct writer *writer);

int writer_meta(struct writer *writer, enum meta key, const char *value);
int writer_meta_number(struct writer *writer, enum meta key, int64_t value);

int writer_meta_noted(struct writer *writer, const char *key, const char *value);

/* A row's struct has numbers, then texts, in the order of its statement's parameters. */
struct process_row {
	int64_t pid, life_ns, ppid, worker_id, loader_id, stream, start_ns, end_ns;
	int64_t exit_status;
	const char *role;
	const char *exit;
	const char *command;
};

int writer_process(struct writer *writer, const struct process_row *row);

struct use_row {
	int64_t pid, life_ns, runnable_milli, cores_allowed, private_begin_bytes, private_end_bytes,
		major_faults, swapped_bytes;
};

int writer_use(struct writer *writer, const struct use_row *row);

struct thread_row {
	int64_t pid, tid, cpu_ns;
	const char *name;
};

int writer_thread(struct writer *writer, const struct thread_row *row);
int writer_no_threads(struct writer *writer, int64_t pid);

struct loader_row {
	int64_t pid, number, workers, prefetch_factor, in_order, lacks_order, persistent,
		batch_size;
	const char *kind;
};

/* Finds loader `number` of a process, or adds it with a new id. */
int writer_loader(struct writer *writer, const struct loader_row *row, int64_t *ret_loader_id);

struct epoch_row {
	int64_t loader_id, epoch, begin_ns, setup_ns, stream, generation, tid, nested, sample_ns;
};

int writer_epoch(struct writer *writer, const struct epoch_row *row);

struct epoch_seen {
	int64_t tid, nested, stop_begin_ns, stop_ns;
	int64_t save_ns;
};

int writer_epoch_seen(struct writer *writer, int64_t loader_id, int64_t epoch,
		      const struct epoch_seen *seen);

/* Writes where the program makes loader `number` of a process: "train.py:41 in main". */
int writer_place(struct writer *writer, int64_t pid, int64_t number, const char *place);

/* Finds the epoch of a stream and generation. -ENOENT: there is none. */
int writer_find_epoch(struct writer *writer, uint64_t stream, uint32_t generation,
		      int64_t *ret_loader_id, int64_t *ret_epoch, int64_t *ret_in_order);

struct batch_values {
#define X(name) int64_t name;
	BATCH_COLUMNS(X)
#undef X
};

static inline void batch_values_init(struct batch_values *values)
{
#define X(name) values->name = UNKNOWN;
	BATCH_COLUMNS(X)
#undef X
}

int writer_batch(struct writer *writer, const struct batch_values *values);

struct made_row {
	int64_t loader_id, epoch, task, tensor_count, batch_bytes, object_count;
};

int writer_made(struct writer *writer, const struct made_row *row);

/* parent: number of the stage that takes this one's elements */
struct stage_row {
	int64_t pid, number, parent, kernel, root, autotuned, parallel, capacity, threads;
	const char *name, *kind;
};

int writer_stage(struct writer *writer, const struct stage_row *row);

struct stage_sum_row {
	int64_t pid, number, begin_ns, window_ns, loader_id, epoch, elements, busy_ns, own_ns,
		cpu_ns, read_ns, ready;
};

/* Writes what stage `number` of a process did. Makes the stage's row if there is none yet. */
int writer_stage_sum(struct writer *writer, const struct stage_sum_row *row);

/* writer_gpu_step() completes the row of the batch, which must exist. */
struct gpu_values {
	int64_t loader_id, epoch, task;
#define X(name) int64_t name;
	BATCH_GPU(X)
	GPU_STEP_COLUMNS(X)
#undef X
};

void gpu_values_init(struct gpu_values *values);
int writer_gpu_step(struct writer *writer, const struct gpu_values *values);

struct gpu_device_row {
	int64_t loader_id, epoch, task, device, fed, busy_ns, idle_wait_ns, kernel_count,
		graph_count, h2d_bytes, peer_bytes;
};

int writer_gpu_device(struct writer *writer, const struct gpu_device_row *row);

struct gpu_call_values {
	int64_t loader_id, epoch, task;
#define X(name) int64_t name;
	GPU_CALL_COLUMNS(X)
#undef X
};

int writer_gpu_call(struct writer *writer, const struct gpu_call_values *values);

struct gpu_part_values {
	int64_t loader_id, epoch, task;
#define X(name) int64_t name;
	GPU_PART_COLUMNS(X)
#undef X
};

int writer_gpu_part(struct writer *writer, const struct gpu_part_values *values);

/* Deletes GPU rows of steps that overlap [begin_ns, end_ns). *ret_any: there were some. */
int writer_no_gpu(struct writer *writer, int64_t pid, int64_t begin_ns, int64_t end_ns,
		  bool *ret_any);

/* Adds the name of a kernel. `symbol`: the name as mangled by the compiler. */
int writer_kernel(struct writer *writer, int64_t id, const char *symbol, const char *name);

/* Adds or changes a gap; end_ns UNKNOWN: it lasts. Deletes the gap if end_ns <= begin_ns. */
int writer_gap(struct writer *writer, int64_t pid, int64_t begin_ns, int64_t end_ns,
	       const char *why);

struct slow_row {
	int64_t ts_ns, pid, tid, ns;
	const char *class;
	const char *what;
};

struct tally_row {
	int64_t slot, place, class, count, ns, bytes, pixels, slowest_ns, error_ns;
	const char *segment, *kind, *name, *detail;
};

int writer_live(struct writer *writer, const struct tally_row *row);

/*
 * Add the tallies of a process that has ended to t_total. writer_total() adds `row`. writer_fold()
 * adds the row of t_live with the segment, slot and place of `row`. writer_folded() then deletes
 * the segment's rows of t_live. From then on writer_is_folded() finds true.
 */
int writer_total(struct writer *writer, const struct tally_row *row);
int writer_fold(struct writer *writer, const struct tally_row *row);
int writer_folded(struct writer *writer, const char *segment);
int writer_is_folded(struct writer *writer, const char *segment, bool *ret_folded);

int writer_unlisted(struct writer *writer, const char *kind, int64_t ns);

int writer_trim(struct writer *writer, const char *kind, int64_t keep_count);

int writer_slow(struct writer *writer, const struct slow_row *row);
/* Adds the stack of a slow operation. *ret_found: the operation has a row. */
int writer_stack(struct writer *writer, int64_t ts_ns, int64_t tid, const char *text,
		 bool *ret_found);

/* Finds a frame, or adds the frame with a new id. */
int writer_frame(struct writer *writer, const char *file, const char *function, int64_t line,
		 int64_t *ret_id);

struct samples_row {
	int64_t loader_id, count, ns;
	const char *role, *phase, *frames;
};

int writer_samples(struct writer *writer, const struct samples_row *row);

struct doing_row {
	int64_t pid, worker_id, since_ns, seen_ns;
	const char *role, *frames;
};

int writer_doing(struct writer *writer, const struct doing_row *row);

int writer_loss(struct writer *writer, int64_t pid, const char *what, int64_t count);
int writer_note(struct writer *writer, const char *level, const char *text);
/* Adds a mark. `ns`: length of a range; UNKNOWN: the mark is a moment. */
int writer_mark(struct writer *writer, int64_t ts_ns, int64_t pid, int64_t tid, int64_t ns,
		const char *text);

/* Writes theta, the wait from which a batch is starved, when the run is over. */
int writer_theta(struct writer *writer, int64_t loader_id, int64_t theta_ns);
