/* SPDX-License-Identifier: Apache-2.0 */
#include "render/inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/units.h"

#define INDENT	   4
#define MOST_PARTS 10
#define MOST_SIZES 8
#define MOST_SLOW  3
#define MOST_FRAMES 4

static void add_part(struct inside_parts *parts, const char *name, const char *what, int64_t count,
		     int64_t ns)
{
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

void inside_decoder_name(const struct tally *decoder, char *name, size_t size)
{
	snprintf(name, size, "%s%s%s", decoder->detail, decoder->detail[0] ? ", " : "",
		 decoder->name);
}

struct inside_parts inside_parts(const struct inside *inside)
{
	struct inside_parts parts = {
		.items = calloc(inside->steps.count + inside->decoders.count + 3,
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

		inside_decoder_name(&inside->decoders.items[i], name, sizeof(name));
		add_part(&parts, name, "decode", inside->decoders.items[i].count,
			 inside->decoders.items[i].ns);
	}
	add_part(&parts, "read", "storage", 0, inside->loads.read_ns);
	add_part(&parts, "open", "storage", 0, inside->loads.open_ns);
	add_part(&parts, "collate", "", 0, inside->loads.collate_ns);
	qsort(parts.items, parts.count, sizeof(*parts.items), by_time);
	return parts;
}

static void print_parts(const struct inside *inside, const struct page *page)
{
	struct inside_parts parts = inside_parts(inside);
	char time[UNITS_MAX], share[UNITS_MAX], count[UNITS_MAX], each[UNITS_MAX];

	page_line(page, "  Where the time of all loads went, %s in all (own time of each)",
		  units_time(time, (double)inside->loads.load_ns));
	for (size_t i = 0; i < parts.count && i < MOST_PARTS; i++) {
		const struct inside_part *part = &parts.items[i];

		if (part->count)
			page_line(page, "%*s%-24.24s%7s %8s  %-9s %s times %s", INDENT, "",
				  part->name,
				  units_share(share,
					      (double)part->ns / (double)inside->loads.load_ns),
				  units_time(time, (double)part->ns), part->what,
				  units_count(count, part->count),
				  units_time(each, (double)part->ns / (double)part->count));
		else
			page_line(page,
				  *part->what ? "%*s%-24.24s%7s %8s  %s" : "%*s%-24.24s%7s %8s%s",
				  INDENT, "", part->name,
				  units_share(share,
					      (double)part->ns / (double)inside->loads.load_ns),
				  units_time(time, (double)part->ns), part->what);
	}
	free(parts.items);
	page_break(page);
}

static void print_decoders(const struct inside *inside, const struct page *page)
{
	char name[240], width[32], speed[32], count[UNITS_MAX], each[UNITS_MAX], bytes[UNITS_MAX];

	if (!inside->decoders.count)
		return;
	page_line(page, "  Decoded, by format and size");
	for (size_t i = 0; i < inside->decoders.count && i < MOST_SIZES; i++) {
		const struct tally *decoder = &inside->decoders.items[i];
		double images = (double)decoder->count;

		/* What lies around another decoder, which counted the images. */
		if (!decoder->count)
			continue;
		inside_decoder_name(decoder, name, sizeof(name));
		snprintf(width, sizeof(width), "to %" PRId64 " px", decoder->class);
		if (decoder->pixels)
			snprintf(speed, sizeof(speed), "%.0f Mpixel/s",
				 (double)decoder->pixels * 1e3 / (double)decoder->ns);
		page_line(page, "%*s%-18.18s%10s%7s x%8s%14s%9s", INDENT, "", name,
			  decoder->class ? width : "", units_count(count, decoder->count),
			  units_time(each, (double)decoder->ns / images),
			  decoder->pixels ? speed : "",
			  decoder->bytes ? units_bytes(bytes, (double)decoder->bytes / images)
					 : "");
	}
	page_break(page);
}

/* The frames that tell most: the innermost. */
static void print_stack(const char *stack, const struct page *page)
{
	for (int i = 0; i < MOST_FRAMES && *stack; i++) {
		int length = (int)strcspn(stack, "\n");

		page_line(page, "%*s%.*s", 15, "", length, stack);
		stack += length;
		stack += *stack == '\n';
	}
}

/*
 * With what is known of each time: the list is ordered by the lesser one. What others than those of
 * the list took may be theirs, too, from before they were in it.
 */
static void print_paths(const struct page *page, const char *label, const struct tally_list *list,
			const char *suffix, int64_t unlisted_ns)
{
	char least[UNITS_MAX], most[UNITS_MAX];
	size_t i;

	for (i = 0; i < list->count && i < MOST_SLOW; i++) {
		const struct tally *path = &list->items[i];

		/* Half guessed is not worth a name. */
		if (path->error_ns > path->ns / 2)
			break;
		units_time(least, (double)(path->ns - path->error_ns));
		units_time(most, (double)path->ns);
		if (strcmp(least, most) != 0)
			page_entry(page, 2, 13, i ? "" : label, "%s to %s in %s%s", least, most,
				   path->name, suffix);
		else
			page_entry(page, 2, 13, i ? "" : label, "%s in %s%s", most, path->name,
				   suffix);
	}
	if (i && unlisted_ns > 0)
		page_entry(page, 2, 13, "", "others at most %s each; these may have that much more",
			   units_time(most, (double)unlisted_ns));
}

static void print_slowest(const struct inside *inside, const struct page *page)
{
	char time[UNITS_MAX];
	const char *label = "Slowest";

	for (size_t i = 0; i < inside->samples.count && i < MOST_SLOW; i++) {
		const struct tally *sample = &inside->samples.items[i];

		page_entry(page, 2, 13, label, "%s[%" PRId64 "] %s%s%s", sample->detail,
			   sample->class, units_time(time, (double)sample->ns),
			   sample->name[0] ? ", " : "", sample->name);
		label = "";
	}
	print_paths(page, "Files", &inside->files, "", inside->unlisted_file_ns);
	print_paths(page, "Folders", &inside->folders, "/", inside->unlisted_folder_ns);
	label = "Slow calls";
	for (size_t i = 0; i < inside->slow_count && i < MOST_SLOW; i++) {
		page_entry(page, 2, 13, label, "%s in %s",
			   units_time(time, (double)inside->slow[i].ns), inside->slow[i].what);
		print_stack(inside->slow[i].stack, page);
		label = "";
	}
	page_break(page);
}

void inside_text(const struct inside *inside, const struct page *page)
{
	if (inside->loads.load_ns && (inside->steps.count || inside->decoders.count)) {
		print_parts(inside, page);
		print_decoders(inside, page);
	}
	/* Also of loads of which nobody saw more, or that nobody saw: of a loader's own threads. */
	if (inside->files.count || inside->samples.count ||
	    (inside->loads.load_ns && inside->slow_count))
		print_slowest(inside, page);
}

enum member {
	MEMBER_NAME = 1,
	MEMBER_DETAIL = 2,
	MEMBER_CLASS = 4,
	MEMBER_COUNT = 8,
	MEMBER_BYTES = 16,
	MEMBER_PIXELS = 32,
	MEMBER_SLOWEST = 64,
	MEMBER_ERROR = 128,
};

/* `names`: what name, detail and class are called here. */
static void add_list(struct jsonw *json, const char *key, const struct tally_list *list,
		     const char *const names[3], unsigned int members)
{
	jsonw_open(json, key, '[');
	for (size_t i = 0; i < list->count; i++) {
		const struct tally *tally = &list->items[i];

		jsonw_open(json, NULL, '{');
		if (members & MEMBER_NAME)
			jsonw_string(json, names[0], tally->name);
		if (members & MEMBER_DETAIL)
			jsonw_string(json, names[1], tally->detail[0] ? tally->detail : NULL);
		if (members & MEMBER_CLASS)
			jsonw_int(json, names[2], tally->class);
		if (members & MEMBER_COUNT)
			jsonw_int(json, "count", tally->count);
		jsonw_ns(json, "time_s", tally->ns);
		if (members & MEMBER_BYTES)
			jsonw_int(json, "bytes", tally->bytes);
		if (members & MEMBER_PIXELS)
			jsonw_int(json, "pixels", tally->pixels);
		if (members & MEMBER_SLOWEST)
			jsonw_ns(json, "slowest_s", tally->slowest_ns);
		if (members & MEMBER_ERROR)
			jsonw_ns(json, "error_s", tally->error_ns);
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
}

void inside_json(const struct inside *inside, struct jsonw *json)
{
	static const char *const step[] = {"name", "kind", NULL};
	static const char *const decoder[] = {"library", "format", "width_class"};
	static const char *const sample[] = {"path", "dataset", "sample"};
	static const char *const path[] = {"path", NULL, NULL};
	const unsigned int file = MEMBER_NAME | MEMBER_COUNT | MEMBER_BYTES | MEMBER_SLOWEST |
				  MEMBER_ERROR;

	add_list(json, "steps", &inside->steps, step,
		 MEMBER_NAME | MEMBER_DETAIL | MEMBER_COUNT | MEMBER_SLOWEST);
	add_list(json, "decoders", &inside->decoders, decoder,
		 MEMBER_NAME | MEMBER_DETAIL | MEMBER_CLASS | MEMBER_COUNT | MEMBER_BYTES |
			 MEMBER_PIXELS | MEMBER_SLOWEST);
	add_list(json, "samples", &inside->samples, sample,
		 MEMBER_NAME | MEMBER_DETAIL | MEMBER_CLASS);
	jsonw_open(json, "slow", '[');
	for (size_t i = 0; i < inside->slow_count; i++) {
		jsonw_open(json, NULL, '{');
		jsonw_string(json, "what", inside->slow[i].what);
		jsonw_ns(json, "time_s", inside->slow[i].ns);
		jsonw_string(json, "stack",
			     inside->slow[i].stack[0] ? inside->slow[i].stack : NULL);
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
	add_list(json, "files", &inside->files, path, file);
	add_list(json, "folders", &inside->folders, path, file);
	jsonw_ns(json, "files_unlisted_s", inside->unlisted_file_ns);
	jsonw_ns(json, "folders_unlisted_s", inside->unlisted_folder_ns);
}
