/* SPDX-License-Identifier: Apache-2.0 */
/* ended.h - writes how the program and its workers ended; "" (and false) if all ended well. */
#pragma once

#include "render/run/report.h"

#define ENDED_WORDS 128

/* `batch_count` is -1 without a loader. */
bool ended_program(const struct run_info *run, int64_t batch_count, char *text, size_t size);
bool ended_workers(const struct run_info *run, char *text, size_t size);

/* Counts the whole run's batches, even if the report covers fewer. */
int64_t ended_batch_count(const struct report *report);

/* Read a status of waitpid(); 0: no signal; UNKNOWN: no exit status. */
int ended_signal(int64_t status);
int64_t ended_returned(int64_t status);
