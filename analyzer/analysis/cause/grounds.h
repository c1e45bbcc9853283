/* SPDX-License-Identifier: Apache-2.0 */
/* grounds.h - observations beside waits and loads, by which a cause may be named. */
#pragma once

#include "analysis/account/load_facts.h"
#include "analysis/cause/diagnosis.h"
#include "analysis/cause/lines.h"

#define GROUNDS_FREE       0.8 /* share of the cores in use, below which no thread lacks one */
#define GROUNDS_OUTSIDE    0.5 /* share of the loads' time, waiting outside of the process */
#define GROUNDS_CPU_LITTLE 0.2 /* share of the loads' time */
#define GROUNDS_READ_AGAIN 8.0 /* bytes read, or inflated, for each byte of a batch */
#define GROUNDS_ALL        0.05 /* how far a sample's images may be off the number of workers,
				 * relative to it */
#define GROUNDS_TENSORS    16  /* tensors in a batch from which they are many */

/* Collects all grounds of a judged series. */
void grounds_find(const struct batch_series *series, const struct finding *finding,
		 const struct cause_input *input, struct grounds *ret);

/* The cause to name for a mechanism's cause, given the grounds. */
enum cause grounds_cause(const struct grounds *grounds, const struct batch_series *series,
		     enum cause mechanism);
