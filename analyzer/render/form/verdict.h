/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - words for verdicts and stall ratios, for all forms of output. */
#pragma once

#include "analysis/account/stall.h"
#include "render/form/page.h"

struct verdict {
	const char *words; /* for a headline: "HIGHLY INPUT-BOUND" */
	const char *word;  /* for a column of a table, headed "input-bound": "highly" */
	const char *sign;  /* printed before the words, for readers who see no colour */
	enum page_color tone;
};

const struct verdict *verdict_of(enum stall_verdict verdict);

/* Says of what time a stall ratio is a share, and by which clock that time is measured. */
enum verdict_clock {
	VERDICT_HOST,
	VERDICT_LOADER,
	VERDICT_GPU,
	VERDICT_JOB,
	VERDICT_JOB_MOST, /* like VERDICT_JOB, but an upper bound */
	VERDICT_GROUP,    /* like VERDICT_JOB, but for the group of ranks that loses most */
};

/* Words for the clock by which waits are measured: the host's [false] or the GPU's [true]. */
extern const struct verdict_clock_words {
	const char *name, *meaning;
} verdict_clocks[2];
#define VERDICT_BOUND "an upper bound" /* the GPU's idle time is at most what the host waited */

#define VERDICT_SENTENCE 128

/* Writes "41 % of the time is spent waiting for data" into VERDICT_SENTENCE bytes. */
const char *verdict_sentence(char *buffer, enum verdict_clock clock, double ratio);

#define VERDICT_DOUBT "it is not known whose waits these are"

/* Says why there is no verdict, and what the user can do about it. */
extern const struct verdict_gap {
	const char *reason, *remedy;
} verdict_gaps[STALL_GAP_MAX];
