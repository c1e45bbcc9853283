/* SPDX-License-Identifier: Apache-2.0 */
/* remedy_loads.c - says what to change in what loads do. */
#include "render/run/remedy.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cause/grounds.h"

#define READING 0.2 /* reading may be what grows if it takes this share of the loads' time */

/* Returns true if loads compute, mostly in one line: then files do not explain their time. */
static bool computes_in_line(const struct report *report)
{
	const struct line_share *line = lines_leading(&report->lines, LINE_LOADS);
	const struct grounds *r = &report->diagnosis.grounds;

	return line && line->share - line->error >= REMEDY_MOST && r->cpu_share >= REMEDY_MOST;
}

/* Returns true if loads compute, mostly in a line of the user's, and mostly in that line's file. */
static bool computes_in_own_line(const struct report *report)
{
	const struct line_share *line = lines_leading(&report->lines, LINE_LOADS);
	const struct line_frame *frames = report->samples.frames;

	return computes_in_line(report) && line->is_own &&
	       (line->inner_share < REMEDY_MOST ||
		strcmp(frames[line->inner].file, frames[line->frame].file) == 0);
}

/* Names the two largest parts of loads: observed transforms and decoders, else kinds of work. */
static void add_largest(const struct report *report, struct remedy *ret)
{
	const struct load_totals *totals = &report->totals;
	const struct inside_part columns[] = {
		{"opening files", .ns = totals->open_ns},
		{"reading", .ns = totals->read_ns},
		{"decoding", .ns = totals->decode_ns},
		{"collating", .ns = totals->collate_ns},
		{"the dataset's own code", .ns = totals->other_ns},
	};
	struct inside_part top[2] = {{""}, {""}};
	double all_ns = (double)report->inside.loads.load_ns;

	if (!inside_find_largest(&report->inside, &report->facts, top)) {
		all_ns = (double)totals->load_ns;
		for (size_t i = 0; i < ARRAY_COUNT(columns); i++)
			if (columns[i].ns > top[0].ns) {
				top[1] = top[0];
				top[0] = columns[i];
			} else if (columns[i].ns > top[1].ns) {
				top[1] = columns[i];
			}
	}
	if (top[1].ns <= 0 || !(all_ns > 0))
		return;
	remedy_how(ret, "Their largest parts are %.80s (%s) and %.80s (%s); %s.", top[0].name,
		   UNITS_SHARE((double)top[0].ns / all_ns), top[1].name,
		   UNITS_SHARE((double)top[1].ns / all_ns),
		   computes_in_line(report) ? "begin with the line of code that takes most of them"
					    : "dlprof-report -v names files and samples");
}

/* Names the transforms if none of them is random, and they take half of the loads or more. */
static bool add_fixed(const struct report *report, const struct inside_parts *parts,
		      struct remedy *ret)
{
	const double share = report->diagnosis.grounds.fixed_share;
	size_t count = 0;

	if (!(share >= REMEDY_MOST))
		return false;
	remedy_how(ret, "Transforms take %s of a load, and none is random (", UNITS_SHARE(share));
	for (size_t i = 0; i < parts->count && count < 2; i++)
		if (strcmp(parts->items[i].what, "transform") == 0)
			remedy_how(ret, "%s%.40s", count++ ? ", " : "", parts->items[i].name);
	remedy_how(ret,
		   "): if what they get is the same in every epoch, apply them once, beforehand.");
	return true;
}

/*
 * Names a transform that takes half of the loads or more. Returns false if there is none, or if a
 * line of the user's computes in most of the loads, which says more.
 */
static bool add_transform(const struct report *report, struct remedy *ret)
{
	const struct inside_parts parts = inside_parts(&report->inside);
	const double load_ns = fmax((double)report->inside.loads.load_ns, 0);
	const bool is_long = parts.count && strcmp(parts.items[0].what, "transform") == 0 &&
			     !computes_in_own_line(report) &&
			     2 * (double)parts.items[0].ns >= load_ns;

	if (add_fixed(report, &parts, ret)) {
		free(parts.items);
		return true;
	}
	if (is_long)
		remedy_how(ret, "%.80s takes %s of a load: choose a cheaper setting or another "
			   "library's, or do it for whole batches on the GPU. What is random "
			   "cannot be done beforehand.", parts.items[0].name,
			   UNITS_SHARE((double)parts.items[0].ns / load_ns));
	free(parts.items);
	return is_long;
}

