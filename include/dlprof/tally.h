/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - totals by name: decoders, steps of the dataset, what loads are blocked for, and the
 * files, folders and samples that took longest.
 *
 * They lie in the slot of the thread that counts, are only ever added to (but for the open of what
 * proves to be a folder), and are read by the drain at its leisure: exact even when rings drop, and
 * there after a SIGKILL. A slot that passes to another thread keeps its tallies.
 *
 * Two sorts. A *named* tally is made on first use and stays; when all are taken, what has no tally
 * is counted in `unnamed_count`. A *top* tally holds the heaviest of many names (files of a
 * dataset): by sum (files, folders, kernels): Space-Saving (Metwally, Agrawal, El Abbadi 2005). A
 * new name takes the place of the lightest and inherits its ns as `error_ns`: the true time lies in
 *   [ns - error_ns, ns], and no name that is not listed took more than the lightest one's ns;
 *   by the slowest single one (samples): exact, `error_ns` is 0.
 */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

enum dlprof_tally_kind {
	DLPROF_TALLY_NONE,
	DLPROF_TALLY_DECODE, /* name: library, detail: format, class: width class */
	DLPROF_TALLY_STEP,   /* name: class or function, detail: its module */
	DLPROF_TALLY_FILE,   /* name: path (its end, if it is long) */
	DLPROF_TALLY_FOLDER, /* name: path */
	DLPROF_TALLY_SAMPLE, /* name: path of its slowest file, detail: the dataset, class: index */
	DLPROF_TALLY_KERNEL, /* name: the begin of the compiler's, class: the kernel's id */
	DLPROF_TALLY_WAIT,   /* name: the other side, or ""; detail: of wait_kinds.def */
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
	 * Odd while kind, name, detail and class are being written; whoever reads copies and looks
	 * again. The sums may be ahead of one another by the operation under way.
	 */
	_Atomic uint32_t version;
	uint32_t kind;		/* enum dlprof_tally_kind */
	uint64_t class;
	uint64_t count;		/* operations: images, calls, samples */
	uint64_t ns;		/* own time; of a sample: begin to end */
	uint64_t bytes;		/* that went in */
	uint64_t pixels;	/* that came out; of what inflates, class 0, bytes */
	uint64_t slowest_ns;	/* of one operation */
	uint64_t error_ns;
	char name[DLPROF_TALLY_NAME_BYTES];
	char detail[DLPROF_TALLY_DETAIL_BYTES];
	uint64_t unused;
};

static_assert(sizeof(struct dlprof_tally) == 256, "tallies are the ABI of shim and drain");

/* Width classes of images: the class is the width's upper end, rounded up to one of these. */
#define DLPROF_WIDTH_CLASSES {128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536}
