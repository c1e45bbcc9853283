/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cuda/outbox.h"
#include "record/tally.h"

#define KNOWN_MAX 2048

/* Kernels whose names were sent, a hash table by id (0: free), at most three quarters full. */
static struct kernel known[KNOWN_MAX];
static uint32_t known_count;

/* parts of mangled names of GPU loaders' kernels: DALI, nvJPEG, nvImageCodec, CV-CUDA */
static const char *const loaders[] = {"N4dali",        "N6nvjpeg", "N6culj92",
				      "N10nvimgcodec", "N4nvcv",   "N6cvcuda"};

/* Returns true for NCCL's kernels, such as "ncclDevKernel_..." and "ncclAllReduceRing...". */
static bool is_collective(const char *name)
{
	static const char end[] = "Kernel";
	const size_t end_length = sizeof(end) - 1;

	for (const char *at = name; (at = strstr(at, "nccl")); at += 4) {
		size_t length = 4;

		while ((at[length] | 32) >= 'a' && (at[length] | 32) <= 'z')
			length++;
		if (at[length] == '_' && length >= 4 + end_length &&
		    memcmp(at + length - end_length, end, end_length) == 0)
			return true;
	}
	return false;
}

static enum dlprof_gpu_kind kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
		if (strstr(name, loaders[i]))
			return DLPROF_GPU_LOADER;
	return is_collective(name) ? DLPROF_GPU_NCCL : DLPROF_GPU_KERNEL;
}

static void tell_name(uint64_t id, const char *name)
{
	struct dlprof_event event = {.kind = DLPROF_EVENT_KERNEL, .worker = -1, .stream = id};
	const size_t length = strnlen(name, DLPROF_KERNEL_BYTES - 1);
	size_t at = 0, part;

	do {
		part = length - at < sizeof(event.mark) ? length - at : sizeof(event.mark);
		memset(event.mark, 0, sizeof(event.mark));
		memcpy(event.mark, name + at, part);
		outbox_push(&event);
		event.task++;
		at += part;
	} while (part == sizeof(event.mark));
}

struct kernel kernel_find(const char *name)
{
	struct kernel kernel = {.id = tally_id(name)};
	uint32_t i = (uint32_t)kernel.id % KNOWN_MAX;

	while (known[i].id && known[i].id != kernel.id)
		i = (i + 1) % KNOWN_MAX;
	if (known[i].id)
		return known[i];
	kernel.kind = kind_of(name);
	if (known_count < KNOWN_MAX / 4 * 3) {
		known[i] = kernel;
		known_count++;
		tell_name(kernel.id, name);
	}
	return kernel;
}
