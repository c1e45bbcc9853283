/* SPDX-License-Identifier: Apache-2.0 */
/* removed.h - the share of the loads' time that a remedy removes; 0: unknown. */
#pragma once

#include "analysis/cause/diagnosis.h"

/* halving CPU time counts as halving the load if it saves at least this share of the load */
#define NEARLY_HALF 0.4

struct remedied {
	const struct batch_series *series;
	const struct finding *finding;
	const struct cause_input *input;
	const struct diagnosis *diagnosis;
};

struct removed {
	double share; /* share of the loads' time */
	/* which share of the work that the remedy shortens (reading, decoding) may be needless */
	double needless;
	double least; /* share of the loads' time that is surely removed; 0: as much as `share` */
};

struct removed removed_by(const struct remedied *v, enum advice_id id);

/* Returns the share of the loads' time in which threads of the worker use or want a core. */
double removed_working_share(const struct remedied *v);

/* Returns the share of the loads' time that ADVICE_READ_LESS can shorten: reading and decoding
 * files, or waiting for bytes from other machines. */
double removed_reading_share(const struct remedied *v);

/* Return true if ADVICE_FIND_EVENT is about single stalls, or about loads that became longer. */
bool removed_are_stalls(const struct diagnosis *d);
bool removed_is_shift(const struct diagnosis *d);

/*
 * Returns the largest share of the loads' time that a remedy may remove; 0: unknown. This is all
 * the time of the longest function, as loops can become far faster, and results can be kept.
 */
double removed_at_most(const struct remedied *v, enum advice_id id);

/*
 * Returns the share of the loads' time that is saved if other programs stop, or 0 if cores are not
 * short. The saved share is at most the share of the cores that other programs use.
 */
double removed_from_cores(const struct remedied *v);
