/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - makes CUDA call us when it starts, by CUDA_INJECTION64_PATH.
 *
 * If another tool has set the variable or uses CUPTI, or if there is no CUPTI, only calls of the
 * host are recorded. A forked child never calls CUPTI, which would hang.
 */
#pragma once

void attach_prepare(void);

void attach_begin(void);
