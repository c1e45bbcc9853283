/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/account/load_facts.h"
#include "render/form/units.h"
#include "store/database/run.h"

#define MOST_PARTS 16
#define MOST_SIZES 24
#define MOST_FRAMES 4
#define FIXED_PARTS (4 + LOAD_WAIT_MAX)
#define MOST_WORDS  4
#define LEAST_WORDS 0.02
#define LEAST_IMAGES 0.2
#define LEAST_REST  0.1
#define LEAST_AT_ONCE 0.02

static void add_part(struct inside_parts *parts, const char *name, const char *what, int64_t count,
		     int64_t ns)
{
	if (ns == UNKNOWN)
		return;
	for (size_t i = 0; i < parts->count; i++) {
		struct inside_part *part = &parts->items[i];

		if (strcmp(part->name, name) == 0 && strcmp(part->what, what) == 0) {
			part->count += count;
			part->ns += ns;
			return;
		}
	}
	if (ns <= 0)
		return;
	parts->items[parts->count] = (struct inside_part){.what = what, .count = count, .ns = ns};
	snprintf(parts->items[parts->count].name, sizeof(parts->items[0].name), "%s", name);
	parts->count++;
}

static int by_time(const void *a, const void *b)
{
	const struct inside_part *left = a, *right = b;

	return left->ns < right->ns   ? 1
	       : left->ns > right->ns ? -1
				      : strcmp(left->name, right->name);
}

static void decoder_name(const struct tally *decoder, char *name, size_t size)
{
	snprintf(name, size, "%s%s%s", decoder->detail, decoder->detail[0] ? ", " : "",
		 decoder->name);
}

struct inside_parts inside_parts(const struct inside *inside)
{
	struct inside_parts parts = {
		.items = calloc(inside->steps.count + inside->decoders.count + FIXED_PARTS,
				sizeof(struct inside_part)),
	};

	if (!parts.items)
		return parts;
	for (size_t i = 0; i < inside->steps.count; i++) {
		const struct tally *step = &inside->steps.items[i];

		add_part(&parts, step->name,
			 strcmp(step->detail, "dataset") == 0 ? "dataset" : "transform",
			 step->count, step->ns);
	}
	for (size_t i = 0; i < inside->decoders.count; i++) {
		char name[240];

		decoder_name(&inside->decoders.items[i], name, sizeof(name));
		add_part(&parts, name, "decode", inside->decoders.items[i].count,
			 inside->decoders.items[i].ns);
	}
	add_part(&parts, "read", "storage", 0, inside->loads.read_ns);
	add_part(&parts, "open", "storage", 0, inside->loads.open_ns);
	add_part(&parts, "collate", "", 0, inside->loads.collate_ns);
	add_part(&parts, "sleeping", "or in locks, queues", 0, inside->loads.blocked_ns);
	qsort(parts.items, parts.count, sizeof(*parts.items), by_time);
	return parts;
}

static bool has_parts(const struct inside *inside)
{
	return inside->loads.load_ns > 0 && (inside->steps.count || inside->decoders.count);
}

static void divide_sleep(const struct load_facts *facts, struct inside_parts *parts)
{
	static const char *const names[LOAD_WAIT_MAX] = {
		[LOAD_WAIT_ASLEEP] = "asleep",       [LOAD_WAIT_LOCK] = "a shared lock",
		[LOAD_WAIT_THREAD] = "other threads", [LOAD_WAIT_SOCKET] = "sockets",
		[LOAD_WAIT_PIPE] = "pipes",          [LOAD_WAIT_PROGRAM] = "programs",
		[LOAD_WAIT_SYNC] = "fsync()",        [LOAD_WAIT_WRITE] = "writing to pipes",
		[LOAD_WAIT_FAULT] = "page faults",    [LOAD_WAIT_OTHER] = "other waits",
	};
	int64_t faults_ns;

	if (!facts || !(facts->load_ns > 0) || !parts->count)
		return;
	/* Page faults count in the part that touches the pages: assume the longest part. */
	faults_ns = (int64_t)fmin(fmax(facts->wait_ns[LOAD_WAIT_FAULT], 0), 9e18);
	parts->items[0].ns -= faults_ns < parts->items[0].ns ? faults_ns : parts->items[0].ns;
	for (size_t i = 0; i < parts->count; i++)
		if (strcmp(parts->items[i].name, "sleeping") == 0)
			parts->items[i].ns = 0;
	for (int kind = 0; kind < LOAD_WAIT_MAX; kind++) {
		double wait_ns = facts->wait_ns[kind];

		/* Waits for threads are in the decoders' time, too. */
		if (kind == LOAD_WAIT_THREAD)
			wait_ns -= facts->decode_wait_ns;
		if (wait_ns > 0)
			add_part(parts, names[kind], "", 0, (int64_t)fmin(wait_ns, 9e18));
	}
	if (facts->calls_ns > 0)
		add_part(parts,
			 facts->wait_ns[LOAD_WAIT_PIPE] >= facts->wait_ns[LOAD_WAIT_SOCKET]
				 ? "calls on pipes"
				 : "calls on sockets",
			 "", 0, (int64_t)fmin(facts->calls_ns, 9e18));
	qsort(parts->items, parts->count, sizeof(*parts->items), by_time);
}

