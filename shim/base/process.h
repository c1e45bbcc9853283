/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - facts of this process, from /proc and the environment. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns this process's start in ticks since boot (field 22 of /proc/self/stat); 0: unknown. */
uint64_t process_start_ticks(void);

/* Returns a number of /proc/PID/stat by its field, from 3 on; pid 0: this process. 0: unknown. */
uint64_t process_stat(int pid, int field);

/* Returns the PID namespace, by its inode; process_number(): our number in /proc. 0: unknown. */
uint64_t process_space(void);
int32_t process_number(void);

/* Writes the command line without its secrets (mask.h), cut to fit and terminated. */
void process_command(char *buffer, size_t size);

/* Returns this process's rank in a distributed job, as usual launchers set it; -1: none did. */
int32_t process_rank(void);
int32_t process_local_rank(void);

/*
 * Returns the job's id as set by the scheduler or launcher, or NULL. The other two: its number of
 * ranks (-1: unknown), and how often it was restarted.
 */
const char *process_job(void);
int32_t process_world_size(void);
int32_t process_attempt(void);

/* Returns the pid that started this machine's ranks: our parent, not counting `dlprof run`. */
int process_launcher(void);
