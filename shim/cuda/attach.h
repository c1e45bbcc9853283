/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - how CUDA comes to call us.
 *
 * The constructor names this library in CUDA_INJECTION64_PATH; cuInit() then loads it (it is there
 * already) and calls InitializeInjection(), before the first context. Where that is another tool's,
 * or CUPTI is, or there is none, only the host's side is recorded (cudart.c), and the meta table
 * says why. A forked child never calls CUPTI: it hangs there.
 */
#pragma once

/* From the constructor: does no more than set the variable. */
void attach_prepare(void);

/* This process begins to record. */
void attach_begin(void);
