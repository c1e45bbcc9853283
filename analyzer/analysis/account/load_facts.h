/* SPDX-License-Identifier: Apache-2.0 */
/* load_facts.h - facts about the loads of all loaders. NAN, or a count of 0: not observed. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "dlprof/tally.h"

#define LOAD_FACTS_PEER 96
#define LOAD_FACTS_COMM 16
#define LOAD_FACTS_MOST 8
#define LOAD_FACTS_REOPENED 0.5 /* a file is reopened if a sample opens it at least this often */
#define LOAD_FACTS_OBJECTS 16384.0 /* counting the Python objects of a batch stops at this many */

enum load_wait_kind {
#define WAIT_KIND(id, name, meaning) LOAD_WAIT_##id,
#include "dlprof/wait_kinds.def"
#undef WAIT_KIND
	LOAD_WAIT_MAX
};

/* What loads waited for: a socket's other side ("10.0.0.7:443", "/run/data.sock"), a pipe ("pipe"
 * if loads read it, "pipe:[inode]" if they wrote to it), or the path of a lock. */
struct load_peer {
	enum load_wait_kind kind;
	char name[LOAD_FACTS_PEER];
	double ns;
	double bytes;
	double count;
};

/* Threads of the training's process other than the one that takes the batches. */
struct load_thread {
	char name[LOAD_FACTS_COMM];
	double cpu_ns;
};

struct load_facts {
	double load_ns;
	double wait_ns[LOAD_WAIT_MAX];
	double no_core_ns;
	double calls_ns; /* CPU time of reads and writes of pipes and sockets; NAN: little */

	double tensors;
	double batch_bytes;
	double objects; /* Python objects in a batch, counted up to LOAD_FACTS_OBJECTS */
	double read_per_byte, inflated_per_byte, received_per_byte;
	double decoded_per_byte;  /* decoded bytes (3 a pixel) for each byte of a batch */
	double images_per_sample; /* NAN if there are several loaders */
	/* standard deviation / mean of the images in a sample; NAN: batches differ in size */
	double images_spread;
	double fixed_ns;        /* time of transforms, if none of them is random; NAN: unknown */
	double loads_per_batch; /* loads for each batch that was taken; NAN: several loaders */
	double opens_per_sample;
	double reopens_per_sample; /* openings of the most opened file; NAN: several loaders */
	/* openings of all files that count as reopened; NAN: several loaders */
	double reopened_per_sample;

	/* number of cores that the busiest child process, except workers, used or wanted */
	double helper_cores;
	/* number of cores used by programs that loads started and waited for */
	double children_cores;

	/* Facts about the workers; without workers, about the training's process. */
	double runnable_threads;
	double cores_allowed; /* number of cores in the smallest CPU mask */
	/* cores in the training's CPU mask at its start, if more than later; NAN: several ranks */
	double cores_at_start;
	double ranks; /* number of ranks of the job */
	/* mean private memory of a process when it was first measured, and when last measured */
	double private_begin_bytes, private_end_bytes;
	double major_faults; /* page faults that read from a device, summed over the processes */
	double swapped_bytes; /* most bytes that were swapped out at any time */
	double main_cpu_ns;   /* CPU time of the thread that takes the batches; not in `threads` */

	double wait_bytes[LOAD_WAIT_MAX]; /* bytes received; for THREAD, by the awaited threads */
	double decode_wait_ns; /* part of wait_ns[LOAD_WAIT_THREAD] within decoders' calls */
	struct load_peer peers[LOAD_FACTS_MOST]; /* sorted: longest waits first */
	size_t peer_count;
	double faults;                /* number of page faults in mapped files during loads */
	char mapped[LOAD_FACTS_PEER]; /* path (or its end) of the mapped file; "": several files */
	/* The files that most bytes were read from. All members 0: unknown, or several loaders. */
	struct {
		double count, fewest_opens, most_opens;
		double bytes; /* mean number of bytes read from one opening to the next */
	} files;
	struct load_thread threads[LOAD_FACTS_MOST]; /* sorted: most CPU time first */
	size_t thread_count;
};

static inline struct load_facts load_facts_unknown(void)
{
	struct load_facts facts;

	memset(&facts, 0xff, sizeof(facts)); /* A double made of bytes 0xff is NAN. */
	memset(facts.wait_bytes, 0, sizeof(facts.wait_bytes));
	memset(&facts.files, 0, sizeof(facts.files));
	facts.decode_wait_ns = facts.faults = 0;
	facts.peer_count = facts.thread_count = 0;
	facts.mapped[0] = '\0';
	return facts;
}

/* Returns the peer of a kind with the longest waits; NULL: no peer, or a sum over several peers. */
static inline const struct load_peer *load_facts_peer(const struct load_facts *facts,
						      enum load_wait_kind kind)
{
	for (size_t i = 0; i < facts->peer_count; i++)
		if (facts->peers[i].kind == kind)
			return strcmp(facts->peers[i].name, DLPROF_TALLY_OTHERS) ? &facts->peers[i]
										 : NULL;
	return NULL;
}

/*
 * Returns the share of the loads' time that is spent in many short reads and writes of pipes and
 * sockets (CPU time). Calls are short if they move less than LOAD_FACTS_SLOW bytes in a second of
 * CPU time; else 0 is returned. Reads of one byte (0.5 us each) move 2 MB/s, large copies GB/s.
 */
#define LOAD_FACTS_SLOW 50e6
static inline double load_facts_calls_share(const struct load_facts *facts)
{
	const double bytes = facts->wait_bytes[LOAD_WAIT_PIPE] +
			     facts->wait_bytes[LOAD_WAIT_SOCKET] +
			     facts->wait_bytes[LOAD_WAIT_WRITE];

	return facts->calls_ns > 0 && bytes < LOAD_FACTS_SLOW * facts->calls_ns / 1e9
		       ? facts->calls_ns / facts->load_ns
		       : 0;
}
