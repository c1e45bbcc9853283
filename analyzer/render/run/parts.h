/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - a report's outline, and the parts that make it: first its screen, which by default is
 * all (the one number and what it is made of, why, what to do, what not to do, and how sure that
 * is; it fits a terminal of 80 x 24), then everything else.
 */
#pragma once

#include "render/form/jsonw.h"
#include "render/form/outline.h"
#include "render/run/report.h"

/*
 * Chapters of the screen beside those of every outline. Rows are items; of "account" they are the
 * parts of a bar, by `share`; of "next" the text below an item says how; "waits" is shown as a
 * strip.
 */
#define SCREEN_ACCOUNT "account"
#define SCREEN_WHY     "why"
#define SCREEN_LOAD    "load" /* what takes the time of a load, and of a step */
#define SCREEN_LINE    "line" /* of code, which takes most of the cause's time */
#define SCREEN_NEXT    "next"
#define SCREEN_NO      "no"
#define SCREEN_IF      "if"
#define SCREEN_WAITS   "waits"
#define SCREEN_SURE    "sure"

/* screen.c: the screen and, with `all`, what is beyond it. 0 or -ENOMEM; outline_done() anyway. */
int screen_outline(const struct report *report, bool all, struct outline *ret);

/*
 * details.c: wait, life, slowest, code, gpu, pattern, predict, loader, coverage, place; each leaves
 * out what was not observed.
 */
void details_outline(const struct report *report, struct outline *outline);

/*
 * facts.c: what loads waited for and made, items of the chapter "life"; what their processes used,
 * items of "loader". In JSON: "load"; "memory", "threads", "main_thread_cpu_s".
 */
void facts_outline_load(const struct report *report, struct outline *outline);
void facts_outline_processes(const struct report *report, struct outline *outline);
void facts_json_load(const struct report *report, struct jsonw *json);
void facts_json_processes(const struct report *report, struct jsonw *json);

/* advise.c: at most three steps with what they bring and how, and what would not help. */
void advise_next(const struct report *report, struct outline *outline);
/* "every 4 batches": of the screen's waits. */
void advise_rhythm(const struct report *report, struct outline *outline);
/* Beyond the screen: what comes every so many batches; what other settings would bring. */
void advise_patterns(const struct report *report, struct outline *outline);
void advise_predictions(const struct report *report, struct outline *outline);
/* "period", "compute_period", "load_period", "slow_worker", "slow_workers", "causes". */
void advise_patterns_json(const struct report *report, struct jsonw *json);
/* "whatif", "advice", "not_useful". */
void advise_json(const struct report *report, struct jsonw *json);

/* set.c: what loaders were set to from outside: an item of "why"; "set". */
void set_outline(const struct report *report, struct outline *outline);
void set_json(const struct report *report, struct jsonw *json);

/* gpu_outline.c: the chapter "gpu": busy, idle and why, copies, host time in sync, kernels. */
void gpu_outline(const struct report *report, struct outline *outline);

/* As "idle as the host launched nothing". */
const char *gpu_gap_words(enum gpu_gap gap);

/* By which clock the verdict is, and what of the run that clock leaves out: items. */
void gpu_outline_coverage(const struct report *report, struct outline *outline);

/* In most of the steps it gets its batches from the loader. */
bool gpu_is_fed(const struct gpu_device *device);

/* "gpu" or "host". */
const char *gpu_clock(const struct report *report);

/* evidence.c: the numbers that a cause was decided by, and the second cause, behind `text`. */
void evidence_add(const struct report *report, char *text, size_t size);
/* What the cause says first. */
const char *evidence_line(const struct report *report);
/* That one long step makes the verdict or the gain what it is. False: no step does. */
bool evidence_add_step(const struct report *report, char *text, size_t size);
/* What takes the loader's batches: the training, or where it has other loaders "this loop". */
const char *evidence_taker(const struct report *report);

/* remedy.c: a step to take, and how, in a sentence each with the run's own numbers. */
#define REMEDY_WORDS 320 /* bytes of `buffer` */
const char *remedy_line(const struct report *report, const struct advice *advice, char *buffer);
const char *remedy_how(const struct report *report, const struct advice *advice, char *buffer);
/* Whether the loader is known not to be PyTorch's. */
bool remedy_is_foreign(const struct report *report);
