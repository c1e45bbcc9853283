/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - what /proc/PID/stat has of a process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct process_stat {
	uint64_t start_ticks;
	int64_t used_ns; /* CPU time of all its threads */
	int nice;
	int threads;
	bool is_over; /* a zombie: only its parent has not noticed */
	bool has_memory; /* one that is about to end has none */
	int64_t major_faults; /* since it began */
	int exit_status; /* of a zombie, as waitpid() has it; 0 also where we may not know */
};

/* False: there is no such process. */
bool process_stat_read(int32_t pid, struct process_stat *ret);

/* Its CPU time to the nanosecond, which `stat`, just read, has in hundredths of a second. */
int64_t process_used_ns(int32_t pid, const struct process_stat *stat);
