/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - finds, makes and adds to the tallies of this thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlprof/tally.h"
#include "record/fd.h"
#include "record/thread.h"

/* Returns this thread's tally of a name, made on first use. NULL: no room. `detail` may be NULL. */
struct dlprof_tally *tally_named(struct thread *thread, enum dlprof_tally_kind kind,
				 const char *name, const char *detail, uint64_t class);

static inline void tally_count(struct dlprof_tally *tally, uint64_t count, uint64_t ns,
			       uint64_t bytes)
{
	tally->count += count;
	tally->ns += ns;
	tally->bytes += bytes;
	if (ns > tally->slowest_ns)
		tally->slowest_ns = ns;
}

static inline void tally_add(struct dlprof_tally *tally, uint64_t count, uint64_t ns,
			     uint64_t bytes)
{
	if (tally)
		tally_count(tally, count, ns, bytes);
}

uint64_t tally_width_class(uint32_t width);

void tally_visit(struct thread *thread, int fd);

static inline bool tally_is_visited(const struct thread *thread, int fd)
{
	return likely(thread->visit.fd == fd && thread->visit.version == fd_path_version(fd));
}

/* Makes the next operation on data file `fd` quick: it needs only to compare the version. */
static inline void tally_quicken(struct thread *thread, int fd)
{
	if (thread->visit.fd == fd && thread->visit.file)
		thread->visit.quick = fd_path_version_at(fd);
}

static inline bool tally_is_quick(const struct thread *thread, int fd)
{
	return likely(thread->visit.fd == fd &&
		      atomic_load_explicit(thread->visit.quick, memory_order_relaxed) ==
			      thread->visit.version);
}

/* Adds an operation to the tally of its file. `count` is 1 for an open, else 0. */
static inline void tally_file(struct thread *thread, int fd, uint64_t count, uint64_t ns,
			      uint64_t bytes)
{
	if (!tally_is_visited(thread, fd))
		tally_visit(thread, fd);
	tally_add(thread->visit.file, count, ns, bytes);
}

/* Takes back the last operation if it opened `fd`, which turned out to be a folder. */
void tally_take_back(int fd);

/* Adds to the folder of the last file what that file got since the last call. */
void tally_settle(struct thread *thread);

const char *tally_visited(const struct thread *thread);

static inline void tally_sample_begin(struct thread *thread)
{
	thread->visit.sample_before = thread->visit.sample_first;
	thread->visit.sample_first = NULL;
}

/*
 * Returns the file by which a sample of the dataset is known: the first file that it read or, if
 * the previous sample read the same first file (an index), the last one. NULL: it read none.
 */
const char *tally_sample_file(const struct thread *thread);

void tally_sample(struct thread *thread, const char *dataset, uint64_t index, uint64_t ns,
		  const char *path);

/* Returns a hash of the name, for a tally's `class`; never 0. */
uint64_t tally_id(const char *name);

void tally_kernel(struct thread *thread, const char *name, uint64_t id, uint64_t ns);
