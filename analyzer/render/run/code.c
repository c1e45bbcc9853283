/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/code.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cause/callee.h"
#include "render/form/outline.h"
#include "render/form/units.h"
#include "render/run/report.h"
#include "store/run/lines.h"

#define CHAPTER      "code"
#define MOST_LINES   6
#define MOST_HOLDERS 3
#define MOST_STUCK   2
#define MINUTE_NS    (60 * (int64_t)NS_PER_S)
#define LEAST_LEAD  0.1 /* advice names a line of code if it takes this share of its group's time */
#define LEAST_SHARE  0.03
#define JSON_SHARE   0.01
#define LEAST_COUNT  20
#define MOSTLY       0.5
#define LOCALS       "<locals>."
#define MOST_NAME    44
#define SPREAD       1.3

static const struct {
	const char *label, *all, *one, *id;
} GROUPS[] = {
	[LINE_LOADS] = {"Loads", "the loads", "a load", "load"},
	[LINE_WAITS] = {"Waits", "the waits", "the waits", "wait"},
	[LINE_STEPS] = {"Steps", "the steps", "the steps", "step"},
	[LINE_AFTERS] = {"After", "what comes after the optimizer, and between epochs",
			 "the time after the optimizer", "after"},
	[LINE_SAVES] = {"Saving", "saving", "saving", "save"},
};

/* Finds a command's first word that ends in ".py". If there is none, *ret_length becomes 0. */
static const char *find_script(const char *command, size_t *ret_length)
{
	for (const char *at = command; *at; at += *ret_length + (at[*ret_length] == ' ')) {
		*ret_length = strcspn(at, " ");
		if (*ret_length > 3 && strncmp(at + *ret_length - 3, ".py", 3) == 0)
			return at;
	}
	*ret_length = 0;
	return command;
}

/* Finds the program's folder, in a frame's path if the script's path is relative. */
static void find_root(struct report *report, const char *script, size_t length)
{
	struct code_names *names = &report->names;
	const char *name = length ? memrchr(script, '/', length) : NULL;

	if (name && *script == '/') {
		names->root = script;
		names->root_length = (size_t)(name + 1 - script);
		return;
	}
	while (length > 2 && strncmp(script, "./", 2) == 0) {
		script += 2;
		length -= 2;
	}
	for (size_t i = 0; length && i < report->samples.frame_count; i++) {
		const struct line_frame *frame = &report->samples.frames[i];
		size_t all = strlen(frame->file), folder = all > length ? all - length : 0;

		if (frame->is_own && folder && frame->file[folder - 1] == '/' &&
		    memcmp(frame->file + folder, script, length) == 0 &&
		    (!names->root || folder < names->root_length)) {
			names->root = frame->file;
			names->root_length = folder;
		}
	}
}

/* Compares paths from the last character to the first; "/" sorts before all others. */
static int by_end(const void *a, const void *b)
{
	const char *left = *(const char *const *)a, *right = *(const char *const *)b;
	size_t i = strlen(left), j = strlen(right);

	while (i && j) {
		unsigned char l = (unsigned char)left[--i], r = (unsigned char)right[--j];

		if (l != r)
			return l == '/' || (r != '/' && l < r) ? -1 : 1;
	}
	return (i > 0) - (j > 0);
}

void code_find_names(struct report *report)
{
	const struct line_samples *samples = &report->samples;
	struct code_names *names = &report->names;
	const char *script;
	size_t length;

	if (!samples->frame_count)
		return;
	script = find_script(report->run.command ? report->run.command : "", &length);
	find_root(report, script, length);
	names->files = calloc(samples->frame_count, sizeof(*names->files));
	if (!names->files)
		return;
	for (size_t i = 0; i < samples->frame_count; i++)
		names->files[i] = samples->frames[i].file;
	qsort(names->files, samples->frame_count, sizeof(*names->files), by_end);
	for (size_t i = 0; i < samples->frame_count; i++)
		if (!i || strcmp(names->files[i], names->files[names->file_count - 1]) != 0)
			names->files[names->file_count++] = names->files[i];
}

static const char *take_name(const char *file, const char *tail)
{
	if (tail > file)
		tail--;
	while (tail > file && tail[-1] != '/')
		tail--;
	return tail;
}

