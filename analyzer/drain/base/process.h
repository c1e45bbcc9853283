/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - reads what /proc/PID tells about a process and its threads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_stat {
	char name[16]; /* the command's name, cut to fit */
	int32_t parent; /* pid of the parent: the process that started this one, or adopted it */
	uint64_t start_ticks;
	int64_t used_ns;
	int64_t children_ns; /* CPU time of children that it waited for, and of their children */
	int nice;
	int threads;
	bool is_over;         /* a zombie: its parent has not called waitpid() yet */
	bool has_memory;      /* false: the process is just ending, and has freed its memory */
	int64_t major_faults; /* page faults that needed I/O, since the process began */
	int exit_status;      /* of a zombie, as from waitpid(); 0 where /proc hides it */
};

/* Reads /proc/PID/`name`, cut to `size`. Returns the text's length; 0 (and "") on failure. */
size_t process_file_read(int32_t pid, const char *name, char *text, size_t size);

/* Reads the first line of a file. Returns false if it has none. */
bool process_line(const char *path, char *text, size_t size);

bool process_stat_read(int32_t pid, struct process_stat *ret);
/* Reads a thread of a process; `tid` is like "12". ret->used_ns is this thread's CPU time. */
bool process_thread_read(int32_t pid, const char *tid, struct process_stat *ret);

/* Closes all descriptors of this process from `first` on. */
void process_close_from(int first);

/* Returns a process's CPU time, exact to the ns. `stat`, just read, has it in steps of 1/100 s. */
int64_t process_used_ns(int32_t pid, const struct process_stat *stat);
