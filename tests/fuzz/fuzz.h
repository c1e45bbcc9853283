/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - one target: a function that libFuzzer calls with bytes of its own making, and replay.c
 * with the files of the corpus. A new target: its .c file, a folder below corpus/, a row of
 * meson.build.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Ends the process, by which fuzzer and replay know that the input is a finding. */
#define FUZZ_DEMAND(condition) fuzz_demand(condition, #condition, __FILE__, __LINE__)
void fuzz_demand(int fine, const char *condition, const char *file, int line);

/* What is left of the input. */
struct fuzz_input {
	const uint8_t *bytes;
	size_t size;
};

/* Fills `size` bytes from the input, zeroes where it ends; how many came from it. */
size_t fuzz_take(struct fuzz_input *input, void *target, size_t size);
uint8_t fuzz_byte(struct fuzz_input *input);

/* A folder of this process, removed when it ends well. */
const char *fuzz_folder(void);
