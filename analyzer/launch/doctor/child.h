/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - starts, watches and ends processes for the doctor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "launch/doctor/doctor.h"

struct child {
	const char *file; /* program; NULL: argv[0], which is searched for in PATH */
	char *const *argv;
	bool is_silent; /* drops its output, which else goes to standard error */
};

/* Starts a recorded program in its own session, with an empty input. Returns its pid or -errno. */
pid_t child_start(const struct doctor *doctor, const struct child *child);

/* Ends all processes of a session by SIGTERM, then SIGKILL, and waits for the first. */
void child_end(pid_t session);

/* Calls `each` for each process of a session. */
void child_each(pid_t session, void (*each)(pid_t pid, void *context), void *context);
