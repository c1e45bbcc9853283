/* SPDX-License-Identifier: Apache-2.0 */
/* grounds.h - finds observations that replace a general cause by a more exact one. */
#pragma once

#include "analysis/account/load_facts.h"
#include "analysis/cause/diagnosis.h"
#include "analysis/cause/lines.h"

#define GROUNDS_FREE       0.8 /* if a smaller share of the cores is used, no thread lacks one */
#define GROUNDS_OUTSIDE    0.5 /* outside waits matter from this share of the loads' time on */
#define GROUNDS_CPU_LITTLE 0.2 /* loads with a smaller share of CPU time hardly compute */
#define GROUNDS_READ_AGAIN 8.0 /* more bytes read than this for each byte of a batch are needless */
#define GROUNDS_ALL        0.05 /* relative error in "as many images a sample as workers" */
#define GROUNDS_TENSORS    16

void grounds_find(const struct batch_series *series, const struct finding *finding,
		 const struct cause_input *input, struct grounds *ret);

/* Returns the more exact cause, or `mechanism`. */
enum cause grounds_cause(const struct grounds *grounds, const struct batch_series *series,
		     enum cause mechanism);