bool inside_find_largest(const struct inside *inside, const struct load_facts *facts,
			 struct inside_part ret[2])
{
	struct inside_parts parts = {0};

	if (has_parts(inside))
		parts = inside_parts(inside);
	divide_sleep(facts, &parts);
	for (size_t i = 0; parts.count > 1 && i < 2; i++)
		ret[i] = parts.items[i];
	free(parts.items);
	return parts.count > 1;
}

bool inside_decodes_images(const struct inside *inside)
{
	double ns = 0;

	for (size_t i = 0; i < inside->decoders.count; i++)
		if (inside->decoders.items[i].class > 0 &&
		    inside->decoders.items[i].pixels > 0)
			ns += (double)inside->decoders.items[i].ns;
	return ns >= LEAST_IMAGES * (double)inside->loads.load_ns && ns > 0;
}

void inside_add_words(const struct inside *inside, const struct load_facts *facts,
		      struct text *text)
{
	double all_ns = (double)inside->loads.load_ns, rest_ns = all_ns;
	struct inside_parts parts = inside_parts(inside);

	if (!parts.items || !(all_ns > 0)) {
		free(parts.items);
		return;
	}
	divide_sleep(facts, &parts);
	for (size_t i = 0; i < parts.count && i < MOST_WORDS; i++) {
		const struct inside_part *part = &parts.items[i];
		const char *library = strstr(part->name, ", ");

		if ((double)part->ns >= LEAST_WORDS * all_ns)
			text_add(text, "%s%.60s %s", i ? ", " : "",
				 library ? library + 2 : part->name,
				 UNITS_SHARE((double)part->ns / all_ns));
	}
	for (size_t i = 0; i < parts.count; i++)
		rest_ns -= (double)parts.items[i].ns;
	if (*text->words && rest_ns >= LEAST_REST * all_ns)
		text_add(text, ", the rest %s", UNITS_SHARE(rest_ns / all_ns));
	else if (*text->words && rest_ns <= -LEAST_AT_ONCE * all_ns)
		text_add(text, ", partly at the same time");
	free(parts.items);
}

static void add_parts(const struct inside *inside, struct outline *o)
{
	struct inside_parts parts = inside_parts(inside);
	double all_ns = (double)inside->loads.load_ns;

	outline_table(o, "life", "", "#Share", "#Time", "#Calls", "#Each", "");
	outline_title(o, "Where the time of all loads went, %s in all (own time of each)",
		      UNITS_TIME(all_ns));
	for (size_t i = 0; i < parts.count && i < MOST_PARTS; i++) {
		const struct inside_part *part = &parts.items[i];

		outline_cells(o, part->name, UNITS_SHARE((double)part->ns / all_ns),
			      UNITS_TIME((double)part->ns),
			      part->count ? UNITS_COUNT(part->count) : "",
			      part->count ? UNITS_TIME((double)part->ns / (double)part->count) : "",
			      part->what);
	}
	free(parts.items);
}

