/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - reads the name of a run's folder of segments: BASE/dlprof-PID-TICKS[-N].
 *
 * PID and TICKS (field 22 of /proc/PID/stat) are of the process that began the run. Only the user
 * of that process may access the folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define DLPROF_LINK_SUFFIX   "-segments"
#define DLPROF_FOLDER_PREFIX "dlprof-"
#define DLPROF_FOLDER_MODE   0700
#define DLPROF_FILE_MODE     0600

/* Reads a number and moves *at behind it. Returns false if there is none, or it is too large. */
static inline bool dlprof_take_number(const char **at, uint64_t *ret)
{
	const char *begin = *at;

	for (*ret = 0; **at >= '0' && **at <= '9'; ++*at)
		*ret = *ret * 10 + (uint64_t)(**at - '0');
	return *at > begin && *at - begin < 20;
}

/* Reads a '-' and a number, and moves *at behind them. Returns false if they are not there. */
static inline bool dlprof_take_next(const char **at, uint64_t *ret)
{
	return *(*at)++ == '-' && dlprof_take_number(at, ret);
}

/* Returns true for the path of a run's folder, and gives the PID and TICKS in its name. */
static inline bool dlprof_parse_folder(const char *path, uint64_t *ret_pid, uint64_t *ret_ticks)
{
	const char *at = strrchr(path, '/');
	uint64_t suffix;

	at = at ? at + 1 : path;
	if (strncmp(at, DLPROF_FOLDER_PREFIX, strlen(DLPROF_FOLDER_PREFIX)) != 0)
		return false;
	at += strlen(DLPROF_FOLDER_PREFIX);
	if (!dlprof_take_number(&at, ret_pid) || !dlprof_take_next(&at, ret_ticks))
		return false;
	return !*at || (dlprof_take_next(&at, &suffix) && !*at);
}
