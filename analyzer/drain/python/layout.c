/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/python/layout.h"

#include <stddef.h>

#define NONE LAYOUT_NONE

/* Since 3.13 _PyRuntime begins with struct _Py_DebugOffsets, made for readers like this one. */
#define DEBUG_MINOR 13

#define DEBUG_COOKIE        "xdebugpy"
#define DEBUG_VERSION       1
#define DEBUG_FREE_THREADED 2
#define DEBUG_WORDS         93

/* larger offsets are not believed: the state of an interpreter has some 100,000 bytes */
#define OFFSET_MAX (1 << 20)

#define MINOR_FIRST 8
#define MINOR_COUNT 8

static const uint32_t offsets[LAYOUT_COUNT][MINOR_COUNT] = {
#define OFFSET(name, ...) [name] = {__VA_ARGS__},
#include "drain/python/layout.def"
};

/* Returns the highest end of 8-byte fields `first` to `last` of one struct. */
static uint32_t end_of(const struct layout *layout, enum layout_offset first,
		       enum layout_offset last)
{
	uint32_t end = OBJECT_SIZE;

	for (int i = first; i <= (int)last; i++)
		if (i != CFRAME_FRAME && i != CODE_START && layout->at[i] != NONE &&
		    layout->at[i] > end)
			end = layout->at[i];
	return end + 8;
}

static enum reason read_debug_offsets(const struct memory *memory, uint64_t runtime,
				      uint32_t version, struct layout *layout)
{
	uint64_t words[DEBUG_WORDS];
	int r = memory_read(memory, runtime, words, sizeof(words));

	if (r < 0)
		return reason_of(r);
	/* A second copy of libpython that the process does not use has no cookie. */
	if (memcmp(words, DEBUG_COOKIE, 8) != 0)
		return REASON_NOT_READY;
	if (words[DEBUG_FREE_THREADED])
		return REASON_FREE_THREADED;
	if (words[DEBUG_VERSION] != version)
		return REASON_STRANGE;
	for (size_t i = 0; i < LAYOUT_COUNT; i++) {
		if (layout->at[i] == NONE)
			continue;
		if (words[layout->at[i]] >= OFFSET_MAX)
			return REASON_STRANGE;
		layout->at[i] = (uint32_t)words[layout->at[i]];
	}
	layout->at[GIL_HOLDER] -= layout->at[GIL];
	layout->at[GIL_LOCKED] -= layout->at[GIL];
	return REASON_OBSERVED;
}

enum reason layout_find(const struct memory *memory, uint64_t runtime, uint32_t version,
			struct layout *ret)
{
	const uint32_t minor = version >> 16 & 0xff;
	enum reason reason = REASON_OBSERVED;

	/* Pre-releases may have another layout than their final version. */
	if (version >> 24 != 3 || minor < MINOR_FIRST || minor - MINOR_FIRST >= MINOR_COUNT ||
	    (version & 0xf0) != 0xf0)
		return REASON_VERSION;
	ret->minor = minor;
	for (size_t i = 0; i < LAYOUT_COUNT; i++)
		ret->at[i] = offsets[i][minor - MINOR_FIRST];
	if (minor >= DEBUG_MINOR)
		reason = read_debug_offsets(memory, runtime, version, ret);
#ifndef __x86_64__
	else
		reason = REASON_PROCESSOR;
#endif
	if (reason != REASON_OBSERVED)
		return reason;
	ret->thread_bytes = end_of(ret, THREAD_NEXT, THREAD_NATIVE);
	ret->frame_bytes = end_of(ret, FRAME_CODE, FRAME_OWNER);
	ret->code_bytes = end_of(ret, CODE_FIRST_LINE, CODE_START);
	if (ret->thread_bytes > LAYOUT_THREAD_BYTES || ret->frame_bytes > LAYOUT_FRAME_BYTES ||
	    ret->code_bytes > LAYOUT_CODE_BYTES || ret->at[TEXT_ASCII] > LAYOUT_TEXT_BYTES)
		return REASON_STRANGE;
	return REASON_OBSERVED;
}