static void add_decoders(const struct inside *inside, struct outline *o)
{
	char name[240], width[UNITS_MAX], speed[UNITS_MAX];

	outline_table(o, "life", "", "#Width", "#Count", "#Each", "#Speed", "#Bytes", "#Time");
	outline_title(o, "Decoded, by format and size");
	for (size_t i = 0; i < inside->decoders.count && i < MOST_SIZES; i++) {
		const struct tally *decoder = &inside->decoders.items[i];
		double images = (double)decoder->count;

		/* Skip a decoder without images: it calls another one, which counts them. */
		if (!decoder->count)
			continue;
		decoder_name(decoder, name, sizeof(name));
		snprintf(width, sizeof(width), "to %" PRId64 " px", decoder->class);
		snprintf(speed, sizeof(speed), "%.0f Mpixel/s",
			 (double)decoder->pixels * 1e3 / (double)decoder->ns);
		outline_cells(o, name, decoder->class ? width : "-", UNITS_COUNT(decoder->count),
			      UNITS_TIME((double)decoder->ns / images),
			      decoder->class && decoder->pixels && decoder->ns ? speed : "-",
			      decoder->bytes ? UNITS_BYTES((double)decoder->bytes / images) : "-",
			      UNITS_TIME((double)decoder->ns));
	}
}

static void add_samples(const struct inside *inside, struct outline *o)
{
	outline_table(o, "slowest", "Sample", "#Slowest", "Last data file of it");
	outline_title(o, "Samples");
	for (size_t i = 0; i < inside->samples.count && i < INSIDE_MOST_SLOW; i++) {
		const struct tally *sample = &inside->samples.items[i];

		outline_first(o, PAGE_PLAIN, "%s[%" PRId64 "]", sample->detail, sample->class);
		outline_more(o, UNITS_TIME((double)sample->ns), sample->name);
	}
}

/* Adds files or folders, sorted by the least time that each took. */
static void add_paths(struct outline *o, const char *title, const struct tally_list *list,
		      const char *suffix, int64_t unlisted_ns)
{
	outline_table(o, "slowest", "#Time", "#Slowest", "#Opens", "#Bytes", "");
	if (unlisted_ns > 0)
		outline_title(
			o,
			"%s; others took at most %s each, and these may have taken that much more",
			title, UNITS_TIME((double)unlisted_ns));
	else
		outline_title(o, "%s", title);
	for (size_t i = 0; i < list->count && i < INSIDE_MOST_SLOW; i++) {
		const struct tally *path = &list->items[i];
		const char *least = UNITS_TIME((double)(path->ns - path->error_ns));
		const char *most = UNITS_TIME((double)path->ns);
		bool is_known = strcmp(least, most) == 0;

		/* A path is not shown if more than half of its time may belong to other paths. */
		if (path->error_ns > path->ns / 2)
			break;
		outline_first(o, PAGE_PLAIN, "%s%s%s", is_known ? "" : least,
			      is_known ? "" : " to ", most);
		outline_more(o, UNITS_TIME((double)path->slowest_ns), UNITS_COUNT(path->count),
			     UNITS_BYTES((double)path->bytes));
		outline_cell(o, "%s%s", path->name, suffix);
	}
}

static void add_calls(const struct inside *inside, struct outline *o)
{
	outline_table(o, "slowest", "#Time", "Call");
	outline_title(o, "Single calls, and where they came from");
	for (size_t i = 0; i < inside->slow_count && i < INSIDE_MOST_SLOW; i++) {
		const struct slow_call *call = &inside->slow[i];
		const char *stack = call->stack;

		outline_cells(o, UNITS_TIME((double)call->ns), call->what);
		for (int frame = 0; frame < MOST_FRAMES && *stack; frame++) {
			int length = (int)strcspn(stack, "\n");

			outline_first(o, PAGE_DIM, "%s", "");
			outline_cell(o, "  %.*s", length, stack);
			stack += length;
			stack += *stack == '\n';
		}
	}
}

void inside_outline(const struct inside *inside, struct outline *o)
{
	if (has_parts(inside)) {
		add_parts(inside, o);
		add_decoders(inside, o);
	}
	/* A loader that loads in threads of its own may have files and samples, but no loads. */
	if (!inside->files.count && !inside->samples.count &&
	    !(inside->loads.load_ns > 0 && inside->slow_count))
		return;
	add_samples(inside, o);
	add_paths(o, "Files", &inside->files, "", inside->unlisted_file_ns);
	add_paths(o, "Folders", &inside->folders, "/", inside->unlisted_folder_ns);
	add_calls(inside, o);
}
