/* SPDX-License-Identifier: Apache-2.0 */
/* grounds.h - observations beside waits and loads that let a more exact cause be named. */
#pragma once

#include "analysis/account/load_facts.h"
#include "analysis/cause/diagnosis.h"
#include "analysis/cause/lines.h"

#define GROUNDS_FREE       0.8 /* below this share of the cores in use, no thread lacks one */
#define GROUNDS_OUTSIDE    0.5 /* from this share of the loads' time on, waits outside of the
			        * process matter */
#define GROUNDS_CPU_LITTLE 0.2 /* loads with a smaller share of CPU time hardly compute */
#define GROUNDS_READ_AGAIN 8.0 /* more bytes than this for each byte of a batch are needless work */
#define GROUNDS_ALL        0.05 /* images a sample may differ from the number of workers by this
				 * share */
#define GROUNDS_TENSORS    16  /* tensors in a batch that are many */

/* Collects all grounds of a judged series in `ret`. */
void grounds_find(const struct batch_series *series, const struct finding *finding,
		 const struct cause_input *input, struct grounds *ret);

/* Returns the cause to name in place of `mechanism`, given the grounds. */
enum cause grounds_cause(const struct grounds *grounds, const struct batch_series *series,
		     enum cause mechanism);
