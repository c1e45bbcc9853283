/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - counts by name in the slot of this thread; dlprof/tally.h lists the kinds of names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlprof/tally.h"
#include "record/fd.h"
#include "record/thread.h"

/*
 * Returns the tally of a name, made on first use. NULL: there is no room, which is counted.
 * `detail` may be NULL. Longer names are cut. The tally is this thread's: another thread must look
 * it up again.
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

/* Finds the tallies of the file and folder of `fd`, for tally_file(). */
void tally_visit(struct thread *thread, int fd);

static inline bool tally_is_visited(const struct thread *thread, int fd)
{
	return likely(thread->visit.fd == fd && thread->visit.version == fd_path_version(fd));
}

/* Notes that `fd` is a data file, so that its next operation only checks the version. */
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
 * open, 0 for what follows.
 */
static inline void tally_file(struct thread *thread, int fd, uint64_t count, uint64_t ns,
			      uint64_t bytes)
{
	if (!tally_is_visited(thread, fd))
		tally_visit(thread, fd);
	tally_add(thread->visit.file, count, ns, bytes);
}

/* Takes back the open of `fd`, if it was the last operation: `fd` is a folder, not a data file. */
void tally_take_back(int fd);

/* Adds what the last visited file got meanwhile to its folder. */
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
 * Returns the path of the file that this thread's sample comes from, or NULL: the first that it
 * opened, unless the sample before began with it, too, as with an index; then the last. A sample
 * that cannot be read may be tried again and be replaced by the next one, whose file would be the
 * last.
 */
const char *tally_sample_file(const struct thread *thread);

/* Counts a sample of `dataset` by its time; `path` is of tally_sample_file(). */
void tally_sample(struct thread *thread, const char *dataset, uint64_t index, uint64_t ns,
		  const char *path);

/* Returns a number for a name, short enough for a tally's class, never 0. */
uint64_t tally_id(const char *name);

/* Counts a kernel's time; `id` is tally_id() of its name. */
void tally_kernel(struct thread *thread, const char *name, uint64_t id, uint64_t ns);
