/* SPDX-License-Identifier: Apache-2.0 */
/* ended.h - writes how the program and its workers ended. */
#pragma once

#include "render/run/report.h"

#define ENDED_WORDS 128

/* Write how the program, or a worker, ended; false and "" if well. batch_count -1: no loader. */
bool ended_program(const struct run_info *run, int64_t batch_count, char *text, size_t size);
bool ended_workers(const struct run_info *run, char *text, size_t size);

/* Returns how many batches the training thread took in the whole run; -1: there is no loader. */
int64_t ended_batch_count(const struct report *report);

/* Return the signal (0: none) and the exit status (UNKNOWN: none) in a status of waitpid(). */
int ended_signal(int64_t status);
int64_t ended_returned(int64_t status);
