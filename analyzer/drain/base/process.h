/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - what /proc/PID has of a process, and of its threads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_stat {
	char name[16]; /* cut to fit */
	uint64_t start_ticks;
	int64_t used_ns; /* CPU time of all its threads */
	int nice;
	int threads;
	bool is_over; /* a zombie: only its parent has not noticed */
	bool has_memory; /* one that is about to end has none */
	int64_t major_faults; /* since it began */
	int exit_status; /* of a zombie, as waitpid() has it; 0 also where we may not know */
};

/* A file of /proc/PID in one read, cut to fit; its length, 0 and "" where there is none. */
size_t process_file_read(int32_t pid, const char *name, char *text, size_t size);

/* False: there is no such process. */
bool process_stat_read(int32_t pid, struct process_stat *ret);
/* The same of one of its threads, "12", of which `used_ns` is its own. */
bool process_thread_read(int32_t pid, const char *tid, struct process_stat *ret);

/* Its CPU time to the nanosecond, which `stat`, just read, has in hundredths of a second. */
int64_t process_used_ns(int32_t pid, const struct process_stat *stat);
