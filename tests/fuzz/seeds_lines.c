/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seeds_lines.c - writes down what is read of a process, as an input of lines.c.
 *
 * usage: seeds-lines PID VERSION FILE     VERSION: of the interpreter, as sys.hexversion
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "drain/python/python.h"

#define PIECE_MAX    1000
#define FRAMES_BYTES 400

static struct memory process;
static FILE *file;

static void put(const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, file) != size)
		exit(2);
}

static ssize_t read_and_tell(const struct memory *memory, const struct iovec *to,
			     const struct iovec *from, size_t count)
{
	ssize_t done = process.read(&process, to, from, count), left = done;

	for (size_t i = 0; i < count && left >= (ssize_t)to[i].iov_len; i++) {
		/* Of a page the frames that matter: those at the end. */
		const size_t size = to[i].iov_len,
			     less = size > PIECE_MAX ? size - FRAMES_BYTES : 0;
		const uint64_t address = (uintptr_t)from[i].iov_base + less;
		const uint16_t rest = (uint16_t)(size - less);

		put(&address, sizeof(address));
		put(&rest, sizeof(rest));
		put((uint8_t *)to[i].iov_base + less, rest);
		left -= (ssize_t)size;
	}
	return done;
}

int main(int argc, char **argv)
{
	static struct python_sample sample;
	struct memory memory = {read_and_tell};
	struct runtime runtime;
	struct python *python;
	uint32_t version;

	if (argc < 4)
		return 2;
	memory.pid = atoi(argv[1]);
	version = (uint32_t)strtoul(argv[2], NULL, 0);
	memory_open(&process, memory.pid);
	file = fopen("/dev/null", "w");
	if (!file || runtime_find(&memory, &runtime) != REASON_OBSERVED)
		return 1;
	fclose(file);
	file = fopen(argv[3], "w");
	if (!file)
		return 2;
	put(&version, sizeof(version));
	put(&runtime.address, sizeof(runtime.address));
	if (layout_find(&memory, runtime.address, version, &runtime.layout) != REASON_OBSERVED ||
	    python_attach(&memory, &runtime, &python) != REASON_OBSERVED ||
	    python_sample(python, NULL, 0, &sample) != REASON_OBSERVED)
		return 1;
	python_close(python);
	return fclose(file) ? 2 : 0;
}
