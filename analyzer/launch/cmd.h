/* SPDX-License-Identifier: Apache-2.0 */
/* cmd.h - what several commands of dlprof share. */
#pragma once

#include "launch/options.h"
#include "launch/preload.h"
#include "render/form/terminal.h"

enum launch_exit {
	LAUNCH_DONE = 0,
	LAUNCH_FOUND = 1,
	LAUNCH_ERROR = TERMINAL_ERROR,
	LAUNCH_CANNOT_SAY = 3, /* tune ran too few rounds to prove a gain */
	LAUNCH_CANNOT_RUN = 126, /* shells and env(1) give this status and the next, too */
	LAUNCH_NOT_FOUND = 127,
};

/* Each function runs a verb. It returns an exit status, or becomes another program. */
int cmd_run(const struct launch_options *options);
int cmd_doctor(const struct launch_options *options);
int cmd_demo(const struct launch_options *options);
int cmd_tune(const struct launch_options *options);

/* Runs the simulated training in this process, which cmd_demo() started. */
int cmd_demo_simulate(const char *pattern);
#define DEMO_PROGRAM "dlprof-demo"

#define launch_fail(...) terminal_say("dlprof", __VA_ARGS__)

#define launch_remark(options, ...) ((void)((options)->quiet || launch_fail(__VA_ARGS__)))

/* Finds libdlprof.so. Returns 0, or LAUNCH_ERROR after it printed why there is none. */
int launch_find_library(const struct launch_options *options, struct preload *ret);

/*
 * Finds the deepest existing folder of the path `pattern`; libdlprof.so will make the folders below
 * it. Returns -errno if no file can be made in the folder.
 */
int launch_output_folder(const char *pattern, char *ret, size_t size);

/* Prints why the command cannot be run. Returns LAUNCH_NOT_FOUND or LAUNCH_CANNOT_RUN. */
int launch_fail_run(const struct launch_options *options, int error);

/* names of those DLPROF_ variables that are settings, then NULL */
extern const char *const launch_settings[];

const char *launch_temporary(void);

struct page launch_page(const struct launch_options *options);

/* Closes stdout. Returns `status` if all output was written, else LAUNCH_ERROR. */
int launch_close(int status);
