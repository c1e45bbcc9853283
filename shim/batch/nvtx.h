/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.h - ranges that the program gives to NVTX, as marks and as steps.
 *
 * NVTX is a header: each library that uses it asks at its first call for the tool that
 * NVTX_INJECTION64_PATH names, and gives it a table of functions to fill. Where DLPROF_NVTX asks
 * for it, the constructor puts this library there, unless another tool is there already. Nothing of
 * CUDA is needed.
 *
 * Only pushes and pops are looked at. The four outermost ranges of a thread are kept, 20,000 of a
 * process at most, and none while the drain is far behind. All domains share one stack: pops must
 * come in the reverse order of pushes. The program gets back what it gets without a tool.
 */
#pragma once

/* Called by the constructor; only sets the variable. */
void nvtx_prepare(void);

/* Called when this process begins to record. */
void nvtx_begin(void);
