/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.h - records ranges that the program gives to NVTX, as marks and as steps.
 *
 * NVTX is a header: at its first call each library that uses it loads the tool that
 * NVTX_INJECTION64_PATH names, and gives it a table of functions to fill. If DLPROF_NVTX asks for
 * ranges, the constructor names this library there, unless another tool is there already. Nothing
 * of CUDA is needed.
 *
 * Only pushes and pops are looked at. The four outermost ranges of a thread are recorded, 20,000 of
 * a process at most, and none while the drain is far behind. All domains share one stack: pops must
 * come in the reverse order of pushes. The program gets the results that it gets without a tool.
 */
#pragma once

/* Sets the variable; called by the constructor. */
void nvtx_prepare(void);

/* Notes whether ranges are recorded; called when this process begins to record. */
void nvtx_begin(void);
