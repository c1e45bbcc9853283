/* SPDX-License-Identifier: Apache-2.0 */
/* grounds.h - finds observations by which a general cause becomes a more exact one. */
#pragma once

#include "analysis/cause/diagnosis.h"
#include "analysis/cause/lines.h"

#define GROUNDS_FREE       0.8 /* a core is free if less than this share of all cores is used */
/* loads wait outside if waits for other processes or machines take this share of their time */
#define GROUNDS_OUTSIDE    0.5
#define GROUNDS_CPU_LITTLE 0.2 /* loads hardly compute if CPU time is a smaller share of them */
/* cores are short for loads if waiting for a core takes at least this share of their time */
#define GROUNDS_KEPT       0.25
#define GROUNDS_HARDLY_RUN 0.3 /* threads hardly run if on average fewer than this are runnable */
/* reads are needless if they are this many times the bytes of a batch */
#define GROUNDS_READ_AGAIN 8.0
/* each worker decodes all images if (images a sample / workers) is this close to 1 */
#define GROUNDS_ALL        0.05
#define GROUNDS_TENSORS    16

void grounds_find(const struct batch_series *series, const struct finding *finding,
		 const struct cause_input *input, struct grounds *ret);

/* Returns true if the bytes of `read_again` are received from other machines, not read. */
static inline bool grounds_is_received(const struct grounds *grounds)
{
	return grounds->received_again > 0 && grounds->received_again >= grounds->read_again;
}

/* Returns true if receiving takes long because workers, busy with their next loads, answer late. */
bool grounds_is_asking(const struct grounds *grounds);

/* Returns a more exact cause than `mechanism`, if the grounds show one, else `mechanism`. */
enum cause grounds_cause(const struct grounds *grounds, const struct batch_series *series,
		     enum cause mechanism);
