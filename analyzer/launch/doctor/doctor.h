/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h - a list of findings about the place and about a trial run. */
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
	char folder[PATH_MAX];        /* for the trial's records; "": none */
	char database[PATH_MAX + 16]; /* database in `folder` */
	struct doctor_check list[DOCTOR_MOST];
	size_t count;
};

__attribute__((format(printf, 5, 6))) void doctor_say(struct doctor *doctor,
						      enum doctor_status status, const char *id,
						      const char *fix, const char *format, ...);

/* place.c: library, drain, output, shared memory, forks, environment, GPU. */
void doctor_place(struct doctor *doctor);

/* left.c: looks, where segments are made, for folders of runs that were killed with their drain. */
void doctor_left(struct doctor *doctor);

/*
 * trial.c: looks at the command's file, then runs the command for a while. Without a command a loop
 * over PyTorch's loader is run or, if python3 has none, a simulated one.
 */
void doctor_trial(struct doctor *doctor);
