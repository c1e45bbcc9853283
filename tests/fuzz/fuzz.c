/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

void fuzz_demand(int fine, const char *condition, const char *file, int line)
{
	if (fine)
		return;
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
	abort();
}

size_t fuzz_take(struct fuzz_input *input, void *target, size_t size)
{
	size_t got = size < input->size ? size : input->size;

	memset(target, 0, size);
	memcpy(target, input->bytes, got);
	input->bytes += got;
	input->size -= got;
	return got;
}

uint8_t fuzz_byte(struct fuzz_input *input)
{
	uint8_t byte;

	fuzz_take(input, &byte, 1);
	return byte;
}

static void remove_folder(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command))
		fprintf(stderr, "cannot remove %s\n", folder);
}

/* In memory where it can be: a fuzzer writes thousands of files a second. */
const char *fuzz_folder(void)
{
	if (folder[0])
		return folder;
	strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/test-of-dlprof-XXXXXX"
						      : "/tmp/test-of-dlprof-XXXXXX");
	if (!mkdtemp(folder))
		abort();
	atexit(remove_folder);
	return folder;
}
