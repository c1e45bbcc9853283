/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - names for stall ratios, and the sentence about one, for every form. */
#pragma once

#include "analysis/account/stall.h"
#include "render/form/page.h"

struct verdict {
	const char *words; /* "HIGHLY INPUT-BOUND" */
	const char *word;  /* "highly", under "input-bound" in a table */
	const char *sign;  /* for readers without colour */
	enum page_color tone;
};

const struct verdict *verdict_of(enum stall_verdict verdict);

/* The clock and the time of which a stall ratio is a share. */
enum verdict_clock {
	VERDICT_HOST,     /* the training's thread waits */
	VERDICT_LOADER,   /* the training's thread waits for one loader of several */
	VERDICT_GPU,      /* the GPU idles */
	VERDICT_JOB,      /* the ranks of a job also wait for each other */
	VERDICT_JOB_MOST, /* ... which may hide some waiting */
	VERDICT_GROUP,    /* some ranks wait for each other; the group that loses most */
};

enum verdict_clock verdict_clock(const struct finding *finding);

/* "the host's clock"; and what it counts, to put after a colon. */
const char *verdict_clock_name(bool by_gpu);
const char *verdict_clock_meaning(bool by_gpu);
#define VERDICT_BOUND "an upper bound" /* for a GPU's idle time by the host's clock */

#define VERDICT_SENTENCE 128

/* Writes "41 % of the time is spent waiting for data" into VERDICT_SENTENCE bytes. */
const char *verdict_sentence(char *buffer, enum verdict_clock clock, double ratio);

/* Replaces that sentence if the verdict is IN DOUBT; a note of the run says why. */
const char *verdict_doubt(void);

/* Why there is no verdict, and what to do; both "" if there is one. */
const char *verdict_reason(enum stall_gap gap);
const char *verdict_remedy(enum stall_gap gap);
