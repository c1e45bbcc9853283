/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - totals by name: decoders, steps of the dataset, things that block loads, and the files,
 * folders and samples that took longest.
 *
 * They are in the slot of the counting thread, and are only added to (except the open of what
 * proves to be a folder); the drain may read them at any time. So they are exact even when rings
 * drop records, and survive a SIGKILL. A slot that passes to another thread keeps its tallies.
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
	DLPROF_TALLY_WAIT,   /* name: the other side, or ""; detail: a name in wait_kinds.def */
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
	 * Odd while kind, name, detail and class are written; a reader checks before and after it
	 * copies them that it is the same. The sums may be off by the operation that is under way.
	 */
	_Atomic uint32_t version;
	uint32_t kind;		/* enum dlprof_tally_kind */
	uint64_t class;
	uint64_t count;		/* operations: images, calls, samples */
	uint64_t ns;		/* own time; of a sample: from begin to end */
	uint64_t bytes;		/* bytes that went into the operations */
	uint64_t pixels;	/* decoded pixels; of unpacking (class 0): bytes */
	uint64_t slowest_ns;	/* time of the slowest operation */
	uint64_t error_ns;
	char name[DLPROF_TALLY_NAME_BYTES];
	char detail[DLPROF_TALLY_DETAIL_BYTES];
	uint64_t unused;
};

static_assert(sizeof(struct dlprof_tally) == 256, "tallies are the ABI of shim and drain");

/* Width classes of images: an image belongs to the first one that is at least its width. */
#define DLPROF_WIDTH_CLASSES {128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536}
