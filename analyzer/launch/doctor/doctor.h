/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h - a list of findings, and who adds to it: the place, a run on trial. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "launch/options.h"
#include "launch/preload.h"

#define DOCTOR_MOST 64

enum doctor_status { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL, DOCTOR_STATUS_MAX };

struct doctor_check {
	enum doctor_status status;
	const char *id;
	char text[600];
	const char *fix; /* "": nothing is to be done */
};

struct doctor {
	const struct launch_options *options;
	struct preload preload;
	bool has_library;
	char folder[PATH_MAX];        /* for what is recorded on trial; "": none */
	char database[PATH_MAX + 16]; /* ... in it */
	struct doctor_check list[DOCTOR_MOST];
	size_t count;
};

__attribute__((format(printf, 5, 6))) void doctor_say(struct doctor *doctor,
						      enum doctor_status status, const char *id,
						      const char *fix, const char *format, ...);

/* place.c: library, drain, output, shared memory, forks, environment, GPU. */
void doctor_place(struct doctor *doctor);

/* left.c: folders of runs that were killed together with their drain, where segments are made. */
void doctor_left(struct doctor *doctor);

/*
 * trial.c: the command's file, then the command for a while. Without one a loop over PyTorch's
 * loader or, where python3 has none, a simulated one.
 */
void doctor_trial(struct doctor *doctor);
