/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h - the doctor's list of findings, about the machine and about a trial run. */
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
	const char *fix; /* what to do about it; "": nothing */
};

struct doctor {
	const struct launch_options *options;
	struct preload preload;
	bool has_library;
	char folder[PATH_MAX];        /* folder with the trial's records; "": there is none */
	char database[PATH_MAX + 16]; /* path of the trial's database, in `folder` */
	struct doctor_check list[DOCTOR_MOST];
	size_t count;
};

__attribute__((format(printf, 5, 6))) void doctor_say(struct doctor *doctor,
						      enum doctor_status status, const char *id,
						      const char *fix, const char *format, ...);

/* Checks the library, drain, output, shared memory, forks, environment, GPU, and what killed runs left (place.c). */
void doctor_place(struct doctor *doctor);

/*
 * Checks the command's file, then runs the command for a while (trial.c). Without a command it runs
 * a loop over PyTorch's loader or, if python3 has none, a simulated one.
 */
void doctor_trial(struct doctor *doctor);