static bool ends_with(const char *file, const char *tail)
{
	size_t all = strlen(file), length = strlen(tail);

	return all >= length && strcmp(file + all - length, tail) == 0 &&
	       (all == length || file[all - length - 1] == '/');
}

static bool is_ambiguous(const struct code_names *names, const char *file, const char *tail)
{
	const char **found = names->file_count ? bsearch(&file, names->files, names->file_count,
							 sizeof(*names->files), by_end)
					       : NULL;

	return found &&
	       ((found > names->files && ends_with(found[-1], tail)) ||
		(found + 1 < names->files + names->file_count && ends_with(found[1], tail)));
}

static const char *shorten(const struct code_names *names, const struct line_frame *frame)
{
	const char *file = frame->file, *tail;

	if (names->root && frame->is_own && strncmp(file, names->root, names->root_length) == 0)
		return file + names->root_length;
	tail = frame->is_own ? NULL : lines_below_packages(file);
	if (!tail)
		tail = take_name(file, take_name(file, file + strlen(file)));
	while (tail > file && is_ambiguous(names, file, tail))
		tail = take_name(file, tail);
	return tail;
}

const char *code_place(const struct report *report, uint32_t frame, char *buffer)
{
	const struct line_frame *of = &report->samples.frames[frame];
	const char *file = shorten(&report->names, of);
	size_t length = strlen(file), most = CODE_WORDS - 32;

	/* A path that is too long is cut at its start, since its end says more. */
	snprintf(buffer, CODE_WORDS, "%s%s", length > most ? "..." : "",
		 length > most ? file + length - most : file);
	if (of->line > 0)
		page_append(buffer, CODE_WORDS, ":%" PRId64, of->line);
	return buffer;
}

const char *code_function(const struct report *report, uint32_t frame, char *buffer)
{
	const char *at = report->samples.frames[frame].function, *found;

	*buffer = '\0';
	for (; (found = strstr(at, LOCALS)); at = found + strlen(LOCALS))
		page_append(buffer, CODE_WORDS, "%.*s", (int)(found - at), at);
	page_append(buffer, CODE_WORDS, "%s", at);
	return buffer;
}

static const char *put_share(const struct line_share *line, char buffer[2 * UNITS_MAX])
{
	snprintf(buffer, 2 * UNITS_MAX, "%s ± %.0f", UNITS_SHARE(line->share),
		 ceil(100 * line->error));
	return buffer;
}

static void add_line(const struct report *report, const struct line_share *line, struct outline *o)
{
	const struct line_frame *frames = report->samples.frames;
	bool is_elsewhere = strcmp(frames[line->inner].file, frames[line->frame].file) != 0 &&
			    line->inner_share >= MOSTLY;
	struct text where = TEXT_OF(2 * CODE_WORDS + 8);
	char share[2 * UNITS_MAX];

	outline_cells(o, put_share(line, share));
	outline_cell(o, "%s, %s", CODE_FUNCTION(report, line->frame),
		     CODE_PLACE(report, line->frame));
	if (is_elsewhere)
		text_add(&where, "in %s %s", CODE_PLACE(report, line->inner),
			 CODE_FUNCTION(report, line->inner));
	if (!*where.words && !line->is_loop)
		return;
	outline_first(o, PAGE_DIM, "%s", "");
	outline_cell(o, "  %s%s%s", line->is_loop ? "the loop that waits" : "",
		     line->is_loop && *where.words ? ", " : "", where.words);
}

static void add_lines(const struct report *report, enum line_group group, struct outline *o)
{
	const struct line_lead *lead = &report->lines.groups[group];
	size_t count = lead->count < MOST_LINES ? lead->count : MOST_LINES;

	if (lead->samples < LEAST_COUNT)
		return;
	outline_table(o, CHAPTER, "#Share", "Function and line");
	outline_title(o, "In your code: %s, by %s samples", GROUPS[group].all,
		      UNITS_COUNT(lead->samples));
	for (int is_own = 1; is_own >= 0; is_own--)
		for (size_t i = 0; i < count && lead->lines[i].share >= LEAST_SHARE; i++)
			if (report->samples.frames[lead->lines[i].frame].is_own == is_own)
				add_line(report, &lead->lines[i], o);
}

