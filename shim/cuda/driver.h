/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the driver's API as the host sees it, with DLPROF_DRIVER_HOOK=1: for programs that
 * pass libcudart by (XLA, Triton, CuPy) or have one linked into them (cuBLAS, cuDNN).
 *
 * What dlsym() and cuGetProcAddress() hand out for the names of driver.def, and the slots of those
 * who are linked to libcuda, are wrappers. They count as those of libcudart do (cudart.h), and what
 * a call does inside of one that is seen is not counted again. Taken before a process records,
 * since CUDA asks once; no lock, no table of modules, nothing but stores.
 */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include <stdint.h>

#include "base/sys.h"

enum driver_row {
#define DRIVER(family, version, base, symbol, params, args) DRIVER_ROW_##symbol,
#include "cuda/driver.def"
#undef DRIVER
	DRIVER_ROW_MAX
};

/* 1 with DLPROF_DRIVER_HOOK=1, once the constructor has run. For dl.S, too. */
extern HIDDEN uint32_t driver_hooks;

/* From the constructor. Another library's dlsym() before ours: stays out. */
void driver_prepare(void);

/* This process begins to record: says whether the hooks are there. */
void driver_note(void);

/* The row of a symbol of libcuda, or -1. */
int driver_row_of(const char *symbol);

/* The wrapper that stands for `real`; `real`, where there is no more room. */
void *driver_wrapper(int row, void *real);

/* The same, where the hooks are on and `symbol` is one of theirs; else `found`. */
static inline void *driver_substitute(const char *symbol, void *found)
{
	int row = unlikely(driver_hooks) ? driver_row_of(symbol) : -1;

	return unlikely(row >= 0) ? driver_wrapper(row, found) : found;
}

#endif
