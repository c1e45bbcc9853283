/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.c - target: whatever a segment holds, the drain reads it, joins it and stores it.
 *
 * An input that begins with 'P' is a segment file as it is. Any other is a description of one,
 * since a real one is a megabyte: options, per slot its positions, then records, each with a byte
 * that says whose it is and whether the drain looks before it comes.
 *
 * Beside what sanitizers see: the one error that an input may cause is -EBADMSG. Any other makes
 * the drain try again, for good, and every process of the run would lose its records.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drain/batches/join.h"
#include "drain/batches/totals.h"
#include "drain/database/facts.h"
#include "drain/segments/segment.h"
#include "fuzz.h"
#include "store/database/db_open.h"

#define NAME "1-1-0.seg"

enum option {
	PATCH_HEADER = 1 << 0,
	CUT_SHORT = 1 << 1,
	CUT_LATER = 1 << 2,
	READ_TWICE = 1 << 3,	/* the drain is killed before it releases, and another begins */
	ROOT = 1 << 4,
	FULL_NOTES = 1 << 5,
	TALLIES = 1 << 6,
	RAW = 1 << 7,
};

static struct db *db;
static struct writer *writer;
static int folder = -1;
static struct facts facts;
static struct losses losses;
static uint64_t far_from[DLPROF_SLOT_COUNT];

static void set_up(void)
{
	char path[128];

	if (db)
		return;
	snprintf(path, sizeof(path), "%s/run.db", fuzz_folder());
	folder = open(fuzz_folder(), O_RDONLY | O_DIRECTORY);
	FUZZ_DEMAND(folder >= 0);
	FUZZ_DEMAND(db_open_write(path, &db) == 0);
	FUZZ_DEMAND(writer_open(db, &writer) == 0);
}

static void put(int fd, const void *bytes, size_t size, size_t offset)
{
	FUZZ_DEMAND(pwrite(fd, bytes, size, (off_t)offset) == (ssize_t)size);
}

static size_t slot_at(size_t index)
{
	return offsetof(struct dlprof_segment, slots) + index * sizeof(struct dlprof_slot);
}

static int make_file(void)
{
	int fd = openat(folder, NAME, O_RDWR | O_CREAT | O_TRUNC, 0600);

	FUZZ_DEMAND(fd >= 0);
	return fd;
}

static uint8_t describe_header(int fd, struct fuzz_input *input)
{
	uint8_t options = fuzz_byte(input) & ~(unsigned int)RAW, patch[8];
	struct dlprof_header header = {
		.magic = DLPROF_SEGMENT_MAGIC,
		.abi = DLPROF_SEGMENT_ABI,
		.flags = options & ROOT ? DLPROF_SEGMENT_ROOT : 0,
		.slot_count = DLPROF_SLOT_COUNT,
		.slot_bytes = sizeof(struct dlprof_slot),
		.near_capacity = DLPROF_NEAR_CAPACITY,
		.ring_capacity = DLPROF_RING_CAPACITY,
		.event_bytes = sizeof(struct dlprof_event),
		.tally_bytes = sizeof(struct dlprof_tally),
		.tally_count = DLPROF_TALLY_COUNT,
		.pid = INT32_MAX,	/* no process has it */
		.start_ticks = 1,
		.command = "python train.py",
	};
	char pattern[48];
	struct stat status;
	uint16_t where;

	/* Ours, in which it has ended. */
	FUZZ_DEMAND(stat("/proc/self/ns/pid", &status) == 0);
	header.pid_space = status.st_ino;
	gethostname(header.host, sizeof(header.host) - 1);
	if (options & FULL_NOTES) {
		fuzz_take(input, pattern, sizeof(pattern));
		header.notes_bytes = sizeof(header.notes);
		for (size_t i = 0; i < sizeof(header.notes); i++)
			header.notes[i] = pattern[i % sizeof(pattern)];
	}
	FUZZ_DEMAND(ftruncate(fd, sizeof(struct dlprof_segment)) == 0);
	put(fd, &header, sizeof(header), 0);
	for (int i = 0; options & PATCH_HEADER && i < 4; i++) {
		fuzz_take(input, &where, sizeof(where));
		/* At most what is left of it, from the magic to the end of the notes. */
		put(fd, patch, fuzz_take(input, patch, sizeof(patch)), where % sizeof(header));
	}
	return options;
}

/* The positions that the slots claim; `next` is where their records go. */
static void describe_slots(int fd, struct fuzz_input *input, uint64_t *next)
{
	for (size_t i = 0; i < DLPROF_SLOT_COUNT; i++) {
		uint8_t kind = fuzz_byte(input);
		uint64_t words[4] = {0, 0, 0, 0};	/* head, tail, lost, far_from */
		uint32_t tid = kind;

		if (kind & 1)
			fuzz_take(input, words, sizeof(words[0]) * (kind & 2 ? 4 : 3));
		next[i] = words[1];
		far_from[i] = words[3];
		put(fd, &tid, sizeof(tid),
		    offsetof(struct dlprof_header, tids) + i * sizeof(tid));
		put(fd, &words[0], 8, slot_at(i) + offsetof(struct dlprof_slot, head));
		put(fd, &words[1], 8, slot_at(i) + offsetof(struct dlprof_slot, tail));
		put(fd, &words[2], 8, slot_at(i) + offsetof(struct dlprof_slot, lost_count));
		put(fd, &words[3], 8, slot_at(i) + offsetof(struct dlprof_slot, far_from));
	}
}

