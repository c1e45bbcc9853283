/* SPDX-License-Identifier: Apache-2.0 */
/* ended.h - the end of the program and its workers in words: "", and false, if all went well. */
#pragma once

#include "render/run/report.h"

#define ENDED_WORDS 128

/* Tells the end after so many batches; -1: there is no loader. */
bool ended_program(const struct run_info *run, int64_t batch_count, char *text, size_t size);
bool ended_workers(const struct run_info *run, char *text, size_t size);

/* Batches of the training's thread in the whole run, whatever part the report covers. */
int64_t ended_after(const struct report *report);

/* The signal in a status of waitpid()'s, or 0: none; and the exit status, or UNKNOWN. */
int ended_signal(int64_t status);
int64_t ended_returned(int64_t status);
