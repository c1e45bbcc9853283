/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - facts about this process from /proc and the environment. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns when this process started, in ticks since boot (field 22 of /proc/PID/stat), or 0. */
uint64_t process_start_ticks(void);

/* Returns a field, from 3 on, of /proc/PID/stat (`pid` 0: this process's); 0: unknown. */
uint64_t process_stat(int pid, int field);

/* Return the inode of the PID namespace, and our pid in /proc; 0: unknown. */
uint64_t process_space(void);
int32_t process_number(void);

void process_command(char *buffer, size_t size);

/* Return the process's rank in its job and on its machine; -1: this is no distributed job. */
int32_t process_rank(void);
int32_t process_local_rank(void);

/* Return what the environment says of the job; NULL, -1 or 0: it says nothing. */
const char *process_job(void);
int32_t process_world_size(void);
int32_t process_attempt(void);

/* Returns the pid that started this machine's ranks: our parent, skipping `dlprof run`. */
int process_launcher(void);
