/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - what a stall ratio is called, and the sentence that says it: for every form of it. */
#pragma once

#include "analysis/account/stall.h"
#include "render/form/page.h"

struct verdict {
	const char *words; /* "HIGHLY INPUT-BOUND" */
	const char *word;  /* "highly": in a table under "input-bound" */
	const char *sign;  /* for readers without colour */
	enum page_color tone;
};

const struct verdict *verdict_of(enum stall_verdict verdict);

/* Whose time a stall ratio is a share of. */
enum verdict_clock {
	VERDICT_HOST,     /* the training's thread waits */
	VERDICT_LOADER,   /* ... for one loader of several */
	VERDICT_GPU,      /* the GPU idles */
	VERDICT_JOB,      /* the ranks of a job wait for each other, too */
	VERDICT_JOB_MOST, /* ... and that may hide some of it */
	VERDICT_GROUP,    /* only some of them do; of those that lose most */
};

enum verdict_clock verdict_clock(const struct finding *finding);

/* "the host's clock"; and with what it counts, behind a colon. */
const char *verdict_clock_name(bool by_gpu);
const char *verdict_clock_meaning(bool by_gpu);
#define VERDICT_BOUND "an upper bound" /* what the host's clock says of a GPU */

#define VERDICT_SENTENCE 128

/* "41 % of the time is spent waiting for data", in a buffer of VERDICT_SENTENCE bytes. */
const char *verdict_sentence(char *buffer, enum verdict_clock clock, double ratio);

/* What stands for that sentence where the verdict is IN DOUBT; a note of the run says why. */
const char *verdict_doubt(void);

/* Why there is no verdict, and what can be done; both "" where there is one. */
const char *verdict_reason(enum stall_gap gap);
const char *verdict_remedy(enum stall_gap gap);
