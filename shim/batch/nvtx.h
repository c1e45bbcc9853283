/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.h - records the program's NVTX ranges as marks, and those with a step's name as steps.
 *
 * Each library with NVTX loads the tool of NVTX_INJECTION64_PATH, which we set to this library. The
 * four outermost ranges of a thread are recorded, at most 20,000 in a process.
 */
#pragma once

/* Sets NVTX_INJECTION64_PATH; called by the constructor. */
void nvtx_prepare(void);

/* Called when this process begins to record. */
void nvtx_begin(void);
