/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/lines/seen_stacks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cause/lines.h"
#include "dlprof/hash.h"
#include "dlprof/units.h"

#define MOST_FRAMES 16384
#define MOST_STACKS 8192
#define MOST_PLACES (1 << 17) /* most frames in all stacks together */
#define BUCKETS     32768     /* a power of two above MOST_FRAMES and MOST_STACKS */
#define ID_CHARS    21

struct frame {
	char *file, *name;
	int32_t line;
	int64_t id; /* id of the frame in the database; 0: not written yet */
};

struct kept {
	uint32_t begin, depth; /* the stack's range in `places` */
};

struct seen_stacks {
	struct frame frames[MOST_FRAMES];
	struct kept stacks[MOST_STACKS];
	uint32_t places[MOST_PLACES];
	uint32_t frame_count, stack_count, place_count;
	/* hash tables of frames and stacks: a bucket has number + 1, or 0 if it is free */
	uint32_t frame_of[BUCKETS], stack_of[BUCKETS];
	char text[STACK_FRAMES * ID_CHARS + 1];
};

/* The Python functions that a worker process or a thread runs first. */
static const char *const ENTRIES[] = {"_worker_loop", "_bootstrap"};

int seen_open(struct seen_stacks **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void seen_close(struct seen_stacks *seen)
{
	for (uint32_t i = 0; seen && i < seen->frame_count; i++) {
		free(seen->frames[i].file);
		free(seen->frames[i].name);
	}
	free(seen);
}

static uint64_t hash_of_frame(const struct stack_frame *frame)
{
	const char *file = frame->code->file, *name = frame->code->name;
	uint64_t hash = hash_bytes(HASH_BEGIN, file, strlen(file));

	return hash_word(hash_bytes(hash, name, strlen(name)), (uint64_t)frame->line);
}

static bool is_frame(const struct frame *kept, const struct stack_frame *frame)
{
	return kept->line == frame->line && strcmp(kept->name, frame->code->name) == 0 &&
	       strcmp(kept->file, frame->code->file) == 0;
}

static uint32_t number_of_frame(struct seen_stacks *seen, const struct stack_frame *frame)
{
	size_t at = (hash_of_frame(frame) >> 32) % BUCKETS;
	struct frame *kept;

	for (; seen->frame_of[at]; at = (at + 1) % BUCKETS)
		if (is_frame(&seen->frames[seen->frame_of[at] - 1], frame))
			return seen->frame_of[at] - 1;
	if (seen->frame_count == MOST_FRAMES)
		return SEEN_NONE;
	kept = &seen->frames[seen->frame_count];
	*kept = (struct frame){.file = strdup(frame->code->file),
			       .name = strdup(frame->code->name),
			       .line = frame->line};
	if (!kept->file || !kept->name) {
		free(kept->file);
		free(kept->name);
		return SEEN_NONE;
	}
	seen->frame_of[at] = ++seen->frame_count;
	return seen->frame_count - 1;
}

static bool is_entry(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(ENTRIES); i++)
		if (strcmp(lines_bare_name(name), ENTRIES[i]) == 0)
			return true;
	return false;
}

static uint32_t number_of_stack(struct seen_stacks *seen, const uint32_t *frames, uint32_t depth)
{
	const size_t bytes = depth * sizeof(*frames);
	size_t at = (hash_bytes(HASH_BEGIN, frames, bytes) >> 32) % BUCKETS;

	for (; seen->stack_of[at]; at = (at + 1) % BUCKETS) {
		const struct kept *kept = &seen->stacks[seen->stack_of[at] - 1];

		if (kept->depth == depth && memcmp(&seen->places[kept->begin], frames, bytes) == 0)
			return seen->stack_of[at] - 1;
	}
	if (seen->stack_count == MOST_STACKS || depth > MOST_PLACES - seen->place_count)
		return SEEN_NONE;
	memcpy(&seen->places[seen->place_count], frames, bytes);
	seen->stacks[seen->stack_count] = (struct kept){seen->place_count, depth};
	seen->place_count += depth;
	seen->stack_of[at] = ++seen->stack_count;
	return seen->stack_count - 1;
}

uint32_t seen_stack(struct seen_stacks *seen, const struct stack *stack)
{
	uint32_t frames[STACK_FRAMES], depth = 0, number = SEEN_NONE;

	for (size_t i = 0; i < stack->depth && !is_entry(stack->frames[i].code->name); i++) {
		frames[depth] = number_of_frame(seen, &stack->frames[i]);
		if (frames[depth] == SEEN_NONE)
			break;
		depth++;
	}
	if (!depth && stack->depth) {
		frames[0] = number_of_frame(seen, &stack->frames[0]);
		depth = frames[0] != SEEN_NONE;
	}
	for (; depth && number == SEEN_NONE; depth /= 2)
		number = number_of_stack(seen, frames, depth);
	return number;
}

int seen_text(struct seen_stacks *seen, uint32_t stack, struct writer *writer, const char **ret)
{
	const struct kept *kept = &seen->stacks[stack];
	char *at = seen->text;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < kept->depth; i++) {
		struct frame *frame = &seen->frames[seen->places[kept->begin + i]];

		if (!frame->id)
			r = writer_frame(writer, frame->file, frame->name, frame->line, &frame->id);
		at += sprintf(at, "%s%lld", i ? " " : "", (long long)frame->id);
	}
	*ret = seen->text;
	return r;
}

void seen_forget_ids(struct seen_stacks *seen)
{
	for (uint32_t i = 0; i < seen->frame_count; i++)
		seen->frames[i].id = 0;
}
