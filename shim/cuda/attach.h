/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - makes CUDA call us when it starts.
 *
 * The constructor sets CUDA_INJECTION64_PATH to this library. cuInit() then loads it (it is loaded
 * already) and calls InitializeInjection(), before there is a context. If the variable or CUPTI is
 * in use by another tool, or there is no CUPTI, only the host's calls are recorded (cudart.c), and
 * the meta table says why. A forked child never calls CUPTI, which would hang there.
 */
#pragma once

/* Sets CUDA_INJECTION64_PATH; called by the constructor. */
void attach_prepare(void);

/* Notes the state of CUDA; called when this process begins to record. */
void attach_begin(void);
