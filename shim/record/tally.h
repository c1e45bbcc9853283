/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - adds to the tallies in this thread's slot; dlprof/tally.h lists the kinds of names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlprof/tally.h"
#include "record/fd.h"
#include "record/thread.h"

/*
 * Returns the tally of a name, made on first use. NULL means no room, which is counted.
 * `detail` may be NULL. Longer names are cut. Only this thread may use the tally: other threads
 * have their own for the same name.
 */
struct dlprof_tally *tally_named(struct thread *thread, enum dlprof_tally_kind kind,
				 const char *name, const char *detail, uint64_t class);

/* Adds an operation to a tally. */
static inline void tally_count(struct dlprof_tally *tally, uint64_t count, uint64_t ns,
			       uint64_t bytes)
{
	tally->count += count;
	tally->ns += ns;
	tally->bytes += bytes;
	if (ns > tally->slowest_ns)
		tally->slowest_ns = ns;
}

/* Adds an operation to a tally, which may be NULL. */
static inline void tally_add(struct dlprof_tally *tally, uint64_t count, uint64_t ns,
			     uint64_t bytes)
{
	if (tally)
		tally_count(tally, count, ns, bytes);
}

/* Returns the class of an image of this width. */
uint64_t tally_width_class(uint32_t width);

/* Finds the tallies for the file and folder of `fd`; tally_file() adds to them. */
void tally_visit(struct thread *thread, int fd);

static inline bool tally_is_visited(const struct thread *thread, int fd)
{
	return likely(thread->visit.fd == fd && thread->visit.version == fd_path_version(fd));
}

/* Notes that `fd` is a data file, so that its next operation only has to check the version. */
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

/*
 * Adds an operation on a data file to the tallies of its file and its folder. `count` is 1 for an
 * open, and 0 for later operations.
 */
static inline void tally_file(struct thread *thread, int fd, uint64_t count, uint64_t ns,
			      uint64_t bytes)
{
	if (!tally_is_visited(thread, fd))
		tally_visit(thread, fd);
	tally_add(thread->visit.file, count, ns, bytes);
}

/* Subtracts the open of `fd`, if that was the last operation: `fd` proved to be a folder. */
void tally_take_back(int fd);

/* Adds the last visited file's new sums to its folder. */
void tally_settle(struct thread *thread);

/* Returns the path of the file of this thread's last operation, or NULL. */
const char *tally_visited(const struct thread *thread);

/* Notes that this thread begins a sample. */
static inline void tally_sample_begin(struct thread *thread)
{
	thread->visit.sample_before = thread->visit.sample_first;
	thread->visit.sample_first = NULL;
}

/*
 * Returns the path of the file that this thread's sample comes from, or NULL. That is the first
 * file that it opened; but if the sample before began with the same file, such as an index, it is
 * the last one. The first is preferred because a dataset may replace an unreadable sample by the
 * next one.
 */
const char *tally_sample_file(const struct thread *thread);

/* Counts a sample of `dataset` by its time. `path` is the result of tally_sample_file(). */
void tally_sample(struct thread *thread, const char *dataset, uint64_t index, uint64_t ns,
		  const char *path);

/* Returns a number for a name, small enough for a tally's class; never 0. */
uint64_t tally_id(const char *name);

/* Counts a kernel's time; `id` is tally_id() of its name. */
void tally_kernel(struct thread *thread, const char *name, uint64_t id, uint64_t ns);
