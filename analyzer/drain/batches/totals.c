/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/batches/totals.h"

/* if a kind has no fixed list of names, the database keeps only this many tallies, the largest */
#define KEEP_COUNT 256

static const struct kind {
	const char *name;
	int first, count; /* range of its tallies in a slot; count 0: a kind with few names */
} kinds[DLPROF_TALLY_KIND_MAX] = {
	[DLPROF_TALLY_DECODE] = {"decode", 0, 0},
	[DLPROF_TALLY_STEP] = {"step", 0, 0},
	[DLPROF_TALLY_WAIT] = {"wait", 0, 0},
	[DLPROF_TALLY_FILE] = {"file", DLPROF_TALLY_NAMED_COUNT, DLPROF_TALLY_FILE_COUNT},
	[DLPROF_TALLY_FOLDER] = {"folder", DLPROF_TALLY_NAMED_COUNT + DLPROF_TALLY_FILE_COUNT,
				 DLPROF_TALLY_FOLDER_COUNT},
	[DLPROF_TALLY_SAMPLE] = {"sample",
				 DLPROF_TALLY_COUNT - DLPROF_TALLY_KERNEL_COUNT -
					 DLPROF_TALLY_SAMPLE_COUNT,
				 DLPROF_TALLY_SAMPLE_COUNT},
	[DLPROF_TALLY_KERNEL] = {"kernel", DLPROF_TALLY_COUNT - DLPROF_TALLY_KERNEL_COUNT,
				 DLPROF_TALLY_KERNEL_COUNT},
};

/* Limits a value, because large values of a forged segment would make SUM() in SQL fail. */
static int64_t sane(uint64_t value)
{
	return value > INT64_MAX >> 12 ? INT64_MAX >> 12 : (int64_t)value;
}

static int write_tally(struct writer *writer, const struct segment *segment, size_t slot,
		       size_t place, struct dlprof_tally *tally,
		       int (*write)(struct writer *writer, const struct tally_row *row))
{
	struct tally_row row = {
		.segment = segment->name,
		.slot = (int64_t)slot,
		.place = (int64_t)place,
		.kind = tally->kind < DLPROF_TALLY_KIND_MAX ? kinds[tally->kind].name : NULL,
		.name = tally->name,
		.detail = tally->detail,
		.class = sane(tally->class),
		.count = sane(tally->count),
		.ns = sane(tally->ns),
		.bytes = sane(tally->bytes),
		.pixels = sane(tally->pixels),
		.slowest_ns = sane(tally->slowest_ns),
		.error_ns = sane(tally->error_ns),
	};

	tally->name[sizeof(tally->name) - 1] = '\0';
	tally->detail[sizeof(tally->detail) - 1] = '\0';
	return write(writer, &row);
}

/* Returns a number that changes whenever the tally's counts change. */
static uint64_t state_of(const struct dlprof_tally *tally)
{
	return ((uint64_t)tally->version << 48) + (tally->count << 40) + tally->ns + tally->bytes;
}

/* Returns true for a tally in use that is not being changed: an odd version marks a change. */
static bool is_whole(const struct dlprof_tally *tally)
{
	return tally->kind != DLPROF_TALLY_NONE && tally->kind < DLPROF_TALLY_KIND_MAX &&
	       tally->version % 2 == 0 && (tally->count || tally->ns || tally->bytes);
}

static int update_unlisted(struct losses *losses, struct writer *writer, struct segment *segment)
{
	static const char *const what[] = {"operations without a tally of their own",
					   "slow operations without a row of their own"};
	uint64_t sums[2] = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < DLPROF_SLOT_COUNT; i++) {
		uint64_t counts[2];

		r = segment_read_unlisted(segment, i, counts);
		for (int k = 0; r == 0 && k < 2; k++)
			sums[k] += (uint64_t)sane(counts[k]);
	}
	for (int k = 0; r == 0 && k < 2; k++) {
		if (sums[k] == segment->totals.unlisted[k])
			continue;
		r = losses_add(losses, writer, segment->header->pid, what[k],
			       (int64_t)(sums[k] - segment->totals.unlisted[k]));
		segment->totals.unlisted[k] = sums[k];
	}
	return r;
}

