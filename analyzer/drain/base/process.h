/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - what /proc/PID has of a process, and of its threads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_stat {
	char name[16]; /* name, cut to fit */
	uint64_t start_ticks;
	int64_t used_ns; /* CPU time of all its threads */
	int nice;
	int threads;
	bool is_over; /* a zombie, whose parent has not noticed its end yet */
	bool has_memory; /* false for a process that is about to end */
	int64_t major_faults; /* from its begin */
	int exit_status; /* status of a zombie, as of waitpid(); 0 also where we may not know */
};

/* Reads a file of /proc/PID at once, cut to fit. Its length; 0 and "" where there is none. */
size_t process_file_read(int32_t pid, const char *name, char *text, size_t size);

/* Reads a process. False: there is none. */
bool process_stat_read(int32_t pid, struct process_stat *ret);
/* Reads one of its threads, by a number like "12"; `used_ns` is that thread's alone. */
bool process_thread_read(int32_t pid, const char *tid, struct process_stat *ret);

/* Its CPU time to the nanosecond; `stat`, which was just read, has hundredths of a second. */
int64_t process_used_ns(int32_t pid, const struct process_stat *stat);
