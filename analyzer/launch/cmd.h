/* SPDX-License-Identifier: Apache-2.0 */
/* cmd.h - functions that several commands of dlprof share. */
#pragma once

#include "launch/options.h"
#include "launch/preload.h"
#include "render/form/terminal.h"

enum launch_exit {
	LAUNCH_DONE = 0,
	LAUNCH_FOUND = 1, /* doctor: a check failed */
	LAUNCH_ERROR = TERMINAL_ERROR,
	LAUNCH_CANNOT_SAY = 3, /* tune: too few rounds to prove a gain */
	LAUNCH_CANNOT_RUN = 126, /* the command cannot be run; as in shells and env(1) */
	LAUNCH_NOT_FOUND = 127,
};

/* Each command returns its exit status, unless its process becomes another program by exec(). */
int cmd_run(const struct launch_options *options);
int cmd_doctor(const struct launch_options *options);
int cmd_demo(const struct launch_options *options);
int cmd_tune(const struct launch_options *options);

/* Simulates a pattern. Runs in the process that cmd_demo() starts with the library preloaded. */
int cmd_demo_simulate(const char *pattern);
#define DEMO_PROGRAM "dlprof-demo"

/* Prints one line on stderr, and returns LAUNCH_ERROR. */
#define launch_fail(...) terminal_say("dlprof", __VA_ARGS__)

/* Prints one line on stderr that is no error; nothing with --quiet. */
#define launch_remark(options, ...) ((void)((options)->quiet || launch_fail(__VA_ARGS__)))

/* Finds the library to preload, or prints why it cannot be used. Returns 0 or LAUNCH_ERROR. */
int launch_find_library(const struct launch_options *options, struct preload *ret);

/*
 * Finds the folder in which a database named `pattern` will be made: the nearest one that already
 * exists and is known before the run; the library makes the folders below it. Returns 0, or -errno
 * if no file can be made there.
 */
int launch_output_folder(const char *pattern, char *ret, size_t size);

/* Names of all DLPROF_ variables that are settings, ended by NULL. */
extern const char *const launch_settings[];

/* Returns the folder for temporary files. */
const char *launch_temporary(void);

/* Returns the page (terminal width, colours) for standard output. */
struct page launch_page(const struct launch_options *options);

/* Closes standard output. Returns `status` if all was written, else LAUNCH_ERROR. */
int launch_close(int status);
