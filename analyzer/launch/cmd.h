/* SPDX-License-Identifier: Apache-2.0 */
/* cmd.h - what the commands of dlprof share. */
#pragma once

#include "launch/options.h"
#include "launch/preload.h"
#include "render/form/terminal.h"

enum launch_exit {
	LAUNCH_DONE = 0,
	LAUNCH_FOUND = 1, /* doctor: something failed */
	LAUNCH_ERROR = TERMINAL_ERROR,
	LAUNCH_CANNOT_SAY = 3, /* tune: fewer rounds than prove anything */
	LAUNCH_CANNOT_RUN = 126, /* as in shells and env(1) */
	LAUNCH_NOT_FOUND = 127,
};

/* Each command returns the exit status, unless it becomes the user's command. */
int cmd_run(const struct launch_options *options);
int cmd_doctor(const struct launch_options *options);
int cmd_demo(const struct launch_options *options);
int cmd_tune(const struct launch_options *options);

/* Runs the simulation of a pattern, which the demo does under the preload. */
int cmd_demo_simulate(const char *pattern);
#define DEMO_PROGRAM "dlprof-demo"

/* Prints one line on stderr; returns LAUNCH_ERROR. */
#define launch_fail(...) terminal_say("dlprof", __VA_ARGS__)

/* Prints one line on stderr that is no error; nothing with --quiet. */
#define launch_remark(options, ...) ((void)((options)->quiet || launch_fail(__VA_ARGS__)))

/* Finds the library to preload, or prints what is wrong with it. 0 or LAUNCH_ERROR. */
int launch_find_library(const struct launch_options *options, struct preload *ret);

/*
 * The folder for a database of that name: the nearest one that exists and is known before the run;
 * the library makes the folders below it. 0, or -errno: no file can be made there.
 */
int launch_output_folder(const char *pattern, char *ret, size_t size);

/* Names of all variables that are settings, ended by NULL. */
extern const char *const launch_settings[];

/* The folder for temporary files. */
const char *launch_temporary(void);

/* The page for text on standard output. */
struct page launch_page(const struct launch_options *options);

/* Closes standard output: `status`, if all was written. */
int launch_close(int status);
