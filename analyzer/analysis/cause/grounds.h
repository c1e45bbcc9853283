/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grounds.h - what was observed beside waits and loads, on which a cause may be named.
 *
 * split.h says by which mechanism the training waits. One mechanism may have many causes: workers
 * cannot keep up because their loads are long, because half of them have no data, or because they
 * wait for one lock. Such a cause is named only where it was observed; causes.def says by what.
 */
#pragma once

#include "analysis/account/load_facts.h"
#include "analysis/cause/diagnosis.h"
#include "analysis/cause/lines.h"

#define GROUNDS_FREE       0.8 /* of the cores: if less is used, a thread could have had one */
#define GROUNDS_OUTSIDE    0.5 /* of the loads' time, for somebody outside of the process */
#define GROUNDS_CPU_LITTLE 0.2 /* of the loads' time */
#define GROUNDS_READ_AGAIN 8.0 /* bytes read, or inflated, for each byte of a batch */
#define GROUNDS_ALL        0.05 /* by which the images of a sample may differ from the workers */
#define GROUNDS_TENSORS    16  /* in a batch: from there on they are many */

/* All that was observed of a judged series. */
void grounds_find(const struct batch_series *series, const struct finding *finding,
		 const struct cause_input *input, struct grounds *ret);

/* The cause that a mechanism's cause becomes by what was observed. */
enum cause grounds_cause(const struct grounds *grounds, const struct batch_series *series,
		     enum cause mechanism);
