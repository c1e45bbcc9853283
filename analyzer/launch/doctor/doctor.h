/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h - the doctor's list of findings: about the machine, and about a trial run. */
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
	char folder[PATH_MAX];        /* "": there is none */
	char database[PATH_MAX + 16];
	struct doctor_check list[DOCTOR_MOST];
	size_t count;
};

__attribute__((format(printf, 5, 6))) void doctor_say(struct doctor *doctor,
						      enum doctor_status status, const char *id,
						      const char *fix, const char *format, ...);

/* Checks the machine, and finds files that killed runs left behind (place.c). */
void doctor_place(struct doctor *doctor);

/* Runs the command or, without one, a loop over PyTorch's loader or a simulated one (trial.c). */
void doctor_trial(struct doctor *doctor);
