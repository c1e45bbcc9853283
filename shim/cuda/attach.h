/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - makes CUDA call us when it starts, by CUDA_INJECTION64_PATH.
 *
 * If the variable or CUPTI has another user, or there is no CUPTI, only the host's calls are
 * recorded. A forked child never calls CUPTI, which would hang.
 */
#pragma once

void attach_prepare(void);

void attach_begin(void);
