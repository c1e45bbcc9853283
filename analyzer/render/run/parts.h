/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - a report's outline, and its parts: first the screen, by default all of it (the number
 * and its parts, why, what to do, what not to do, and how sure that is; it fits a terminal of 80 x
 * 24), then everything else.
 */
#pragma once

#include "analysis/predict/same.h"
#include "render/form/outline.h"
#include "render/run/report.h"

/*
 * Chapters of the screen beside those of every outline. Rows are items; in "account" they are parts
 * of a bar, by `share`; in "next" the text below an item tells how; "waits" is shown as a strip.
 */
#define SCREEN_ACCOUNT "account"
#define SCREEN_WHY     "why"
#define SCREEN_LOAD    "load" /* parts of a load's time, and a step's */
#define SCREEN_LINE    "line" /* the line of code with most of the cause's time */
#define SCREEN_NEXT    "next"
#define SCREEN_NO      "no"
#define SCREEN_IF      "if"
#define SCREEN_WAITS   "waits"
#define SCREEN_SURE    "sure"

/* screen.c: makes the screen and, with `all`, the rest. 0 or -ENOMEM; outline_done() anyway. */
int screen_outline(const struct report *report, bool all, struct outline *ret);

/*
 * details.c: wait, life, slowest, code, gpu, pattern, predict, loader, coverage, place; unobserved
 * parts are left out.
 */
void details_outline(const struct report *report, struct outline *outline);

/*
 * facts.c: items about loads' waits and results for the chapter "life", about processes for
 * "loader".
 */
void facts_outline_load(const struct report *report, struct outline *outline);
void facts_outline_processes(const struct report *report, struct outline *outline);
/* The share of a sum of waits, which may include loads that were never handed out. */
double facts_share(const struct load_facts *facts, double ns);

/* advise.c: adds at most three steps, with gain and how, and settings that would not help. */
void advise_next(const struct report *report, struct outline *outline);
/* Writes "every 4 batches", for the screen's waits. */
void advise_rhythm(const struct report *report, struct outline *outline);
/* Adds, after the screen, periods in batches, and predictions for other settings. */
void advise_patterns(const struct report *report, struct outline *outline);
void advise_predictions(const struct report *report, struct outline *outline);
/* Whether a prediction is about a number of workers, which replaces its words. */
bool advise_is_of_number(int id);

/* set.c: adds what loaders were set to from outside, to "why". */
void set_outline(const struct report *report, struct outline *outline);
/* What that does to the samples of the loader where it does most. */
enum same set_same(const struct report *report);

/* gpu_outline.c: the chapter "gpu": busy, idle and why, copies, host time in sync, kernels. */
void gpu_outline(const struct report *report, struct outline *outline);

/* Words like "idle as the host launched nothing". */
const char *gpu_gap_words(enum gpu_gap gap);

/* Adds items about the verdict's clock, and the part of the run that it leaves out. */
void gpu_outline_coverage(const struct report *report, struct outline *outline);

/* Whether the device gets batches from the loader in most of its steps. */
bool gpu_is_fed(const struct gpu_device *device);

/* "gpu" or "host". */
const char *gpu_clock(const struct report *report);

/* evidence.c: appends the numbers that decided the cause, and the second cause. */
void evidence_add(const struct report *report, char *text, size_t size);
/* The first sentence about the cause. */
const char *evidence_line(const struct report *report);
/* Says that one long step decides the verdict or the gain. False: no step does. */
bool evidence_add_step(const struct report *report, char *text, size_t size);
/* Who takes the loader's batches: "the training" or, if it has other loaders, "this loop". */
const char *evidence_taker(const struct report *report);

/* remedy.c: a step to take, and how, in a sentence each with the run's own numbers. */
#define REMEDY_WORDS 320 /* bytes of `buffer` */
const char *remedy_line(const struct report *report, const struct advice *advice, char *buffer);
const char *remedy_how(const struct report *report, const struct advice *advice, char *buffer);
