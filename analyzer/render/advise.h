/* SPDX-License-Identifier: Apache-2.0 */
/* advise.h - the parts of a report that say why, how regularly, and what to do about it. */
#ifndef ADVISE_H
#define ADVISE_H

#include "render/jsonw.h"
#include "render/page.h"
#include "render/report.h"

/* The cause and its evidence, below the verdict. */
void advise_cause_text(const struct report *report, const struct page *page);

/* What comes every so many batches, and what it costs. */
void advise_pattern_text(const struct report *report, const struct page *page);

/* At most three steps with what they bring, and what would not help. */
void advise_next_text(const struct report *report, const struct page *page);

/* Whether other programs took so much of the cores that the numbers need saying. */
bool advise_others(const struct report *report);

/* The words of these, for other forms of the report; those that add leave `text` terminated. */
void advise_add_evidence(const struct report *report, char *text, size_t size);
void advise_add_useless(const struct report *report, char *text, size_t size);
void advise_add_needed(const struct report *report, char *text, size_t size);

/* What a gain is a gain of: "this run", or the loop over a loader where others take time, too. */
void advise_add_extent(const struct report *report, char *text, size_t size);
const char *advise_line(const struct report *report, enum advice_id id);
const char *advise_whatif_words(const struct whatif *whatif, int id); /* whatif NULL: of any run */

/* "period", "compute_period", "load_period", "slow_worker". */
void advise_patterns_json(const struct report *report, struct jsonw *json);

/* "whatif", "advice", "not_useful". */
void advise_json(const struct report *report, struct jsonw *json);

#endif
