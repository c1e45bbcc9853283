/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - sums by name: decoders, steps of the dataset, causes of blocked loads, and the slowest
 * files, folders and samples.
 *
 * A thread's tallies lie in its slot, and their sums only grow (except an open that proves to be of
 * a folder). The drain may read them at any time, so they are exact even when rings drop records,
 * and survive a SIGKILL. When a slot passes to another thread, its tallies stay.
 */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

enum dlprof_tally_kind {
	DLPROF_TALLY_NONE,
	DLPROF_TALLY_DECODE, /* name: library, detail: format, class: width class */
	DLPROF_TALLY_STEP,   /* name: class or function, detail: its module */
	DLPROF_TALLY_FILE,   /* name: path (or its end, if it is long) */
	DLPROF_TALLY_FOLDER, /* name: path */
	DLPROF_TALLY_SAMPLE, /* name: path of its file, detail: the dataset, class: index */
	DLPROF_TALLY_KERNEL, /* name: begin of the mangled name, class: kernel's id */
	DLPROF_TALLY_WAIT,   /* name: the other process or thread, or ""; detail: wait_kinds.def */
	DLPROF_TALLY_KIND_MAX
};

#define DLPROF_TALLY_NAMED_COUNT  64
#define DLPROF_TALLY_FILE_COUNT	  64
#define DLPROF_TALLY_FOLDER_COUNT 16
#define DLPROF_TALLY_SAMPLE_COUNT 16
#define DLPROF_TALLY_KERNEL_COUNT 64
#define DLPROF_TALLY_KERNELS_AT                                                                    \
	(DLPROF_TALLY_NAMED_COUNT + DLPROF_TALLY_FILE_COUNT + DLPROF_TALLY_FOLDER_COUNT +          \
	 DLPROF_TALLY_SAMPLE_COUNT)
#define DLPROF_TALLY_COUNT (DLPROF_TALLY_KERNELS_AT + DLPROF_TALLY_KERNEL_COUNT)

#define DLPROF_TALLY_NAME_BYTES	  136
#define DLPROF_TALLY_DETAIL_BYTES 48

struct dlprof_tally {
	/*
	 * Odd while kind, name, detail and class are written. A reader compares the version before
	 * and after it copies them. The sums may lack the operation that is being added.
	 */
	_Atomic uint32_t version;
	uint32_t kind;		/* enum dlprof_tally_kind */
	uint64_t class;
	uint64_t count;		/* operations: images, calls, samples */
	uint64_t ns;		/* time without nested calls; of a sample: the whole time */
	uint64_t bytes;		/* bytes that the operations took as input */
	uint64_t pixels;	/* pixels decoded; when unpacking (class 0): bytes */
	uint64_t slowest_ns;	/* time of the slowest operation */
	uint64_t error_ns;
	char name[DLPROF_TALLY_NAME_BYTES];
	char detail[DLPROF_TALLY_DETAIL_BYTES];
	uint64_t unused;
};

static_assert(sizeof(struct dlprof_tally) == 256, "tallies are the ABI of shim and drain");

/* Upper bounds of the width classes of images: an image belongs to the first bound >= its width. */
#define DLPROF_WIDTH_CLASSES {128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536}
