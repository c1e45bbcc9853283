/* SPDX-License-Identifier: Apache-2.0 */
/*
 * every_row.c - calls every function that has a wrapper, through its own import slots, and looks in
 * its own process's segment for what dlprof counted.
 *
 * Runs under the preload with DLPROF_ACTIVATE=always. What must be counted: every_row_families.c.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlprof/segment.h"
#include "every_row.h"

static const struct {
	const char *name, *format, *mark;
	enum decode_sort sort;
} libraries[] = {
#define DECODER(id, name, format, sort, mark, first, second)                                       \
	{name, format, mark, DECODE_SORT_##sort},
#include "decode/libraries.def"
#undef DECODER
};

static const char *const names[] = {
#define WRAP(library, family, type, name, params, args) [ROW_##name] = #name,
#define WRAP_VOID(library, family, name, params, args)	WRAP(library, family, , name, , )
#include "every_row.def"
#undef WRAP
};

static struct dlprof_slot *slot;
static int failures;

static void fail(bool done, const char *name, const char *what, uint64_t found, uint64_t wanted)
{
	failures++;
	printf("FAIL: %s, that %s: %s: found %llu, expected %llu\n", name,
	       done ? "succeeds" : "fails", what, (unsigned long long)found,
	       (unsigned long long)wanted);
}

static void check(bool done, const char *name, const char *what, uint64_t found, uint64_t wanted)
{
	if (found != wanted)
		fail(done, name, what, found, wanted);
}

static struct dlprof_tally *tally_of(const char *name, const char *kind, uint64_t class)
{
	for (int i = 0; i < DLPROF_TALLY_NAMED_COUNT; i++) {
		struct dlprof_tally *tally = &slot->tallies[i];

		if (tally->kind == DLPROF_TALLY_DECODE && tally->class == class &&
		    strcmp(tally->name, name) == 0 && strcmp(tally->detail, kind) == 0)
			return tally;
	}
	return NULL;
}

/* Returns the sum of all tallies of decoders. */
static struct dlprof_tally sum_of(void)
{
	struct dlprof_tally sum = {0};

	for (int i = 0; i < DLPROF_TALLY_NAMED_COUNT; i++) {
		const struct dlprof_tally *tally = &slot->tallies[i];

		if (tally->kind != DLPROF_TALLY_DECODE)
			continue;
		sum.count += tally->count;
		sum.bytes += tally->bytes;
		sum.pixels += tally->pixels;
		sum.ns += tally->ns;
	}
	return sum;
}

static void try(enum row row, bool done)
{
	const enum decode_library_id library = row_library(row);
	const bool is_input = libraries[library].sort == DECODE_SORT_INPUT;
	const char *name = names[row];
	struct dlprof_counter *counter =
		&slot->counters[is_input ? DLPROF_CLASS_READ : DLPROF_CLASS_DECODE];
	struct dlprof_counter before = *counter;
	struct dlprof_tally all = sum_of(), sum, *tally;
	uint32_t calls_before;

	tell(row, done);
	calls_before = row_calls[row];
	hit(row);
	check(done, name, "calls that reached the library", row_calls[row] - calls_before, 1);
	check(done, name, "its answer", same_answer, true);
	conclude(row);
	check(done, name, "count", counter->count - before.count, expected.count);
	check(done, name, "failed", counter->failed_count - before.failed_count,
	      expected.failed_count);
	check(done, name, "bytes", counter->bytes - before.bytes, expected.bytes);
	if ((counter->ns == before.ns) != expected.nothing)
		fail(done, name, "ns", counter->ns - before.ns, !expected.nothing);
	sum = sum_of();
	if (is_input || expected.nothing ||
	    (expected.unknown && libraries[library].sort == DECODE_SORT_IMAGE)) {
		check(done, name, "ns of unknown images", sum.ns - all.ns, 0);
		return;
	}
	tally = tally_of(libraries[library].name,
			 expected.format ? expected.format : libraries[library].format,
			 expected.width ? 512 : 0);
	if (!tally) {
		fail(done, name, "tally of its library, format and width", 0, 1);
		return;
	}
	check(done, name, "tallied", sum.count - all.count, expected.count);
	check(done, name, "bytes tallied", sum.bytes - all.bytes, expected.bytes);
	check(done, name, "pixels", sum.pixels - all.pixels,
	      expected.width ? expected.count * ROW_WIDTH * ROW_HEIGHT : expected.made);
	check(done, name, "ns of another tally", sum.ns - all.ns > 0 && tally->ns > 0, true);
	/* All was counted in the tally of this image's format and width, and nothing in another. */
	tally->count -= sum.count - all.count;
	check(done, name, "in its tally", sum_of().count, all.count);
	tally->count += sum.count - all.count;
}

/* Returns the first thread's slot in the segment that the shim has mapped; NULL: there is none. */
static struct dlprof_slot *find_slot(void)
{
	struct dlprof_segment *segment = NULL;
	FILE *maps = fopen("/proc/self/maps", "r");
	char text[1024];

	while (maps && !segment && fgets(text, sizeof(text), maps))
		if (strstr(text, " rw-s ") && (strstr(text, DLPROF_SEGMENT_SUFFIX "\n") ||
					       strstr(text, DLPROF_SEGMENT_UNFINISHED)))
			segment = (struct dlprof_segment *)strtoul(text, NULL, 16);
	if (maps)
		fclose(maps);
	return segment && segment->header.tids[0] ? &segment->slots[0] : NULL;
}

int main(int argc, char **argv)
{
	/* A thread gets a slot when it opens data. */
	close(open(argc ? argv[0] : "", O_RDONLY));
	slot = find_slot();
	if (!slot) {
		printf("no segment: not recorded\n");
		return 1;
	}
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (libraries[i].mark && !dlsym(RTLD_DEFAULT, libraries[i].mark))
			fail(true, libraries[i].name, "its mark in every_row_library.c", 0, 1);
	for (int row = 0; row < ROW_MAX; row++) {
		try((enum row)row, true);
		try((enum row)row, false);
	}
	printf("%d rows, %d failures\n", ROW_MAX, failures);
	return failures != 0;
}
