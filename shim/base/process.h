/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - who this process is, by /proc and the environment. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Start time of this process in ticks since boot (field 22 of /proc/self/stat); 0: unknown. */
uint64_t process_start_ticks(void);

/* A number of /proc/PID/stat by its place, from 3 on; pid 0 is this process. 0: unknown. */
uint64_t process_stat(int pid, int field);

/* The PID namespace, by its inode, and this process's number in /proc; 0: unknown. */
uint64_t process_space(void);
int32_t process_number(void);

/* The command line, without its secrets (mask.h), cut to fit and terminated. */
void process_command(char *buffer, size_t size);

/* Rank in a distributed job, from what the usual launchers set; -1: none set it. */
int32_t process_rank(void);
int32_t process_local_rank(void);

/* Job id given by the scheduler or launcher, or NULL; how many ranks it has, -1: not known; how
 * often it was started again. */
const char *process_job(void);
int32_t process_world_size(void);
int32_t process_attempt(void);

/* The program that started this machine's ranks: our parent, not counting `dlprof run`. */
int process_launcher(void);
