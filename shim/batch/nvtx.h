/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.h - records the program's NVTX ranges as marks, and those with a step's name also as steps.
 *
 * NVTX is only a header. At its first call, each library that uses it loads the tool named by
 * NVTX_INJECTION64_PATH and gives it a table of functions to fill in. If DLPROF_NVTX asks for
 * ranges, the constructor sets that variable to this library, unless another tool is there already.
 * CUDA is not needed.
 *
 * Only pushes and pops are followed. The four outermost ranges of a thread are recorded, at most
 * 20,000 in a process, and none while the drain is far behind. All domains share one stack, so pops
 * must come in the reverse order of pushes. The program gets the results that it gets without a
 * tool.
 */
#pragma once

/* Sets NVTX_INJECTION64_PATH; called by the constructor. */
void nvtx_prepare(void);

/* Notes whether ranges are recorded; called when this process begins to record. */
void nvtx_begin(void);
