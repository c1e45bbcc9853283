/* SPDX-License-Identifier: Apache-2.0 */
/* ended.h - writes how the program and its workers ended; "" (and false) if all ended well. */
#pragma once

#include "render/run/report.h"

#define ENDED_WORDS 128

/* Write how the program (after `batch_count` batches; -1: no loader) and its workers ended. */
bool ended_program(const struct run_info *run, int64_t batch_count, char *text, size_t size);
bool ended_workers(const struct run_info *run, char *text, size_t size);

/* Returns the batches of the training thread in the whole run, even if the report covers fewer. */
int64_t ended_batch_count(const struct report *report);

/* Return the signal in a status from waitpid() (0: none), and the exit status (or UNKNOWN). */
int ended_signal(int64_t status);
int64_t ended_returned(int64_t status);
