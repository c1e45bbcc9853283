/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/python/code.h"

#include <stdlib.h>

#include "dlprof/hash.h"
#include "dlprof/units.h"
#include "drain/python/lines.h"

#define COUNT_MAX 1024
#define BYTES_MAX ((size_t)1 << 20)

/* Longer names and paths are cut. A code object with a longer line table gets no lines. */
#define CHARS_MAX 1024
#define TABLE_MAX (1 << 17)

/* Parts of a str's state: bytes per character, and whether the characters follow the header. */
#define STATE_KIND(state) ((state) >> 2 & 7)
#define STATE_COMPACT     (1u << 5)
#define STATE_ASCII       (1u << 6)

/* Members of a code object. If one has changed, the address belongs to another object now. */
struct head {
	uint64_t size, file, name, lines;
	int32_t first_line;
};

struct code_entry {
	struct code code; /* must be first: code_get() returns a pointer to it */
	struct head head;
	struct code_entry *next;
	uint64_t address, turn;
	size_t bytes;
	const uint8_t *table; /* line table; NULL: too long to copy */
	size_t table_size;
};

struct text {
	uint64_t address; /* address of the characters */
	size_t kind, count;
	uint8_t bytes[4 * CHARS_MAX];
};

static struct head take_head(const struct layout *layout, const uint8_t *bytes)
{
	return (struct head){
		.size = memory_word(bytes, OBJECT_SIZE),
		.file = memory_word(bytes, layout->at[CODE_FILE]),
		.name = memory_word(bytes, layout->at[CODE_NAME]),
		.lines = memory_word(bytes, layout->at[CODE_LINES]),
		.first_line = memory_int(bytes, layout->at[CODE_FIRST_LINE]),
	};
}

static bool are_same(const struct head *one, const struct head *other)
{
	return one->size == other->size && one->file == other->file && one->name == other->name &&
	       one->lines == other->lines && one->first_line == other->first_line;
}

/* A str that is not ASCII has a longer header, which ends with its UTF-8's length and address. */
static size_t long_head(const struct layout *layout)
{
	return layout->at[TEXT_ASCII] + (layout->minor < 12 ? 24 : 16);
}

static bool begin_text(struct text *text, const struct layout *layout, uint64_t address,
		       const uint8_t *head)
{
	const uint32_t state = (uint32_t)memory_int(head, TEXT_STATE);
	const uint64_t count = memory_word(head, TEXT_LENGTH);

	text->kind = STATE_KIND(state);
	text->count = count < CHARS_MAX ? count : CHARS_MAX;
	text->address =
		address + (state & STATE_ASCII ? layout->at[TEXT_ASCII] : long_head(layout));
	return (state & STATE_COMPACT) && count <= INT32_MAX &&
	       (text->kind == 1 || text->kind == 2 || text->kind == 4);
}

static uint32_t char_at(const struct text *text, size_t i)
{
	uint32_t wide;
	uint16_t half;

	switch (text->kind) {
	case 1:
		return text->bytes[i];
	case 2:
		memcpy(&half, text->bytes + 2 * i, sizeof(half));
		return half;
	default:
		memcpy(&wide, text->bytes + 4 * i, sizeof(wide));
		return wide;
	}
}

