/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - facts about this process from /proc and the environment. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns this process's start in ticks since boot, field 22 of /proc/self/stat; 0 if unknown. */
uint64_t process_start_ticks(void);

/* Returns number `field`, from 3 on, of /proc/PID/stat (pid 0: this process), or 0 if unknown. */
uint64_t process_stat(int pid, int field);

/* Return the inode of the PID namespace, and our pid in /proc, or 0 if it is unknown. */
uint64_t process_space(void);
int32_t process_number(void);

/* Writes the command line, masked (mask.h), cut to `size`, ended by a 0. */
void process_command(char *buffer, size_t size);

/* Returns this process's rank in a distributed job, as common launchers set it, or -1. */
int32_t process_rank(void);
int32_t process_local_rank(void);

/*
 * Returns the job's id as the scheduler or launcher set it, or NULL. process_world_size(): number
 * of ranks, or -1. process_attempt(): how often the job was restarted.
 */
const char *process_job(void);
int32_t process_world_size(void);
int32_t process_attempt(void);

/* Returns the pid that started this machine's ranks: our parent, skipping `dlprof run`. */
int process_launcher(void);
