/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.c - target: whatever the memory of a process holds, its stacks are read to an end.
 *
 * The input is what was read of a process (seeds_lines.c): the version, the address of _PyRuntime,
 * and pieces of memory; the rest of a page that has a piece is zeroes. Where pieces overlap another
 * one is seen each time, as of a process that runs on. Then all is done once more with memory at
 * each address, which is somewhere in the input, so that chains go on and close to circles.
 */
#include <errno.h>
#include <string.h>

#include "drain/python/python.h"
#include "fuzz.h"

#define PAGE_BYTES 4096
#define PIECES_MAX 1024
#define SAMPLES    3
/* Of all samples: lists of threads, and each stack three times with all its windows and parts. */
#define READS_MAX (SAMPLES * (4 * 512 + 16 * 3 * (4 + 128 + 2 * 64)))

static struct piece {
	uint64_t address;
	const uint8_t *bytes;
	uint16_t size;
} pieces[PIECES_MAX];

static size_t piece_count, read_count;
static struct fuzz_input all;
static bool is_everywhere;

static bool is_mapped(uint64_t page)
{
	for (size_t i = 0; i < piece_count; i++)
		if (pieces[i].size && page >= pieces[i].address / PAGE_BYTES &&
		    page <= (pieces[i].address + pieces[i].size - 1) / PAGE_BYTES)
			return true;
	return false;
}

static void lay(const struct piece *piece, uint64_t address, uint8_t *bytes, size_t size)
{
	const uint64_t end = address + size, piece_end = piece->address + piece->size;
	const uint64_t from = address > piece->address ? address : piece->address;
	const uint64_t to = end < piece_end ? end : piece_end;

	if (from < to && piece_end > piece->address)
		memcpy(bytes + (from - address), piece->bytes + (from - piece->address), to - from);
}

static void lay_input(uint64_t address, uint8_t *bytes, size_t size)
{
	while (size) {
		const size_t at = address % all.size;
		const size_t some = size < all.size - at ? size : all.size - at;

		memcpy(bytes, all.bytes + at, some);
		address += some;
		bytes += some;
		size -= some;
	}
}

static bool serve(uint64_t address, uint8_t *bytes, size_t size)
{
	const uint64_t last = (address + size - 1) / PAGE_BYTES;

	/* As with the kernel: half of all addresses belong to nobody. */
	if (size && ((address + size) | address) >> 63)
		return false;
	if (is_everywhere)
		lay_input(address, bytes, size);
	else
		memset(bytes, 0, size);
	for (uint64_t page = address / PAGE_BYTES; !is_everywhere && size && page <= last; page++)
		if (!is_mapped(page))
			return false;
	for (size_t i = 0; i < piece_count; i++)
		lay(&pieces[(read_count + i) % piece_count], address, bytes, size);
	return true;
}

static ssize_t read_input(const struct memory *memory, const struct iovec *to,
			  const struct iovec *from, size_t count)
{
	ssize_t done = 0;

	read_count++;
	FUZZ_DEMAND(count <= MEMORY_PIECES && read_count < READS_MAX);
	for (size_t i = 0; i < count; i++) {
		FUZZ_DEMAND(to[i].iov_len == from[i].iov_len);
		if (!serve((uintptr_t)from[i].iov_base, to[i].iov_base, to[i].iov_len))
			return done ? done : -EFAULT;
		done += (ssize_t)to[i].iov_len;
	}
	return done;
}

/* As a database and a browser will read it. */
static void check_text(const char *text)
{
	const size_t size = strlen(text);

	FUZZ_DEMAND(size <= 4096);
	for (size_t i = 0; i < size;) {
		const uint8_t first = (uint8_t)text[i++];
		const int more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;

		FUZZ_DEMAND(first < 0x80 || (first >= 0xc2 && first < 0xf5));
		for (int k = 0; k < more; k++)
			FUZZ_DEMAND(((uint8_t)text[i++] & 0xc0) == 0x80);
	}
}

static void check_stack(const struct stack *stack)
{
	FUZZ_DEMAND(stack->depth <= STACK_FRAMES);
	for (size_t i = 0; i < stack->depth; i++) {
		FUZZ_DEMAND(stack->frames[i].line >= 0);
		check_text(stack->frames[i].code->name);
		check_text(stack->frames[i].code->file);
	}
}

static void check_sample(const struct python_sample *sample)
{
	FUZZ_DEMAND(sample->count <= PYTHON_THREADS && sample->stack_count <= PYTHON_STACKS);
	for (size_t i = 0; i < sample->count; i++)
		if (sample->threads[i].stack)
			check_stack(sample->threads[i].stack);
}

static void take_pieces(struct fuzz_input *input)
{
	for (piece_count = 0; piece_count < PIECES_MAX && input->size > 10; piece_count++) {
		struct piece *piece = &pieces[piece_count];

		fuzz_take(input, &piece->address, sizeof(piece->address));
		fuzz_take(input, &piece->size, sizeof(piece->size));
		if (piece->size > input->size)
			piece->size = (uint16_t)input->size;
		piece->bytes = input->bytes;
		input->bytes += piece->size;
		input->size -= piece->size;
	}
}

static void read_stacks(uint32_t version, uint64_t address)
{
	static struct python_sample sample;
	const struct memory memory = {read_input, 1};
	struct runtime runtime = {address};
	struct python *python;

	read_count = 0;
	if (layout_find(&memory, address, version, &runtime.layout) != REASON_OBSERVED ||
	    python_attach(&memory, &runtime, &python) != REASON_OBSERVED)
		return;
	for (int i = 0; i < SAMPLES; i++)
		if (python_sample(python, NULL, 0, &sample) == REASON_OBSERVED)
			check_sample(&sample);
	FUZZ_DEMAND(python_counts(python)->torn <= python_counts(python)->stacks);
	python_close(python);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = {bytes, size};
	uint32_t version;
	uint64_t address;

	if (!size)
		return 0;
	all = input;
	fuzz_take(&input, &version, sizeof(version));
	fuzz_take(&input, &address, sizeof(address));
	take_pieces(&input);
	is_everywhere = false;
	read_stacks(version, address);
	is_everywhere = true;
	read_stacks(version, address);
	return 0;
}
