/* SPDX-License-Identifier: Apache-2.0 */
/* sections.h - the sections of the page, in order. Each leaves out what was not observed. */
#pragma once

#include "render/html/put.h"

/* Writes the verdict as the page's heading, with a sign for readers without colour. */
void html_heading(struct html *html, enum stall_verdict verdict);

/* Begin the page's header with the run's name and command; write the verdict's sentence. */
void html_run(struct html *html, const char *command);
void html_answer(struct html *html, enum stall_verdict verdict, const char *range);

void html_verdict(struct html *html);  /* the verdict, why, and what to do */
void html_timeline(struct html *html); /* wait and compute, as a sum and over time */
void html_gpu(struct html *html);      /* busy, idle and why, copies, kernels */
int html_pattern(struct html *html);   /* the period, and the waits by phase */
void html_life(struct html *html);     /* stages of a batch; decoders by format and size */
void html_lanes(struct html *html);    /* what each worker did */
void html_predict(struct html *html);  /* other settings, and sliders */
void html_code(struct html *html);     /* the lines of code with the most time */
int html_data(struct html *html);      /* numbers and stacks for the scripts */

/* Writes a chapter's items as paragraphs: <p class="..."><b>Why.</b> ... */
void html_items(struct html *html, const char *chapter, const char *class);

/* Writes the outline's blocks of a chapter as tables. */
void html_blocks(struct html *html, const char *chapter);

/* Begin and end the page. `name` is the name of the run or the job. */
void html_head(struct html *html, bool has_script, const char *name);
void html_foot(struct html *html);

/* Writes "flames": frames (function, place, is it the user's) and stacks by group. 0 or -ENOMEM. */
struct jsonw;
int html_flames(const struct report *report, struct jsonw *json);