static void add_holders(const struct report *report, enum line_group group, struct outline *o)
{
	const struct line_lead *lead = &report->lines.holders[group];
	struct text text = TEXT_OF(MOST_HOLDERS * (2 * CODE_WORDS + 64));
	char share[2 * UNITS_MAX];

	if (lead->samples < LEAST_COUNT)
		return;
	for (size_t i = 0; i < lead->count && i < MOST_HOLDERS; i++)
		if (lead->lines[i].share >= LEAST_SHARE)
			text_add(&text, "%s %s, %s, in %s", i ? ";" : "",
				 CODE_FUNCTION(report, lead->lines[i].frame),
				 CODE_PLACE(report, lead->lines[i].frame),
				 put_share(&lead->lines[i], share));
	if (*text.words)
		outline_item(o, "Meanwhile",
			     "another thread of the training's process held the interpreter:%s of "
			     "%s",
			     text.words, GROUPS[group].all);
}

void code_outline(const struct report *report, struct outline *o)
{
	const struct lines *lines = &report->lines;
	size_t count = ARRAY_COUNT(GROUPS), before = o->count;

	for (enum line_group group = 0; group < count; group++)
		add_lines(report, group, o);
	outline_items(o, CHAPTER);
	if (o->count == before + 1)
		outline_title(o, "In your code");
	for (enum line_group group = 0; group < count; group++)
		if (lines->groups[group].samples > 0 && lines->groups[group].samples < LEAST_COUNT)
			outline_item(o, GROUPS[group].label, "too few samples of lines: %" PRId64,
				     lines->groups[group].samples);
	for (enum line_group group = 0; group < count; group++)
		add_holders(report, group, o);
	if (report->samples.reason)
		outline_item(o, "Lines", "%s", report->samples.reason);
}

static bool is_within_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static int head_length(const char *text)
{
	size_t length = strlen(text);

	if (length > MOST_NAME)
		for (length = MOST_NAME; length && is_within_character(text[length]);)
			length--;
	return (int)length;
}

static const char *tail(const char *text)
{
	size_t length = strlen(text);

	if (length > MOST_NAME)
		for (text += length - MOST_NAME; is_within_character(*text);)
			text++;
	return text;
}

/* Returns false if the report is in doubt, or on a part of the run: samples are of the whole. */
static bool is_of_samples(const struct report *report)
{
	const struct batch_filter *filter = &report->filter;

	return filter->epoch < 0 && filter->first < 0 && filter->last < 0 &&
	       !report->finding.is_doubtful;
}

/* If a line of loads or steps spends most of its time in one function of a library, names it. */
static void add_callee(const struct report *report, const struct line_named *named,
		       struct text *text)
{
	const int64_t loader_id = report->loader ? report->loader->loader_id : 0;
	const struct line_filter filter =
		lines_filter(&report->samples, loader_id, named->group);
	char place[CODE_WORDS];
	uint32_t frame;

	if ((named->group != LINE_LOADS && named->group != LINE_STEPS) || named->is_holder ||
	    !named->line->is_own ||
	    callee_find(&report->samples, &filter, named->line->frame, &frame) != 1)
		return;
	code_place(report, frame, place);
	text_add(text, ", mostly in %s, %.*s", CODE_FUNCTION(report, frame),
		 (int)strcspn(place, ":"), place);
}

static void add_line_words(const struct report *report, const struct line_named *named,
			   struct text *text)
{
	const char *function = CODE_FUNCTION(report, named->line->frame);
	const char *whole = GROUPS[named->group].one;

	if (named->is_holder)
		whole = GROUPS[named->group].all;
	else if (named->group == LINE_AFTERS && report->lines.groups[LINE_AFTERS].has_gaps)
		whole = "the time after the optimizer and between epochs";
	text_add(text, "%.*s, %s, %s %s (± %.0f) of %s", head_length(function), function,
		 tail(CODE_PLACE(report, named->line->frame)),
		 named->is_holder ? "in another thread, holds the interpreter in" : "takes",
		 UNITS_SHARE(named->line->share), ceil(100 * named->line->error), whole);
	if (named->line->of_function >= SPREAD * named->line->share)
		text_add(text, ", the whole function %s", UNITS_SHARE(named->line->of_function));
	add_callee(report, named, text);
}

bool code_add_named(const struct report *report, struct text *text)
{
	struct line_named named;

	if (!is_of_samples(report) ||
	    !lines_name(&report->lines, &report->finding, &report->diagnosis, &named))
		return false;
	add_line_words(report, &named, text);
	return true;
}

