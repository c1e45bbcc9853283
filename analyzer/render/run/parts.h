/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - the parts of a report's outline: first the screen, of 80 x 24, then everything else. */
#pragma once

#include "analysis/cause/advice.h"
#include "analysis/cause/useless.h"
#include "analysis/predict/same.h"
#include "render/form/outline.h"
#include "render/form/units.h"
#include "render/run/report.h"

/*
 * Chapters of the screen. Their rows are items, with two exceptions: the rows of "account" are
 * parts of one bar, as long as `share` says, and "waits" has a strip (strip.h).
 */
#define SCREEN_ACCOUNT "account"
#define SCREEN_WHY     "why"
#define SCREEN_LOAD    "load"
#define SCREEN_LINE    "line"
#define SCREEN_NEXT    "next"
#define SCREEN_NO      "no"
#define SCREEN_IF      "if"
#define SCREEN_WAITS   "waits"
#define SCREEN_SURE    "sure"
#define SCREEN_OTHERS  "others"

/* Makes the screen and, if `all`, the other chapters. 0 or -ENOMEM; always call outline_done(). */
int screen_outline(const struct report *report, bool all, struct outline *ret);

/* Adds all chapters that are not on the screen. What was not observed is left out. */
void details_outline(const struct report *report, struct outline *outline);

void facts_outline_load(const struct report *report, struct outline *outline);
void facts_outline_processes(const struct report *report, struct outline *outline);
/* Returns ns as a share of the loads' time, limited to 1, since records of loads may be lost. */
double facts_share(const struct load_facts *facts, double ns);

void advise_next(const struct report *report, struct outline *outline);
void advise_rhythm(const struct report *report, struct outline *outline);
void advise_patterns(const struct report *report, struct outline *outline);
void advise_predictions(const struct report *report, struct outline *outline);
bool advise_is_of_number(int id);

/* Returns what of the samples stays the same under --set, for the loader most changed by --set. */
enum same screen_set_same(const struct report *report);

void gpu_outline(const struct report *report, struct outline *outline);

const char *gpu_gap_words(enum gpu_gap gap);

void gpu_outline_coverage(const struct report *report, struct outline *outline);

bool gpu_is_fed(const struct gpu_device *device);

const char *gpu_clock(const struct report *report);

void evidence_add(const struct report *report, struct text *text);
/* Appends the cause in one sentence, which names the function that takes most time if known. */
void evidence_add_line(const struct report *report, struct text *text);
/*
 * Returns the mean time of a worker's first load in an epoch, without the run's first epoch, and
 * the number of such loads. NAN: it is not much longer than that of other loads, or unknown.
 */
double evidence_first_loads(const struct report *report, size_t *ret_count);
/* Returns true if workers' first loads in epochs take half of all loads' time or more. */
bool evidence_firsts_lead(const struct report *report);
/* Appends "from 10 ms in the first quarter of the run to 40 ms in the last". */
void evidence_add_growth(const struct growth *growth, struct text *text);
/* Appends the stall ratio without the longest step. Returns false if it is nearly the same. */
bool evidence_add_step(const struct report *report, struct text *text);
/* Returns who waits: "the training", or "this loop" if the thread has other loaders, too. */
const char *evidence_taker(const struct report *report);

#define REMEDY_WORDS 320
/* A remedy, and how to apply it: a sentence each. The buffers may hold these sentences. */
struct remedy {
	const char *line, *how;
	char line_buffer[REMEDY_WORDS], how_buffer[REMEDY_WORDS];
};

/* Writes the remedy of an advice, and returns `ret`. */
const struct remedy *remedy_say(const struct report *report, const struct advice *advice,
				struct remedy *ret);

/* Appends the shares of a step's parts. Returns false if steps are not divided into parts. */
bool step_add_words(const struct report *report, struct text *text);

const char *step_part_place(const struct step_parts *parts, enum step_part part);
const char *step_place(const struct report *report, enum step_part part);

void step_outline(const struct report *report, struct outline *outline);

void stages_add_evidence(const struct report *report, struct text *text);

void stages_outline_line(const struct report *report, struct outline *o);

void stages_outline(const struct report *report, struct outline *o);

/* Returns the slowest stage; NULL: unknown. */
const struct stage_work *stages_slow(const struct report *report);

/* Returns a kernel's share of all kernels' time, or a stage's share of the time observed. */
double stages_share(const struct report *report, const struct stage_work *stage);

/* Sets *ret to the first word that is a Python script or module, else to the first word. */
void screen_program(const char *command, char *ret, size_t size);

/* The names that a loader's library uses for its settings (dialect.c). */
struct dialect {
	const char *kind;
	unsigned lacks;   /* bits of enum loader_option: settings that the library does not have */
	bool is_torch;
	bool has_workers;
	/* words for the prefetch setting, for four times its value, for its share per worker */
	const char *prefetch, *prefetch_x4, *prefetch_each;
};

/* Returns PyTorch's dialect if `loader` is NULL. */
const struct dialect *dialect_of(const struct loader_info *loader);

bool dialect_is_threads(const struct loader_info *loader);

/* Returns true for accelerate's dispatcher of several ranks: rank 0 loads the batches of all. */
bool dialect_is_dispatcher(const struct loader_info *loader);

/* Replaces words by those for the loader's library, if PyTorch's do not fit. */
void dialect_say(const struct report *report, const struct advice *advice, struct remedy *ret);

/* most shares: the parts of the waiting, its undivided rest, and the steps */
#define SHARES_MOST (ACCOUNT_PART_MAX + 2)

/* How a part of the account looks, and what it is. Entry ACCOUNT_PART_MAX is the steps. */
extern const struct share_look {
	const char *label, *note;
	enum page_color tone;
	const char *class;    /* in HTML */
	const char *glyph[2]; /* character in bars on terminals; [true]: in ASCII */
} share_looks[ACCOUNT_PART_MAX + 1];

struct share_part {
	const char *label;
	int part; /* an enum account_part; ACCOUNT_PART_MAX: the steps */
	double ns;
	int64_t units; /* its share in percent, or in tenths of a percent (shares_divide()) */
};

/* Divides the time, steps last, into *ret_whole units: 100, or 1000 if waits are below 10 %. */
size_t shares_divide(const struct account *account, struct share_part ret[SHARES_MOST],
		     int64_t *ret_whole);

const char *shares_words(int64_t units, int64_t whole, char buffer[UNITS_MAX]);

const char *shares_of(const struct account *account, int part, char buffer[UNITS_MAX]);

/* a part of the loads: the dataset's own code, a transform, a decoder or reading */
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

/* Finds the two longest parts. Returns false if there are fewer. */
bool inside_find_largest(const struct inside *inside, const struct load_facts *facts,
			 struct inside_part ret[2]);

bool inside_decodes_images(const struct inside *inside);

/* Appends the largest parts: "libjpeg 47 %, RandomResizedCrop 27 %". `facts` may be NULL. */
void inside_add_words(const struct inside *inside, const struct load_facts *facts,
		      struct text *text);

void inside_outline(const struct inside *inside, struct outline *outline);
