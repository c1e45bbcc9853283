/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - makes a report's outline from its parts. The screen comes first and is all that is
 * shown by default: the number and its parts, why, what to do, what not to do, and how certain that
 * is. It fits a terminal of 80 x 24. Then follows everything else.
 */
#pragma once

#include "analysis/cause/advice.h"
#include "analysis/predict/same.h"
#include "render/form/outline.h"
#include "render/form/units.h"
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

/* Returns how --set changed samples, for the loader whose samples change most. */
enum same screen_set_same(const struct report *report);

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

/* Appends a step's parts and their shares (step.c). Returns false if steps are not divided. */
bool step_add_words(const struct report *report, char *text, size_t size);

/* Returns where a part lies, such as "in the optimizer". */
const char *step_place(const struct report *report, enum step_part part);

/* Adds each part with its time to the chapter "wait", or the reason why steps have no parts. */
void step_outline(const struct report *report, struct outline *outline);

/* Appends the figures that make a stage and its kernel the slowest (stages.c). */
void stages_add_evidence(const struct report *report, char *text, size_t size);

/* Append a step, and how, with the run's figures. Return false if remedies.def has the words. */
bool stages_add_line(const struct report *report, enum advice_id id, char *text, size_t size);
bool stages_add_how(const struct report *report, enum advice_id id, char *text, size_t size);

/* Adds the screen's line about the pipeline's parts, the largest first. */
void stages_outline_line(const struct report *report, struct outline *o);

/* Adds each stage as an item of the chapter "life", which follows the screen. */
void stages_outline(const struct report *report, struct outline *o);

/* Returns the stage that the training waits for, or NULL if it is not known. */
const struct stage_work *stages_slow(const struct report *report);

/* Returns a kernel's share of all kernels' time, or a stage's busy time / the time observed. */
double stages_share(const struct report *report, const struct stage_work *stage);

/* Gets the program's name: the first word that is a Python script or module, or the first. */
void screen_program(const char *command, char *ret, size_t size);

/* The names that a loader's library uses for its settings (dialect.c). */
struct dialect {
	const char *kind; /* the `kind` of such loaders begins with this */
	unsigned lacks;   /* bits of enum loader_option that the library does not have */
	bool is_torch;
	bool has_workers; /* the loader has a setting like num_workers */
	const char *prefetch, *prefetch_x4, *prefetch_each; /* names of prefetch settings; each: for
							     * one worker */
};

/* Returns the dialect of a loader, that of PyTorch if `loader` is NULL. */
const struct dialect *dialect_of(const struct loader_info *loader);

/* Returns true if the loader's workers are threads of the training's process. */
bool dialect_is_threads(const struct loader_info *loader);

/* Append an advice in the loader's words. Return false, and append nothing, if PyTorch's fit. */
bool dialect_add_line(const struct report *report, const struct advice *advice, char *text,
		      size_t size);
bool dialect_add_how(const struct report *report, const struct advice *advice, char *text,
		     size_t size);

/* A part of an account in whole percent, which sum to 100 and to the headline (shares.c). */
#define SHARES_MOST (ACCOUNT_PART_MAX + 1)

struct share_part {
	const char *label;
	enum page_color tone;
	int part; /* enum account_part; ACCOUNT_PART_MAX: the steps */
	double ns;
	int64_t units; /* share in percent, or in tenths of a percent */
};

/*
 * Fills `ret` with the parts that took time, the steps last; sets *ret_whole to the units in the
 * whole: 100, or 1000 if the ratio is below ten percent. Returns the number of parts.
 */
size_t shares_divide(const struct account *account, struct share_part ret[SHARES_MOST],
		     int64_t *ret_whole);

/* Writes a number of units as "8 %" or "0.8 %" to `buffer`, and returns it. */
const char *shares_words(int64_t units, int64_t whole, char buffer[UNITS_MAX]);

/* Writes the share of one part (ACCOUNT_PART_MAX: the steps), as shares_divide() rounds it. */
const char *shares_of(const struct account *account, int part, char buffer[UNITS_MAX]);

/* A part of the loads' time (inside.c): a transform, a decoder (all sizes together), or reading. */
struct inside_part {
	char name[240];
	const char *what;
	int64_t count;
	int64_t ns;
};

struct inside_parts {
	struct inside_part *items; /* longest first; the caller frees the list; NULL: no memory */
	size_t count;
};
struct inside_parts inside_parts(const struct inside *inside);

/* One of the two parts with the most of the loads' time. */
struct inside_largest {
	char name[240];
	int64_t ns;
};
bool inside_find_largest(const struct inside *inside, struct inside_largest ret[2]);
void inside_take_largest(struct inside_largest top[2], const struct inside_largest *part);

/* Returns true if decoding images took at least a fifth of the loads' time. */
bool inside_decodes_images(const struct inside *inside);

/*
 * Appends the largest parts of the loads, if above a fiftieth: "libjpeg 47 %, RandomResizedCrop 27
 * %, asleep 10 %". `facts` says what loads wait for; NULL: not known.
 */
void inside_add_words(const struct inside *inside, const struct load_facts *facts, char *text,
		      size_t size);

/* Adds items to the chapter "life", and the chapter "slowest". Empty lists are left out. */
void inside_outline(const struct inside *inside, struct outline *outline);