bool code_add_lead(const struct report *report, enum line_group group, struct text *text)
{
	const struct line_lead *lead = &report->lines.groups[group];
	struct line_named named = {.group = group};

	if (!is_of_samples(report) || lead->samples < LEAST_COUNT)
		return false;
	if (group == LINE_STEPS)
		named.line = lines_of_function(lead);
	for (size_t i = 0; i < lead->count && !named.line; i++)
		if (!lead->lines[i].is_loop &&
		    !(group == LINE_STEPS && lead->lines[i].share > LINE_IS_STEP) &&
		    lead->lines[i].share - lead->lines[i].error >= LEAST_LEAD)
			named.line = &lead->lines[i];
	if (named.line)
		add_line_words(report, &named, text);
	return named.line;
}

const struct line_share *code_named(const struct report *report, enum line_group group)
{
	struct line_named named;

	if (!is_of_samples(report) ||
	    !lines_name(&report->lines, &report->finding, &report->diagnosis, &named) ||
	    named.group != group || named.is_holder)
		return NULL;
	return named.line;
}

/* Returns the line of code_named() if its function is the user's and takes most of the time. */
static const struct line_share *find_leader(const struct report *report, enum line_group group)
{
	const struct line_share *line = code_named(report, group);

	if (!line || !line->is_own || line->of_function - line->function_error < MOSTLY)
		return NULL;
	return line;
}

bool code_add_leader(const struct report *report, enum line_group group, bool begins_sentence,
		     struct text *text)
{
	const struct line_share *line = find_leader(report, group);
	const char *function;

	if (!line)
		return false;
	function = CODE_FUNCTION(report, line->frame);
	if (strncmp(lines_bare_name(function), "__", 2) == 0 && line->share >= MOSTLY)
		text_add(text, "%sine %s", begins_sentence ? "L" : "l",
			 tail(CODE_PLACE(report, line->frame)));
	else
		text_add(text, "%.*s", head_length(function), function);
	return true;
}

bool code_is_leader_maker(const struct report *report, enum line_group group)
{
	const struct line_share *line = find_leader(report, group);
	const char *function = line ? report->samples.frames[line->frame].function : "";

	return strcmp(lines_bare_name(function), "__init__") == 0;
}

struct code_line code_line_at(const struct report *report, size_t place)
{
	const size_t group = place / (2 * CODE_MOST_LINES), i = place % CODE_MOST_LINES;
	const bool is_holder = place / CODE_MOST_LINES % 2;
	const struct line_lead *lead = is_holder ? &report->lines.holders[group]
						 : &report->lines.groups[group];

	if (group >= ARRAY_COUNT(GROUPS) || i >= lead->count || lead->lines[i].share < JSON_SHARE)
		return (struct code_line){0};
	return (struct code_line){&lead->lines[i], GROUPS[group].id};
}

/* Writes how long a process has been stuck. From a minute to an hour, that is in whole minutes. */
static const char *put_length(const struct doing *doing, char buffer[UNITS_MAX])
{
	const int64_t ns = doing->seen_ns - doing->since_ns;

	if (ns < MINUTE_NS || ns >= 60 * MINUTE_NS)
		return units_time(buffer, (double)ns);
	snprintf(buffer, UNITS_MAX, "%" PRId64 " min", ns / MINUTE_NS);
	return buffer;
}

void code_stuck(const struct report *report, struct outline *o)
{
	const struct doing *stuck = report->stuck;
	const size_t count = report->stuck_count;
	char who[64], length[UNITS_MAX], more[32] = "";

	for (size_t i = 0; i < count && i < MOST_STUCK; i++) {
		snprintf(who, sizeof(who), "main process");
		if (stuck[i].worker_id != UNKNOWN)
			snprintf(who, sizeof(who), "worker %" PRId64, stuck[i].worker_id);
		if (i + 1 == MOST_STUCK && count > MOST_STUCK)
			snprintf(more, sizeof(more), "; and %zu more", count - MOST_STUCK);
		outline_warning(o, "Stuck", "%s: %s in %s(), %s%s", who,
				put_length(&stuck[i], length),
				CODE_FUNCTION(report, stuck[i].inner),
				CODE_PLACE(report, stuck[i].frame), more);
	}
}
