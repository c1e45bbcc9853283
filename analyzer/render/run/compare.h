/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - shows two runs side by side. Nothing is decided here. */
#pragma once

#include "analysis/gate/compare.h"
#include "analysis/gate/fingerprint.h"
#include "render/form/outline.h"
#include "render/run/report.h"

struct compared {
	const struct report *a, *b;
	struct fingerprint prints[2];
	unsigned mismatch; /* bits of the fields whose difference makes the runs incomparable */
	unsigned changed;  /* bits of the settings that differ */
	unsigned noted;    /* bits of other fields that differ, which is only printed */
	struct comparison comparison;
};

#define COMPARE_SHARED 256 /* room for compare_shared() */

/*
 * Writes what two runs with different numbers of workers prove, if the workers share a limit.
 * Returns false if they do not, as far as is known.
 */
bool compare_shared(const struct compared *compared, char *text, size_t size);

/* Makes the outline for people. Call outline_done() even if memory ran out. */
void compare_outline(const struct compared *compared, struct outline *o);

/* Writes the comparison as JSON `dlprof.compare/2`. */
void compare_json(const struct compared *compared, FILE *out);
