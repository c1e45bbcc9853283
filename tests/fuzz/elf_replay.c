/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_replay.c - runs fuzz_elf.c without a fuzzer: on the files that are named, and on thousands of
 * copies of each with a few bytes changed, always the same ones.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPIES	  20000
#define CHANGES	  8
#define FILE_MAX  65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t seed = 88172645463325252u;

static uint64_t next_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Sizes and offsets are tried at their limits more often than chance would. */
static uint8_t next_byte(uint8_t old)
{
	static const uint8_t likely[] = {0, 1, 0x7f, 0x80, 0xff};

	switch (next_number() % 4) {
	case 0:
		return (uint8_t)next_number();
	case 1:
		return old ^ (uint8_t)(1 << next_number() % 8);
	default:
		return likely[next_number() % sizeof(likely)];
	}
}

int main(int argc, char **argv)
{
	static uint8_t original[FILE_MAX], copy[FILE_MAX];
	size_t runs = 0;

	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		size_t size = file ? fread(original, 1, sizeof(original), file) : 0;

		if (size < 512 || size == sizeof(original)) {
			fprintf(stderr, "%s: no small module\n", argv[i]);
			return 1;
		}
		fclose(file);
		LLVMFuzzerTestOneInput(original, size);
		for (int k = 0; k < COPIES; k++, runs++) {
			memcpy(copy, original, size);
			for (uint64_t n = 1 + next_number() % CHANGES; n; n--) {
				/* What describes the rest lies in few bytes: not the code's. */
				size_t at = next_number() % 3 ? next_number() % 1024
							      : next_number() % size;

				if (at < size)
					copy[at] = next_byte(copy[at]);
			}
			LLVMFuzzerTestOneInput(copy,
					       next_number() % 16 ? size : next_number() % size);
		}
	}
	printf("%zu runs\n", runs);
	return runs ? 0 : 1;
}
