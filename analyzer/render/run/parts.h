/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - a report's outline, and its parts: first the screen, which alone is shown by default
 * (the number and its parts, why, what to do, what not to do, and how sure that is; it fits a
 * terminal of 80 x 24), then everything else.
 */
#pragma once

#include "analysis/predict/same.h"
#include "render/form/outline.h"
#include "render/run/report.h"

/*
 * Chapters of the screen beside those of every outline. Rows are items; in "account" they are parts
 * of a bar, by `share`; in "next" the text below an item says how to do it; "waits" is a strip.
 */
#define SCREEN_ACCOUNT "account"
#define SCREEN_WHY     "why"
#define SCREEN_LOAD    "load" /* parts of a load's time, and of a step's */
#define SCREEN_LINE    "line" /* line of code with most of the cause's time */
#define SCREEN_NEXT    "next"
#define SCREEN_NO      "no"
#define SCREEN_IF      "if"
#define SCREEN_WAITS   "waits"
#define SCREEN_SURE    "sure"

/* Makes the screen and, with `all`, the rest (screen.c). 0 or -ENOMEM; then outline_done(). */
int screen_outline(const struct report *report, bool all, struct outline *ret);

/*
 * Adds wait, life, slowest, code, gpu, pattern, predict, loader, coverage, place (details.c);
 * unobserved parts are left out.
 */
void details_outline(const struct report *report, struct outline *outline);

/*
 * Add items about loads' waits and results to the chapter "life", and about processes to "loader"
 * (facts.c).
 */
void facts_outline_load(const struct report *report, struct outline *outline);
void facts_outline_processes(const struct report *report, struct outline *outline);
/* Returns the share of a wait in the loads' time, at most 1: waits may be of lost loads, too. */
double facts_share(const struct load_facts *facts, double ns);

/* Adds at most three steps, with gain and how, and settings that would not help (advise.c). */
void advise_next(const struct report *report, struct outline *outline);
/* Adds the waits' period to the screen, as "every 4 batches". */
void advise_rhythm(const struct report *report, struct outline *outline);
/* Add the periods in batches, and predictions for other settings, after the screen. */
void advise_patterns(const struct report *report, struct outline *outline);
void advise_predictions(const struct report *report, struct outline *outline);
/* Returns true if a prediction's words are its number of workers. */
bool advise_is_of_number(int id);

/* Adds to "why" the settings that loaders got from outside, by --set (set.c). */
void set_outline(const struct report *report, struct outline *outline);
/* Returns how those settings change the samples of the loader that they change most. */
enum same set_same(const struct report *report);

/* Adds the chapter "gpu": busy, idle and why, copies, sync, kernels (gpu_outline.c). */
void gpu_outline(const struct report *report, struct outline *outline);

/* Returns words for a gap, as "idle as the host launched nothing". */
const char *gpu_gap_words(enum gpu_gap gap);

/* Adds items about the verdict's clock, and about batches that this clock leaves out. */
void gpu_outline_coverage(const struct report *report, struct outline *outline);

/* Returns true if the device gets batches from the loader in most of its steps. */
bool gpu_is_fed(const struct gpu_device *device);

/* Returns the verdict's clock, "gpu" or "host". */
const char *gpu_clock(const struct report *report);

/* Appends the numbers that decided the cause, and the second cause (evidence.c). */
void evidence_add(const struct report *report, char *text, size_t size);
/* Returns the first sentence about the cause. */
const char *evidence_line(const struct report *report);
/* Appends that one long step decides the verdict or the gain. Returns false if none does. */
bool evidence_add_step(const struct report *report, char *text, size_t size);
/* Returns who takes the batches: "the training" or, if it has other loaders, "this loop". */
const char *evidence_taker(const struct report *report);

/* Return a step to take, and how, in a sentence each with the run's own numbers (remedy.c). */
#define REMEDY_WORDS 320 /* size of `buffer` in bytes */
const char *remedy_line(const struct report *report, const struct advice *advice, char *buffer);
const char *remedy_how(const struct report *report, const struct advice *advice, char *buffer);
