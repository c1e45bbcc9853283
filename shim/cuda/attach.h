/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - how CUDA comes to call us.
 *
 * The constructor names this library in CUDA_INJECTION64_PATH; cuInit() then loads it (it is there
 * already) and calls InitializeInjection(), before the first context. Where the variable or CUPTI
 * is another tool's, or there is no CUPTI, only the host's side is recorded (cudart.c), and the
 * meta table says why. A forked child never calls CUPTI, which would hang there.
 */
#pragma once

/* Called by the constructor; only sets the variable. */
void attach_prepare(void);

/* Called when this process begins to record. */
void attach_begin(void);
