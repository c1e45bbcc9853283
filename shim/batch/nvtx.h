/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.h - ranges that the program gives to NVTX, as marks and as steps.
 *
 * NVTX is a header: each library that uses it asks at its first call for the tool that
 * NVTX_INJECTION64_PATH names, and gives it a table of functions to fill. Where DLPROF_NVTX asks
 * for it, the constructor puts this library there, unless another tool is there already. Nothing of
 * CUDA is needed.
 *
 * Kept are the four outermost ranges of a thread, 200 a second at most, and 20,000 of a process.
 * Domains are not told apart: pops are expected in the reverse order of pushes. What the program
 * gets back is what it gets without a tool, but for handles of domains and names and the ids of
 * ranges that are started.
 */
#ifndef NVTX_H
#define NVTX_H

/* From the constructor: no more than the variable. */
void nvtx_prepare(void);

/* This process begins to record. */
void nvtx_begin(void);

#endif