/* Writes UTF-8 (up to four bytes a character) and a 0. Returns the end, after the 0. */
static char *put_text(char *to, const struct text *text)
{
	for (size_t i = 0; i < text->count; i++) {
		uint32_t c = char_at(text, i);

		/* A byte that is not valid UTF-8 became half of a surrogate pair. */
		if (!c || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = 0xfffd;
		if (c >= 0x10000)
			*to++ = (char)(0xf0 | c >> 18);
		else if (c >= 0x800)
			*to++ = (char)(0xe0 | c >> 12);
		else if (c >= 0x80)
			*to++ = (char)(0xc0 | c >> 6);
		if (c >= 0x10000)
			*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		if (c >= 0x800)
			*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
	}
	*to++ = '\0';
	return to;
}

static struct code_entry *make(const struct head *head, const struct text *name,
			       const struct text *file, const uint8_t *table, size_t table_size)
{
	char texts[2 * (4 * CHARS_MAX + 1)];
	char *const file_at = put_text(texts, name);
	const size_t size = (size_t)(put_text(file_at, file) - texts);
	struct code_entry *entry = malloc(sizeof(*entry) + table_size + size);
	uint8_t *rest = (uint8_t *)(entry + 1);

	if (!entry)
		return NULL;
	if (table)
		memcpy(rest, table, table_size);
	memcpy(rest + table_size, texts, size);
	*entry = (struct code_entry){
		.code = {(char *)rest + table_size, (char *)rest + table_size + (file_at - texts),
			 head->first_line},
		.head = *head,
		.bytes = sizeof(*entry) + table_size + size,
		.table = table ? rest : NULL,
		.table_size = table_size,
	};
	return entry;
}

/* Reads a code object in two system calls: its parts' headers; then the parts, and itself again. */
static struct code_entry *fill(const struct memory *memory, const struct layout *layout,
			       uint64_t address, const struct head *head)
{
	static struct text name, file;
	static uint8_t table[TABLE_MAX];
	static struct memory_list list;
	uint8_t heads[3][LAYOUT_TEXT_BYTES + 24], again[LAYOUT_CODE_BYTES];
	struct head after;
	uint64_t size;
	bool is_long;

	list.count = 0;
	memory_add(&list, head->name, heads[0], long_head(layout));
	memory_add(&list, head->file, heads[1], long_head(layout));
	memory_add(&list, head->lines, heads[2], BYTES_START);
	if (memory_read_list(memory, &list) != 3 ||
	    !begin_text(&name, layout, head->name, heads[0]) ||
	    !begin_text(&file, layout, head->file, heads[1]))
		return NULL;
	size = memory_word(heads[2], OBJECT_SIZE);
	is_long = size > TABLE_MAX;
	if (is_long)
		size = 0;
	list.count = 0;
	memory_add(&list, name.address, name.bytes, name.kind * name.count);
	memory_add(&list, file.address, file.bytes, file.kind * file.count);
	memory_add(&list, head->lines + BYTES_START, table, size);
	memory_add(&list, address, again, layout->code_bytes);
	if (memory_read_list(memory, &list) != 4)
		return NULL;
	after = take_head(layout, again);
	if (!are_same(&after, head))
		return NULL;
	return make(head, &name, &file, is_long ? NULL : table, size);
}

static void sweep(struct code_cache *cache, struct code_entry **at, uint64_t turn)
{
	while (*at) {
		struct code_entry *entry = *at;

		if (entry->turn >= turn) {
			at = &entry->next;
			continue;
		}
		*at = entry->next;
		cache->count--;
		cache->bytes -= entry->bytes;
		free(entry);
	}
}

void code_done(struct code_cache *cache)
{
	for (size_t i = 0; i < ARRAY_COUNT(cache->buckets); i++)
		sweep(cache, &cache->buckets[i], UINT64_MAX);
}

void code_next_turn(struct code_cache *cache)
{
	cache->turn++;
	for (size_t i = 0; i < ARRAY_COUNT(cache->buckets) &&
			   (cache->count > COUNT_MAX || cache->bytes > BYTES_MAX);
	     i++)
		sweep(cache, &cache->buckets[cache->hand++ % ARRAY_COUNT(cache->buckets)],
		      cache->turn);
}

/* Returns true if `type` is CPython's type of code objects, found by its name the first time. */
static bool learn_type(struct code_cache *cache, const struct memory *memory, uint64_t type)
{
	char name[sizeof("code")];
	uint64_t at;

	if (cache->type)
		return cache->type == type;
	if (memory_read(memory, type + TYPE_NAME, &at, sizeof(at)) < 0 ||
	    memory_read(memory, at, name, sizeof(name)) < 0 ||
	    memcmp(name, "code", sizeof(name)) != 0)
		return false;
	cache->type = type;
	return true;
}

const struct code *code_get(struct code_cache *cache, const struct memory *memory,
			    const struct layout *layout, uint64_t address, const uint8_t *bytes)
{
	const struct head head = take_head(layout, bytes);
	const size_t number = hash_word(0, address >> 4) >> 56;
	struct code_entry **at = &cache->buckets[number];
	struct code_entry *entry;

	if (!learn_type(cache, memory, memory_word(bytes, OBJECT_TYPE)))
		return NULL;
	for (entry = *at; entry; entry = entry->next) {
		if (entry->address != address)
			continue;
		if (are_same(&entry->head, &head)) {
			entry->turn = cache->turn;
			return &entry->code;
		}
		/* Stacks of this turn may point to the entry, so it stays until the next turn. */
		cache->reused++;
		entry->address = 0;
	}
	cache->missed++;
	entry = fill(memory, layout, address, &head);
	if (!entry)
		return NULL;
	entry->address = address;
	entry->turn = cache->turn;
	entry->next = *at;
	*at = entry;
	cache->count++;
	cache->bytes += entry->bytes;
	return &entry->code;
}

int32_t code_line(const struct code *code, const struct layout *layout, int64_t offset)
{
	const struct code_entry *entry = (const struct code_entry *)code;
	const struct lines lines = {layout->minor, code->first_line, entry->table,
				    entry->table_size};

	/* A code object's size counts instructions, and each has two bytes. */
	if (layout->at[CODE_START] != LAYOUT_NONE &&
	    (offset < -2 || (offset > 0 && (uint64_t)offset / 2 >= entry->head.size)))
		return 0;
	return entry->table ? lines_at(&lines, offset) : 0;
}
