/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - count by name into the slot of this thread; see dlprof/tally.h for what is kept. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlprof/tally.h"
#include "record/fd.h"
#include "record/thread.h"

/*
 * The named tally, made on first use. NULL: there is no room; counted. `detail` may be NULL. Names
 * that do not fit are cut. The tally is this thread's: look it up again in another.
 */
struct dlprof_tally *tally_named(struct thread *thread, enum dlprof_tally_kind kind,
				 const char *name, const char *detail, uint64_t class);

/* One operation. */
static inline void tally_count(struct dlprof_tally *tally, uint64_t count, uint64_t ns,
			       uint64_t bytes)
{
	tally->count += count;
	tally->ns += ns;
	tally->bytes += bytes;
	if (ns > tally->slowest_ns)
		tally->slowest_ns = ns;
}

/* The same, and NULL is let through. */
static inline void tally_add(struct dlprof_tally *tally, uint64_t count, uint64_t ns,
			     uint64_t bytes)
{
	if (tally)
		tally_count(tally, count, ns, bytes);
}

/* The class of an image this wide. */
uint64_t tally_width_class(uint32_t width);

/* Finds the tallies of the file and folder of `fd`, for tally_file(). */
void tally_visit(struct thread *thread, int fd);

static inline bool tally_is_visited(const struct thread *thread, int fd)
{
	return likely(thread->visit.fd == fd && thread->visit.version == fd_path_version(fd));
}

/* `fd` is known to be a data file: of the next operation on it, only the version is to be asked. */
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
 * An operation on a data file, by descriptor: adds to its file and its folder. `count`: 1 for an
 * open, 0 for what follows it.
 */
static inline void tally_file(struct thread *thread, int fd, uint64_t count, uint64_t ns,
			      uint64_t bytes)
{
	if (!tally_is_visited(thread, fd))
		tally_visit(thread, fd);
	tally_add(thread->visit.file, count, ns, bytes);
}

/* `fd` is no data file after all but a folder: its open, if it came right before, was of none. */
void tally_take_back(int fd);

/* Brings the folder of the file that was visited last up to date with it. */
void tally_settle(struct thread *thread);

/* The path of the file of this thread's last operation, or NULL. */
const char *tally_visited(const struct thread *thread);

/* A sample of `dataset` took so long; `path`: of the file that took longest in it, or NULL. */
void tally_sample(struct thread *thread, const char *dataset, uint64_t index, uint64_t ns,
		  const char *path);

/* Short enough for the class of a tally, never 0, and for each name another one. */
uint64_t tally_id(const char *name);

/* A kernel ran so long; `id` is its name's. */
void tally_kernel(struct thread *thread, const char *name, uint64_t id, uint64_t ns);