static int update_slot(struct writer *writer, struct segment *segment, size_t slot)
{
	static struct dlprof_tally tallies[DLPROF_TALLY_COUNT], again[DLPROF_TALLY_COUNT];
	struct ring *ring = &segment->rings[slot];
	bool looked_again = false;
	int r;

	/* Slots of ended threads are read, too: a pool thread may leave tallies but no record. */
	if (!ring->used)
		return 0;
	r = segment_read_tallies(segment, slot, tallies);
	for (size_t i = 0; r == 0 && i < DLPROF_TALLY_COUNT; i++) {
		if (!is_whole(&tallies[i]) || state_of(&tallies[i]) == ring->told[i])
			continue;
		if (!looked_again)
			r = segment_read_tallies(segment, slot, again);
		looked_again = true;
		if (r < 0 || tallies[i].version != again[i].version)
			continue;
		ring->told[i] = state_of(&tallies[i]);
		r = write_tally(writer, segment, slot, i, &tallies[i], writer_live);
	}
	return r;
}

/* Notes the most time that a name without a tally can have: the least tally's (Space-Saving). */
static int note_unlisted(struct writer *writer, const struct dlprof_tally *tallies)
{
	int r = 0;

	for (int kind = 0; r == 0 && kind < DLPROF_TALLY_KIND_MAX; kind++) {
		uint64_t least_ns = UINT64_MAX;

		for (int i = 0; i < kinds[kind].count; i++) {
			const struct dlprof_tally *tally = &tallies[kinds[kind].first + i];

			if (tally->kind == DLPROF_TALLY_NONE)
				least_ns = 0;
			else if (tally->ns < least_ns)
				least_ns = tally->ns;
		}
		if (kinds[kind].count)
			r = writer_unlisted(writer, kinds[kind].name, sane(least_ns));
	}
	return r;
}

/* Adds a slot's tallies to the totals. An earlier drain may have freed the slot. */
static int fold_slot(struct writer *writer, struct segment *segment, size_t slot)
{
	static struct dlprof_tally tallies[DLPROF_TALLY_COUNT];
	int r = segment_read_tallies(segment, slot, tallies);

	for (size_t i = 0; r == 0 && i < DLPROF_TALLY_COUNT; i++)
		if (tallies[i].version)
			r = write_tally(writer, segment, slot, i, &tallies[i],
					is_whole(&tallies[i]) ? writer_total : writer_fold);
	return r < 0 ? r : note_unlisted(writer, tallies);
}

static int fold(struct writer *writer, struct segment *segment)
{
	int r = writer_is_folded(writer, segment->name, &segment->totals.folded);

	if (r < 0 || segment->totals.folded)
		return r;
	for (size_t i = 0; r == 0 && i < DLPROF_SLOT_COUNT; i++)
		r = fold_slot(writer, segment, i);
	if (r == 0)
		r = writer_folded(writer, segment->name);
	for (int kind = 0; r == 0 && kind < DLPROF_TALLY_KIND_MAX; kind++)
		if (kinds[kind].count)
			r = writer_trim(writer, kinds[kind].name, KEEP_COUNT);
	segment->totals.folded = true;
	return r;
}

int totals_update(struct losses *losses, struct writer *writer, struct segment *segment)
{
	int r = 0;

	for (size_t i = 0; r == 0 && !segment->dead && i < DLPROF_SLOT_COUNT; i++)
		r = update_slot(writer, segment, i);
	if (r == 0)
		r = update_unlisted(losses, writer, segment);
	if (r == 0 && segment->dead && !segment->totals.folded)
		r = fold(writer, segment);
	return r;
}
