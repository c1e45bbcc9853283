/* SPDX-License-Identifier: Apache-2.0 */
/* cmd.h - what the launcher's commands share. */
#pragma once

#include "launch/options.h"
#include "launch/preload.h"
#include "render/form/terminal.h"

enum launch_exit {
	LAUNCH_DONE = 0,
	LAUNCH_FOUND = 1, /* doctor: something failed */
	LAUNCH_ERROR = TERMINAL_ERROR,
	LAUNCH_CANNOT_SAY = 3, /* tune: fewer rounds than prove anything */
	LAUNCH_CANNOT_RUN = 126, /* as shells and env(1) */
	LAUNCH_NOT_FOUND = 127,
};

/* Each command: the exit status, unless it became the user's command. */
int cmd_run(const struct launch_options *options);
int cmd_doctor(const struct launch_options *options);
int cmd_demo(const struct launch_options *options);
int cmd_tune(const struct launch_options *options);

/* What the demo runs under the preload: the pattern of that name. */
int cmd_demo_simulate(const char *pattern);
#define DEMO_PROGRAM "dlprof-demo"

/* One line on stderr; returns LAUNCH_ERROR. */
#define launch_fail(...) terminal_say("dlprof", __VA_ARGS__)

/* One line on stderr that is no error; not with --quiet. */
#define launch_remark(options, ...) ((void)((options)->quiet || launch_fail(__VA_ARGS__)))

/* The library to preload. Prints what is wrong with it. 0 or LAUNCH_ERROR. */
int launch_find_library(const struct launch_options *options, struct preload *ret);

/*
 * Where a database of that name would go: the nearest folder that exists and whose name is known
 * before the run; the library makes the folders below it. 0, or -errno: no file can be made there.
 */
int launch_output_folder(const char *pattern, char *ret, size_t size);

/* Names of all variables that are settings, NULL behind the last. */
extern const char *const launch_settings[];

/* Where temporary files go. */
const char *launch_temporary(void);

/* For text on standard output. */
struct page launch_page(const struct launch_options *options);

/* All was written: `status`. */
int launch_close(int status);
