/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/python/stack.h"

#define PAGE_BYTES 4096

/* most frames to walk: between those of Python are some of C functions that called Python */
#define STEPS_MAX (2 * STACK_FRAMES)

/* number of attempts to read a stack of which no frame can be read */
#define TRIES_MAX 3

/* Kinds of frames since 3.12. Those from OWNER_ENTRY to OWNER_LAST, the last one, are C code's. */
#define OWNER_ENTRY 3
#define OWNER_LAST  4

/* Since 3.14 the lowest bits of a reference say how the object is counted. */
#define REFERENCE_TAGS UINT64_C(3)

/* Memory from the start of a frame's page to the frame's end. Outer frames have lower addresses. */
struct window {
	uint64_t begin, end;
	uint8_t bytes[PAGE_BYTES + LAYOUT_FRAME_BYTES];
};

struct walk {
	const struct memory *memory;
	const struct layout *layout;
	uint64_t source, /* address of the thread state's pointer to its frame, or to its CFRAME */
		word;    /* that pointer, as last read */
	struct memory_list list;
	struct window window;
	uint64_t codes[STACK_FRAMES];
	int64_t offsets[STACK_FRAMES];
	size_t count;
};

static bool has_frame(const struct walk *walk, uint64_t frame)
{
	const struct window *window = &walk->window;

	return frame >= window->begin && frame < window->end &&
	       window->end - frame >= walk->layout->frame_bytes;
}

static void add_window(struct walk *walk, uint64_t frame)
{
	struct window *window = &walk->window;

	window->begin = frame / PAGE_BYTES * PAGE_BYTES;
	window->end = frame + walk->layout->frame_bytes;
	memory_add(&walk->list, window->begin, window->bytes, window->end - window->begin);
}

static bool read_window(struct walk *walk, uint64_t frame)
{
	walk->list.count = 0;
	add_window(walk, frame);
	return memory_read_list(walk->memory, &walk->list) == 1;
}

/* Reads in one call the pointer at `where` and the page of `frame`, which it probably points to. */
static uint64_t read_top(struct walk *walk, uint64_t where, uint64_t frame, struct stack *stack)
{
	struct memory_list *list = &walk->list;
	uint64_t before, after;

	list->count = 0;
	memory_add(list, where, &before, sizeof(before));
	add_window(walk, frame);
	memory_add(list, where, &after, sizeof(after));
	if (where != walk->source)
		memory_add(list, walk->source, &walk->word, sizeof(walk->word));
	if (memory_read_list(walk->memory, list) != (int)list->count) {
		walk->window.end = 0;
		stack->is_torn = true;
		return frame;
	}
	stack->is_torn = before != after || !has_frame(walk, before);
	return before;
}

static int64_t take_offset(const struct layout *layout, const uint8_t *frame, uint64_t code)
{
	const uint32_t at = layout->at[FRAME_INSTRUCTION];

	if (layout->at[CODE_START] != LAYOUT_NONE)
		return (int64_t)(memory_word(frame, at) - code - layout->at[CODE_START]);
	return (int64_t)memory_int(frame, at) * (layout->minor < 10 ? 1 : 2);
}

/* Walks from `frame` outwards. Returns false if an address cannot be read, or is not a frame's. */
static bool walk_frames(struct walk *walk, uint64_t frame, struct stack *stack)
{
	const uint32_t *at = walk->layout->at;

	for (int steps = 0; frame; steps++) {
		const uint8_t *bytes;
		uint64_t code;
		uint8_t owner;

		stack->is_cut = steps == STEPS_MAX || walk->count == STACK_FRAMES;
		if (stack->is_cut)
			return true;
		if (!has_frame(walk, frame) && !read_window(walk, frame))
			return false;
		bytes = walk->window.bytes + (frame - walk->window.begin);
		owner = at[FRAME_OWNER] == LAYOUT_NONE ? 0 : bytes[at[FRAME_OWNER]];
		code = memory_word(bytes, at[FRAME_CODE]) & ~REFERENCE_TAGS;
		frame = memory_word(bytes, at[FRAME_BACK]);
		if (owner > OWNER_LAST)
			return false;
		/* Since 3.14 a frame that has returned has its caller, but no code object. */
		stack->is_torn |= owner < OWNER_ENTRY && !code;
		if (owner >= OWNER_ENTRY || !code)
			continue;
		walk->codes[walk->count] = code;
		walk->offsets[walk->count++] = take_offset(walk->layout, bytes, code);
	}
	return true;
}

static void name_frames(struct walk *walk, struct code_cache *codes, struct stack *stack)
{
	uint8_t heads[STACK_FRAMES][LAYOUT_CODE_BYTES];
	int have;

	walk->list.count = 0;
	for (size_t i = 0; i < walk->count; i++)
		memory_add(&walk->list, walk->codes[i], heads[i], walk->layout->code_bytes);
	have = walk->count ? memory_read_list(walk->memory, &walk->list) : 0;
	for (int i = 0; i < have; i++) {
		struct stack_frame *frame = &stack->frames[stack->depth];

		frame->code = code_get(codes, walk->memory, walk->layout, walk->codes[i], heads[i]);
		if (!frame->code)
			break;
		frame->line = code_line(frame->code, walk->layout, walk->offsets[i]);
		stack->depth++;
	}
	stack->is_torn |= stack->depth < walk->count;
}

/* Returns false if the thread's CFRAME changed during the read: then frames may be wrong. */
static bool read_once(struct walk *walk, struct code_cache *codes, struct stack *ret)
{
	const uint32_t holder = walk->layout->at[CFRAME_FRAME];
	const uint64_t word = walk->word;
	uint64_t where = walk->source, frame = word;

	ret->depth = 0;
	ret->is_torn = ret->is_cut = false;
	if (holder != LAYOUT_NONE) {
		where = word + holder;
		ret->is_torn = memory_read(walk->memory, where, &frame, sizeof(frame)) < 0;
	}
	if (ret->is_torn || !frame)
		return true;
	frame = read_top(walk, where, frame, ret);
	/* If the current frame is on another page now, that page is read. */
	if (frame && !has_frame(walk, frame))
		frame = read_top(walk, where, frame, ret);
	walk->count = 0;
	ret->is_torn |= !walk_frames(walk, frame, ret);
	name_frames(walk, codes, ret);
	return holder == LAYOUT_NONE || walk->word == word;
}

void stack_read(const struct memory *memory, const struct layout *layout, struct code_cache *codes,
		uint64_t address, const uint8_t *state, struct stack *ret)
{
	static struct walk walk;
	bool is_torn = false, is_same;

	walk.memory = memory;
	walk.layout = layout;
	walk.source = address + layout->at[THREAD_FRAME];
	walk.word = memory_word(state, layout->at[THREAD_FRAME]);
	ret->depth = 0;
	ret->is_cut = false;
	/* If the frame was just left and freed, another attempt finds its caller. */
	for (int tries = 0; walk.word && tries < TRIES_MAX; tries++) {
		is_same = read_once(&walk, codes, ret);
		is_torn |= ret->is_torn || !is_same;
		if (is_same && (ret->depth || !ret->is_torn))
			break;
		if (memory_read(memory, walk.source, &walk.word, sizeof(walk.word)) < 0)
			break;
	}
	ret->is_torn = is_torn;
}
