/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - sums by name: decoders, steps, waits, and the slowest files, folders and samples.
 *
 * Sums only grow, except that tally_take_back() undoes the open of a folder. When another thread
 * gets a slot, the slot's sums continue. So a sum is right whenever it is read.
 */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

enum dlprof_tally_kind {
	DLPROF_TALLY_NONE,
	DLPROF_TALLY_DECODE, /* name: library, detail: format, class: width class */
	DLPROF_TALLY_STEP,   /* name: class or function, detail: its module */
	DLPROF_TALLY_FILE,   /* name: the file's path, or the path's end */
	DLPROF_TALLY_FOLDER,
	DLPROF_TALLY_SAMPLE, /* name: path of the sample's file, detail: dataset, class: index */
	DLPROF_TALLY_KERNEL, /* name: start of the mangled name, class: kernel's id */
	DLPROF_TALLY_WAIT,   /* name: what is awaited, or ""; detail: a kind of wait_kinds.def */
	DLPROF_TALLY_KIND_MAX
};

/* name of the tally that sums the peers for which no tally was free */
#define DLPROF_TALLY_OTHERS	  "other peers"
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
	/* Odd while kind, class, name or detail change: compare it before and after reading. */
	_Atomic uint32_t version;
	uint32_t kind;
	uint64_t class;
	uint64_t count;		/* number of images, calls or samples */
	uint64_t ns;		/* time without nested calls; for a sample, with nested calls */
	uint64_t bytes;		/* bytes of input */
	uint64_t pixels;	/* number of pixels; in class 0, which unpacks: bytes of output */
	uint64_t slowest_ns;
	uint64_t error_ns;
	char name[DLPROF_TALLY_NAME_BYTES];
	char detail[DLPROF_TALLY_DETAIL_BYTES];
	uint64_t unused;
};

static_assert(sizeof(struct dlprof_tally) == 256, "tallies are the ABI of shim and drain");

/* An image's width class is the smallest of these numbers that is at least its width. */
#define DLPROF_WIDTH_CLASSES {128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536}
