/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - lists the columns of t_batch and of tables with the same key, as in schema.sql.
 *
 * KEY columns identify the row. SEEN columns are known when the batch is delivered, LOADED columns
 * when it is loaded.
 */
#pragma once

#define BATCH_KEY(X)                                                                               \
	X(loader_id)                                                                               \
	X(epoch)                                                                                   \
	X(task)

#define STEP_PARTS(X)                                                                              \
	X(before_ns)                                                                               \
	X(backward_ns)                                                                             \
	X(between_ns)                                                                              \
	X(optimizer_ns)                                                                            \
	X(save_ns)

#define BATCH_SEEN(X)                                                                              \
	X(batch)                                                                                   \
	X(begin_ns)                                                                                \
	X(wait_ns)                                                                                 \
	X(receive_ns)                                                                              \
	X(sample_ns)                                                                               \
	X(fetch_ns)                                                                                \
	X(fetch_cpu_ns)                                                                            \
	X(fetch_count)                                                                             \
	X(free_ns)                                                                                 \
	X(step_ns)                                                                                 \
	X(compute_ns)                                                                              \
	X(ready_ns)                                                                                \
	X(head_ready)                                                                              \
	X(qdepth)                                                                                  \
	X(hol_ns)                                                                                  \
	X(gpu_busy_ns)                                                                             \
	X(gpu_idle_wait_ns)                                                                        \
	X(transfer_ns)

#define BATCH_LOADED(X)                                                                            \
	X(worker_id)                                                                               \
	X(pid)                                                                                     \
	X(load_begin_ns)                                                                           \
	X(load_ns)                                                                                 \
	X(collate_ns)                                                                              \
	X(blocked_ns)                                                                              \
	X(cpu_ns)                                                                                  \
	X(samples)                                                                                 \
	X(open_count)                                                                              \
	X(open_ns)                                                                                 \
	X(read_count)                                                                              \
	X(read_bytes)                                                                              \
	X(read_ns)                                                                                 \
	X(storage_bytes)                                                                           \
	X(decode_count)                                                                            \
	X(decode_ns)                                                                               \
	X(decode_bytes)

#define BATCH_COPIED(X)                                                                            \
	X(h2d_ns)                                                                                  \
	X(h2d_bytes)

/* Columns known seconds after the delivery, when the GPU's records have come (see t_gpu_step). */
#define BATCH_GPU(X)                                                                               \
	BATCH_COPIED(X)                                                                            \
	X(gpu_busy_ns)                                                                             \
	X(gpu_idle_wait_ns)

#define GPU_STEP_COLUMNS(X)                                                                        \
	X(kernel_count)                                                                            \
	X(graph_count)                                                                             \
	X(memset_ns)                                                                               \
	X(d2h_ns)                                                                                  \
	X(d2h_bytes)                                                                               \
	X(h2d_pageable_bytes)                                                                      \
	X(nccl_ns)                                                                                 \
	X(gpu_compute_ns)                                                                          \
	X(gpu_loading_ns)                                                                          \
	X(sync_event_ns)                                                                           \
	X(sync_stream_ns)                                                                          \
	X(sync_context_ns)                                                                         \
	X(gap_data_ns)                                                                             \
	X(gap_h2d_ns)                                                                              \
	X(gap_sync_ns)                                                                             \
	X(gap_host_ns)                                                                             \
	X(gap_other_ns)

/* CUDA calls of the thread that trains; NULL if that thread is unknown. */
#define GPU_CALL_TRAINING(X)                                                                       \
	X(sync_ns)                                                                                 \
	X(copy_ns)                                                                                 \
	X(launch_ns)                                                                               \
	X(launch_count)

#define GPU_CALL_COLUMNS(X)                                                                        \
	GPU_CALL_TRAINING(X)                                                                       \
	X(other_sync_ns)                                                                           \
	X(other_copy_ns)                                                                           \
	X(other_launch_ns)                                                                         \
	X(other_launch_count)

/* gpu_parts_of_step() relies on this order, which is that of a step's parts. */
#define GPU_PART_COLUMNS(X)                                                                        \
	X(refill_ns)                                                                               \
	X(idle_before_ns) X(idle_backward_ns) X(idle_between_ns)                                   \
	X(idle_optimizer_ns) X(idle_after_ns)                                                      \
	X(launched_before_ns) X(launched_backward_ns) X(launched_between_ns)                       \
	X(launched_optimizer_ns) X(launched_after_ns)

#define BATCH_COLUMNS(X) BATCH_KEY(X) BATCH_SEEN(X) STEP_PARTS(X) BATCH_LOADED(X)

/* SQL for other_ns: the time of a load without its other parts, as in the view `load`. */
#define BATCH_OTHER_SQL                                                                            \
	"MAX(0, load_ns - IFNULL(open_ns, 0) - IFNULL(read_ns, 0) - IFNULL(decode_ns, 0)"          \
	" - IFNULL(collate_ns, 0))"

/* X(name, SQL that is summed over all loads). If this list changes, change PACK_MAGIC, too. */
#define LOAD_SUMS(X)                                                                               \
	X(load_ns, "load_ns")                                                                      \
	X(open_ns, "open_ns")                                                                      \
	X(read_ns, "read_ns")                                                                      \
	X(decode_ns, "decode_ns")                                                                  \
	X(collate_ns, "collate_ns")                                                                \
	X(other_ns, BATCH_OTHER_SQL)                                                               \
	X(cpu_ns, "cpu_ns")                                                                        \
	X(transfer_ns, "transfer_ns")                                                              \
	X(queue_ns, "ready_ns") /* from the load's end until next() asked for the batch */         \
	X(receive_ns, "receive_ns")                                                                \
	X(hol_ns, "hol_ns")                                                                        \
	X(open_count, "open_count")                                                                \
	X(read_count, "read_count")                                                                \
	X(read_bytes, "read_bytes")                                                                \
	X(storage_bytes, "storage_bytes")                                                          \
	X(samples, "samples")                                                                      \
	X(blocked_ns, "blocked_ns") /* part of other_ns: waits in locks, queues, sleep() */        \
	X(compute_ns, "compute_ns")                                                                \
	X(before_ns, "before_ns")                                                                  \
	X(backward_ns, "backward_ns")                                                              \
	X(between_ns, "between_ns")                                                                \
	X(optimizer_ns, "optimizer_ns")                                                            \
	X(save_ns, "save_ns")
