/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - makes CUDA call us when it starts.
 *
 * The constructor names this library in CUDA_INJECTION64_PATH; cuInit() then loads it (it is loaded
 * already) and calls InitializeInjection(), before the first context. If the variable or CUPTI is
 * another tool's, or there is no CUPTI, only the host's side is recorded (cudart.c), and the meta
 * table says why. A forked child never calls CUPTI, which would hang there.
 */
#pragma once

/* Sets the variable; called by the constructor. */
void attach_prepare(void);

/* Notes the state of CUDA; called when this process begins to record. */
void attach_begin(void);
