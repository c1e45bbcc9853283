/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - starts, watches and ends processes for the doctor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "launch/doctor/doctor.h"

struct child {
	const char *file; /* program; NULL: argv[0], searched for in PATH */
	char *const *argv;
	bool is_silent; /* true: its output is dropped; false: it goes to standard error */
};

/* Starts a recorded program in a new session, with empty input. Returns its pid or -errno. */
pid_t child_start(const struct doctor *doctor, const struct child *child);

/* Ends all processes of a session, by SIGTERM and then SIGKILL, and waits for its first one. */
void child_end(pid_t session);

/* Calls `each` for each process of a session. */
void child_each(pid_t session, void (*each)(pid_t pid, void *context), void *context);
