/* SPDX-License-Identifier: Apache-2.0 */
/* ended.h - how the program and its workers ended, in words: "", and false, if all went well. */
#pragma once

#include "render/run/report.h"

#define ENDED_WORDS 128

/* After so many batches; -1: it has no loader. */
bool ended_program(const struct run_info *run, int64_t batch_count, char *text, size_t size);
bool ended_workers(const struct run_info *run, char *text, size_t size);

/* The batches of the thread that trains, whatever part of them the report is of. */
int64_t ended_after(const struct report *report);

/* Of a status of waitpid()'s: the signal, 0: none; or else what it returned, or QUERY_UNKNOWN. */
int ended_signal(int64_t status);
int64_t ended_returned(int64_t status);
