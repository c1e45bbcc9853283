/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - starts, watches and ends processes for the doctor. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "launch/doctor/doctor.h"

struct child {
	const char *file; /* NULL: argv[0] is looked up in PATH */
	char *const *argv;
	bool is_silent; /* true: no output; false: output goes to standard error */
};

/* Starts a recorded program, in a new session and with empty input. Returns its pid or -errno. */
pid_t child_start(const struct doctor *doctor, const struct child *child);

/* Ends all processes of a session by SIGTERM, later SIGKILL, and reaps the first process. */
void child_end(pid_t session);

/*
 * Makes this process the parent of orphans. Then child_each() includes all its children, also those
 * of other sessions: torchrun starts each rank in a session of its own.
 */
void child_adopt(void);

/* Sends a signal to each process of a session (0: no signal). Returns the number of processes. */
int child_signal(pid_t session, int number);

/* Calls `each` for each process of a session. */
void child_each(pid_t session, void (*each)(pid_t pid, void *context), void *context);
