/* SPDX-License-Identifier: Apache-2.0 */
/* sections.h - the parts of the page, in their order. Each leaves out what was not observed. */
#pragma once

#include "render/html/put.h"

/* The word that matters most, with a sign for readers without colour. */
void html_heading(struct html *html, enum stall_verdict verdict);

/* Of the outline: whose page it is, beginning the header; the sentence of the verdict. */
void html_run(struct html *html, const char *command);
void html_answer(struct html *html, enum stall_verdict verdict, const char *range);

void html_verdict(struct html *html);  /* the answer, why, and what to do */
void html_timeline(struct html *html); /* wait and compute, in all and over time */
void html_gpu(struct html *html);      /* busy, idle and for want of what, copies, kernels */
int html_pattern(struct html *html);   /* the period, and the waits by phase */
void html_life(struct html *html);     /* of a batch; decoders by format and size */
void html_lanes(struct html *html);    /* what each worker did */
void html_predict(struct html *html);  /* other settings, and the replay */
void html_code(struct html *html);     /* which lines of code lead */
int html_data(struct html *html);      /* numbers and stacks for the script */

/* The items of a chapter as paragraphs: <p class="..."><b>Why.</b> ... */
void html_items(struct html *html, const char *chapter, const char *class);

/* What the outline says of a chapter, as tables. */
void html_blocks(struct html *html, const char *chapter);

/* Begins and ends the page; `name` is that of the run, or of the runs. */
void html_head(struct html *html, bool has_script, const char *name);
void html_foot(struct html *html);

/* "flames": frames (function, place, whose they are) and the stacks of groups. 0 or -ENOMEM. */
struct jsonw;
int html_flames(const struct report *report, struct jsonw *json);
