/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - makes a report's outline from its parts. The screen comes first and is all that is
 * shown by default: the number and its parts, why, what to do, what not to do, and how certain that
 * is. It fits a terminal of 80 x 24. Then follows everything else.
 */
#pragma once

#include "analysis/predict/same.h"
#include "render/form/outline.h"
#include "render/run/report.h"

/*
 * Chapters of the screen in addition to those of every outline. Rows are items. In "account" they
 * are parts of a bar, by `share`; in "next", the text below an item says how to do it; "waits" is a
 * strip.
 */
#define SCREEN_ACCOUNT "account"
#define SCREEN_WHY     "why"
#define SCREEN_LOAD    "load" /* parts of a load's time, and of a step's */
#define SCREEN_LINE    "line" /* line of code with the most of the cause's time */
#define SCREEN_NEXT    "next"
#define SCREEN_NO      "no"
#define SCREEN_IF      "if"
#define SCREEN_WAITS   "waits"
#define SCREEN_SURE    "sure"

/* Makes the screen and, if `all`, the rest (screen.c). 0 or -ENOMEM; then call outline_done(). */
int screen_outline(const struct report *report, bool all, struct outline *ret);

/*
 * Adds the chapters wait, life, slowest, code, gpu, pattern, predict, loader, coverage and place
 * (details.c). Parts that were not observed are left out.
 */
void details_outline(const struct report *report, struct outline *outline);

/*
 * Add items to the chapter "life" about what loads wait for and return, and to "loader" about
 * processes (facts.c).
 */
void facts_outline_load(const struct report *report, struct outline *outline);
void facts_outline_processes(const struct report *report, struct outline *outline);
/* Returns a wait's share of the loads' time, at most 1: waits may be of lost loads, too. */
double facts_share(const struct load_facts *facts, double ns);

/*
 * Adds to the screen up to ADVICE_MOST remedies, with their gain and how to apply them, settings
 * that would not help, and predictions that --what-if asked for (advise.c).
 */
void advise_next(const struct report *report, struct outline *outline);
/* Adds the period of the waits to the screen, as "every 4 batches". */
void advise_rhythm(const struct report *report, struct outline *outline);
/* Add the periods in batches, and predictions for other settings, after the screen. */
void advise_patterns(const struct report *report, struct outline *outline);
void advise_predictions(const struct report *report, struct outline *outline);
/* Returns true if a prediction is described by its number of workers alone. */
bool advise_is_of_number(int id);

/* Adds to "why" the settings that --set changed from outside (set.c). */
void set_outline(const struct report *report, struct outline *outline);
/* Returns how these settings change samples, for the loader whose samples change most. */
enum same set_same(const struct report *report);

/* Adds the chapter "gpu": busy, idle and why, copies, synchronisation, kernels (gpu_outline.c). */
void gpu_outline(const struct report *report, struct outline *outline);

/* Returns words for a gap, such as "idle as the host launched nothing". */
const char *gpu_gap_words(enum gpu_gap gap);

/* Adds items about the clock of the verdict, and about batches that it leaves out. */
void gpu_outline_coverage(const struct report *report, struct outline *outline);

/* Returns true if a device got data from the loader in most of its steps. */
bool gpu_is_fed(const struct gpu_device *device);

/* Returns the verdict's clock, "gpu" or "host". */
const char *gpu_clock(const struct report *report);

/* Appends the figures that decided the cause, and the second cause (evidence.c). */
void evidence_add(const struct report *report, char *text, size_t size);
/* Returns the first sentence about the cause. */
const char *evidence_line(const struct report *report);
/* If a single long step decides the verdict or the gain, appends that. Returns false otherwise. */
bool evidence_add_step(const struct report *report, char *text, size_t size);
/* Returns who takes the batches: "the training", or "this loop" if it has other loaders. */
const char *evidence_taker(const struct report *report);

/* Write what to do, and how, each in a sentence with the run's figures (remedy.c). */
#define REMEDY_WORDS 320 /* size of `buffer` in bytes */
const char *remedy_line(const struct report *report, const struct advice *advice, char *buffer);
const char *remedy_how(const struct report *report, const struct advice *advice, char *buffer);
