/* SPDX-License-Identifier: Apache-2.0 */
/*
 * levels.h - levels of DLPROF_DETAIL and DLPROF_CUDA, lowest first: (constant, name, what it adds).
 */
#pragma once

#define DLPROF_DETAIL_LEVELS(FIRST, NEXT, LAST)                                                    \
	FIRST(BATCHES, "batches", "records per batch only")                                        \
	NEXT(SLOW, "slow", "and single file operations over DLPROF_SLOW_US")                       \
	LAST(ALL, "all", "every file operation")

#define DLPROF_CUDA_LEVELS(FIRST, NEXT, LAST)                                                      \
	FIRST(OFF, "off", "nothing; no environment variable is set")                               \
	NEXT(MEMCPY, "memcpy", "copies, memsets and synchronisations")                             \
	NEXT(GRAPHS, "graphs",                                                                     \
	     "and kernels; CUDA graphs as wholes: cheaper, but torch.profiler sees none of "       \
	     "their kernels any more")                                                             \
	NEXT(DEFAULT, "default", "and each kernel within a graph")                                 \
	NEXT(API, "api", "and how long each thread was in calls that wait, copy or launch")        \
	LAST(FULL, "full", "the same as api")

#define DLPROF_LEVEL_NAME(constant, name, help)	 name
#define DLPROF_LEVEL_COMMA(constant, name, help) ", " name
#define DLPROF_LEVEL_OR(constant, name, help)	 " or " name
#define DLPROF_LEVEL_BAR(constant, name, help)	 "|" name
#define DLPROF_LEVEL_HELP(constant, name, help)	 name ": " help "; "
#define DLPROF_LEVEL_END(constant, name, help)	 name ": " help "."

/* Makes the text "off, memcpy, graphs, default, api or full". */
#define DLPROF_LEVEL_LIST(levels)                                                                  \
	levels(DLPROF_LEVEL_NAME, DLPROF_LEVEL_COMMA, DLPROF_LEVEL_OR)
/* "off|memcpy|graphs|default|api|full" */
#define DLPROF_LEVEL_CHOICE(levels) levels(DLPROF_LEVEL_NAME, DLPROF_LEVEL_BAR, DLPROF_LEVEL_BAR)
/* Makes the text "off: nothing; ... full: the same as api." */
#define DLPROF_LEVEL_ABOUT(levels) levels(DLPROF_LEVEL_HELP, DLPROF_LEVEL_HELP, DLPROF_LEVEL_END)
