/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.h - ranges that the program gives to NVTX, as marks and as steps.
 *
 * NVTX is a header: each library that uses it asks at its first call for the tool that
 * NVTX_INJECTION64_PATH names, and gives it a table of functions to fill. Where DLPROF_NVTX asks
 * for it, the constructor puts this library there, unless another tool is there already. Nothing of
 * CUDA is needed.
 *
 * Kept are the four outermost ranges of a thread, 200 a second at most, and the first 20,000 of a
 * process; later ones 1 a second, 64 at a time. What the program gets back is what it gets without
 * a tool, but for the ids of ranges that are not pushed.
 */
#ifndef NVTX_H
#define NVTX_H

/* From the constructor: no more than the variable. */
void nvtx_prepare(void);

/* This process begins to record. */
void nvtx_begin(void);

#endif
