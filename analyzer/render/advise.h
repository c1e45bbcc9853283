/* SPDX-License-Identifier: Apache-2.0 */
/* advise.h - the parts of a report that say why, how regularly, and what to do about it. */
#ifndef ADVISE_H
#define ADVISE_H

#include "render/jsonw.h"
#include "render/outline.h"

/* At most three steps with what they bring and how, and what would not help: of the screen. */
void advise_next(const struct report *report, struct outline *outline);

/* "every 4 batches": of the screen's waits. */
void advise_rhythm(const struct report *report, struct outline *outline);

/* Beyond the screen: what comes every so many batches; what other settings would bring. */
void advise_patterns(const struct report *report, struct outline *outline);
void advise_predictions(const struct report *report, struct outline *outline);

/* Whether other programs took so much of the cores that the numbers need saying. */
bool advise_others(const struct report *report);

/* "period", "compute_period", "load_period", "slow_worker", "slow_workers", "causes". */
void advise_patterns_json(const struct report *report, struct jsonw *json);

/* "whatif", "advice", "not_useful". */
void advise_json(const struct report *report, struct jsonw *json);

#endif