static void describe_tallies(int fd, struct fuzz_input *input)
{
	for (int count = fuzz_byte(input) % 16; count > 0; count--) {
		size_t place = fuzz_byte(input);
		struct dlprof_tally tally;

		fuzz_take(input, &tally, sizeof(tally));
		put(fd, &tally, sizeof(tally),
		    slot_at(place % DLPROF_SLOT_COUNT) + offsetof(struct dlprof_slot, tallies) +
			    place % DLPROF_TALLY_COUNT * sizeof(tally));
	}
}

/* True: the drain is to look before the next one. */
static bool describe_record(int fd, struct fuzz_input *input, uint64_t *next)
{
	uint8_t control = fuzz_byte(input);
	size_t slot = control % DLPROF_SLOT_COUNT;
	struct dlprof_event event;

	fuzz_take(input, &event, sizeof(event));
	put(fd, &event, sizeof(event),
	    slot_at(slot) + (far_from[slot] && next[slot] >= far_from[slot]
				     ? offsetof(struct dlprof_slot, far) +
					       next[slot] % DLPROF_RING_CAPACITY * sizeof(event)
				     : offsetof(struct dlprof_slot, near) +
					       next[slot] % DLPROF_NEAR_CAPACITY * sizeof(event)));
	next[slot]++;
	put(fd, &next[slot], 8, slot_at(slot) + offsetof(struct dlprof_slot, head));
	return control & 0x40;
}

/* What the producer sees: `tail` goes on by what a ring holds at most, and never back. */
static int publish(struct segment *segment)
{
	uint64_t before[DLPROF_SLOT_COUNT];
	int r;

	for (size_t i = 0; i < DLPROF_SLOT_COUNT; i++)
		before[i] = segment->rings[i].published;
	r = segment_publish(segment, true);
	for (size_t i = 0; i < DLPROF_SLOT_COUNT; i++)
		FUZZ_DEMAND(segment->rings[i].published - before[i] <= DLPROF_RING_CAPACITY);
	return r;
}

/* The order of things in drain.c's rounds; 0, or -EBADMSG where it gives the segment up. */
static int look(struct join *join, struct segment *segment, bool release)
{
	size_t taken = 0, rows = 0;
	int r;

	r = segment_read(segment, join_take, join, &taken);
	FUZZ_DEMAND(r == 0 || r == -EBADMSG);
	if (r < 0)
		return r;
	FUZZ_DEMAND(join_round(join, &rows) == 0);
	if (!release)
		return 0;
	join_release(join, segment);
	r = facts_update(&facts, &losses, writer, segment);
	if (r == 0)
		r = totals_update(&losses, writer, segment);
	if (r == 0)
		r = publish(segment);
	FUZZ_DEMAND(r == 0 || r == -EBADMSG);
	return r;
}

/* Opens it and looks; the records that `input` still describes come one after the other. */
static void drain(int fd, struct fuzz_input *input, uint8_t options, uint64_t *next, bool release)
{
	struct segment *segment;
	struct join *join;
	struct life life;
	int r;

	memset(&facts, 0, sizeof(facts));
	losses_forget(&losses);
	r = segment_open(folder, NAME, &segment);
	FUZZ_DEMAND(r == 0 || r == -EBADMSG);
	/* Of an older version of the format the whole corpus would test nothing. */
	FUZZ_DEMAND(r == 0 || options & (PATCH_HEADER | CUT_SHORT | CUT_LATER | RAW));
	if (r < 0)
		return;
	FUZZ_DEMAND(join_open(writer, NULL, NULL, &join) == 0);
	r = facts_begin(writer, segment, fuzz_folder());
	FUZZ_DEMAND(r == 0);
	r = look(join, segment, release);
	while (r == 0 && input->size) {
		if (describe_record(fd, input, next))
			r = look(join, segment, release);
	}
	if (options & CUT_LATER)
		FUZZ_DEMAND(ftruncate(fd, 50000) == 0);
	segment_poll(segment, false);
	if (r == 0)
		r = look(join, segment, release);
	if (r < 0) {
		join_forget(join, segment);
	} else if (release) {
		life = segment_life(segment);
		join_life_ended(join, &life);
		FUZZ_DEMAND(join_finish(join) == 0);
		FUZZ_DEMAND(facts_finish(writer, db, 1) == 0);
		join_release(join, segment);
		FUZZ_DEMAND(publish(segment) == 0);
	}
	segment_close(segment);
	join_close(join);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = {bytes, size};
	uint64_t next[DLPROF_SLOT_COUNT] = {0};
	uint8_t options = 0;
	uint32_t length;
	int fd;

	set_up();
	fd = make_file();
	if (size && bytes[0] == 'P') {
		put(fd, bytes, size, 0);
		input.size = 0;
		options = RAW;
	} else {
		options = describe_header(fd, &input);
		describe_slots(fd, &input, next);
		if (options & TALLIES)
			describe_tallies(fd, &input);
	}
	if (options & CUT_SHORT) {
		fuzz_take(&input, &length, sizeof(length));
		FUZZ_DEMAND(ftruncate(fd, length % sizeof(struct dlprof_segment)) == 0);
	}
	FUZZ_DEMAND(db_begin(db) == 0);
	drain(fd, &input, options, next, !(options & READ_TWICE));
	if (options & READ_TWICE)
		drain(fd, &input, options, next, true);
	FUZZ_DEMAND(db_rollback(db) == 0);
	close(fd);
	return 0;
}
