/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_facts.h - facts about the loads of a run other than how long they took: what they waited
 * for, how much they read for each byte of a batch, and which processes and threads made them.
 *
 * All figures are of the whole run, all loaders together. A figure of NAN, or a count of 0, was not
 * observed.
 */
#pragma once

#include <math.h>
#include <stddef.h>

#define LOAD_FACTS_PEER 96 /* bytes of a peer's name */
#define LOAD_FACTS_COMM 16
#define LOAD_FACTS_MOST 8 /* largest number of entries of `peers` and of `threads` */

/* What blocked a thread while it made a load. */
enum load_wait_kind {
	LOAD_WAIT_ASLEEP, /* blocked in sleep(), nanosleep() and the like */
	LOAD_WAIT_LOCK,   /* blocked in semaphores and file locks, which other processes may hold */
	LOAD_WAIT_THREAD, /* blocked in conditions and joins: waits for a thread of the same
			   * process */
	LOAD_WAIT_SOCKET, /* blocked in recv(), or in poll() for a socket */
	LOAD_WAIT_PIPE,   /* blocked in read() or poll() of a pipe or a terminal */
	LOAD_WAIT_OTHER,
	LOAD_WAIT_MAX
};

/* The other side of a socket or a pipe: "10.0.0.7:443", "/run/data.sock", "pipe", a lock's path. */
struct load_peer {
	enum load_wait_kind kind;
	char name[LOAD_FACTS_PEER];
	double ns;    /* time that loads were blocked waiting for this peer */
	double bytes; /* bytes received from this peer */
	double count; /* number of waits for this peer */
};

/* A thread of the training's process, other than the thread that takes the batches. */
struct load_thread {
	char name[LOAD_FACTS_COMM]; /* name of the thread, as the kernel has it */
	double cpu_ns;
};

struct load_facts {
	double load_ns;                /* sum of the lengths of all loads */
	double wait_ns[LOAD_WAIT_MAX]; /* part of load_ns that was blocked, by what blocked it */
	double no_core_ns;     /* part of load_ns in which threads could have run but had no core */
	struct load_peer peers[LOAD_FACTS_MOST]; /* peers with the longest waits first */
	size_t peer_count;

	double tensors;     /* mean number of tensors in a batch */
	double batch_bytes; /* mean size of a batch */
	double read_per_byte,
		inflated_per_byte; /* bytes read (or made by inflating) for each byte of a batch */
	double decoded_per_byte;   /* decoded bytes (three a pixel) for each byte of a batch */
	double images_per_sample;  /* decoded images for each sample; NAN if several loaders */
	double opens_per_sample;

	/* The rest is about the worker processes or, without workers, the training's process. */
	double runnable_threads; /* mean runnable threads of a process during loads */
	double cores_allowed;    /* size of the smallest CPU mask of any of these processes */
	double private_begin_bytes, private_end_bytes; /* mean private memory of a process at its
							* first and last sample */
	double major_faults;                           /* sum over these processes; each read from a
							* device */
	double swapped_bytes;                 /* sum over these processes when it was highest */

	struct load_thread threads[LOAD_FACTS_MOST]; /* threads with the most CPU time first */
	size_t thread_count;
	double main_cpu_ns; /* CPU time of the thread that takes the batches, over the same time */
};

/* Load facts of which none was observed. */
#define LOAD_FACTS_UNKNOWN                                                                         \
	((struct load_facts){                                                                      \
		.load_ns = NAN,                                                                    \
		.wait_ns = {[0 ... LOAD_WAIT_MAX - 1] = NAN},                                      \
		.no_core_ns = NAN,                                                                 \
		.tensors = NAN,                                                                    \
		.batch_bytes = NAN,                                                                \
		.read_per_byte = NAN,                                                              \
		.inflated_per_byte = NAN,                                                          \
		.decoded_per_byte = NAN,                                                           \
		.images_per_sample = NAN,                                                          \
		.opens_per_sample = NAN,                                                           \
		.runnable_threads = NAN,                                                           \
		.cores_allowed = NAN,                                                              \
		.private_begin_bytes = NAN,                                                        \
		.private_end_bytes = NAN,                                                          \
		.major_faults = NAN,                                                               \
		.swapped_bytes = NAN,                                                              \
		.main_cpu_ns = NAN,                                                                \
	})