/* Says with which of the user's functions or lines to begin. */
static void add_leader(const struct report *report, struct remedy *ret)
{
	const struct line_share *leading = lines_leading(&report->lines, LINE_LOADS);
	const struct grounds *r = &report->diagnosis.grounds;
	/* The line is idle in more than half of its time: it sleeps, for example. */
	const bool is_waiting = leading && leading->share - leading->error >
						   2 * (r->cpu_share + r->no_core_share);
	const char *how = ret->how;
	struct text leader = TEXT_OF(CODE_WORDS);

	if (r->facts && r->read_again >= GROUNDS_READ_AGAIN)
		remedy_how(ret, "%s bytes are read or unpacked for each byte of a batch: take only "
			   "the columns and rows that are used, or parse once. ",
			   UNITS_RATE(r->read_again));
	if (is_waiting || !code_add_leader(report, LINE_LOADS, false, &leader))
		return;
	/* Each epoch collates other batches, so none of the results can be kept. */
	if (leading && leading->is_collating)
		how = "Stack whole arrays (numpy.stack, torch.from_numpy), not lists of arrays or "
		      "numbers.";
	remedy_how(ret, "Begin with %s: %c%s", leader.words, tolower(*how), how + 1);
}

#define CALLS_LEAST 0.25

/* Says that loads read and write pipes or sockets in many short calls. Returns false if not. */
static bool add_calls(const struct load_facts *facts, struct remedy *ret)
{
	const double share = load_facts_calls_share(facts);

	if (share < CALLS_LEAST)
		return false;
	remedy_how(ret, "Many short calls on pipes or sockets take %s of a load: read larger "
		   "pieces (a buffer: bufsize=-1, io.BufferedReader).", UNITS_SHARE(share));
	return true;
}

void remedy_cpu(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	if (advice->is_open)
		ret->line = "Make the loads need half the CPU, or less.";
	else
		ret->line = "Make the loads need half the CPU.";
	if (!add_calls(&report->facts, ret) && !add_transform(report, ret) &&
	    !remedy_lead(report, LINE_LOADS, ret))
		add_leader(report, ret);
}

/* Returns true if loads that grow read much more than they return, as a query with OFFSET does. */
static bool reads_more_and_more(const struct report *report)
{
	const struct grounds *r = &report->diagnosis.grounds;

	return r->storage_share >= READING && r->facts &&
	       r->facts->read_per_byte >= GROUNDS_READ_AGAIN;
}

void remedy_growth(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	if (reads_more_and_more(report))
		remedy_how(ret, "%s bytes are read for each byte of a batch: does each load read "
			   "on from the start? A query with OFFSET does, or a loop that skips what "
			   "came before: ask for what follows the last key (WHERE id > ...).",
			   UNITS_RATE(report->diagnosis.grounds.facts->read_per_byte));
	else
		remedy_lead(report, LINE_LOADS, ret);
}

void remedy_lock(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	remedy_lead(report, LINE_LOADS, ret);
}

void remedy_inspect_loads(const struct report *report, const struct advice *advice,
			  struct remedy *ret)
{
	if (!remedy_lead(report, LINE_LOADS, ret))
		add_largest(report, ret);
}

void remedy_decode_fewer(const struct report *report, const struct advice *advice,
			 struct remedy *ret)
{
	remedy_how(ret, "%s images are decoded for each sample. %s",
		   UNITS_RATE(report->diagnosis.grounds.drawn), ret->how);
}

void remedy_index(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const struct grounds *r = &report->diagnosis.grounds;

	remedy_how(ret, "Each of %s samples of a batch takes %s. %s",
		   UNITS_COUNT((int64_t)r->small.count), UNITS_TIME(r->small.each_ns), ret->how);
}

void remedy_samples(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const struct tally_list *samples = &report->inside.samples;

	for (size_t i = 0; i < samples->count && i < 3; i++)
		remedy_how(ret, "%s%.40s[%" PRId64 "] %s%s%.60s", i ? ", " : "",
			   samples->items[i].detail, samples->items[i].class,
			   UNITS_TIME((double)samples->items[i].ns),
			   samples->items[i].name[0] ? " " : "", samples->items[i].name);
	if (samples->count)
		remedy_how(ret, "; dlprof-report -v lists them.");
}
