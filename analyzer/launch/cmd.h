/* SPDX-License-Identifier: Apache-2.0 */
/* cmd.h - what the launcher's commands share. */
#pragma once

#include "launch/options.h"
#include "launch/preload.h"
#include "render/page.h"

enum launch_exit {
	LAUNCH_DONE = 0,
	LAUNCH_FOUND = 1, /* doctor: something failed */
	LAUNCH_ERROR = 2,
	LAUNCH_CANNOT_RUN = 126, /* as shells and env(1) */
	LAUNCH_NOT_FOUND = 127,
};

/* Each command: the exit status, unless it became the user's command. */
int cmd_run(const struct launch_options *options);
int cmd_doctor(const struct launch_options *options);
int cmd_demo(const struct launch_options *options);

/* What the demo runs under the preload: the pattern of that name. */
int cmd_demo_simulate(const char *pattern);
#define DEMO_PROGRAM "dlprof-demo"

/* One line on stderr; returns LAUNCH_ERROR. */
__attribute__((format(printf, 1, 2))) int launch_fail(const char *format, ...);

/* One line on stderr that is no error; not with --quiet. */
__attribute__((format(printf, 2, 3))) void launch_remark(const struct launch_options *options,
							 const char *format, ...);

/* The library to preload. Prints what is wrong with it. 0 or LAUNCH_ERROR. */
int launch_find_library(const struct launch_options *options, struct preload *ret);

/*
 * Where the database of that pattern goes: the nearest folder that is there, as the library makes
 * what is missing in it, and whose name is known before the run. 0, or -errno: no file can be made
 * there.
 */
int launch_output_folder(const char *pattern, char *ret, size_t size);

/* For text on standard output. */
struct page launch_page(const struct launch_options *options);

/* All was written: `status`. */
int launch_close(int status);
