/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - two runs side by side. These functions decide nothing. */
#pragma once

#include "analysis/gate/compare.h"
#include "analysis/gate/fingerprint.h"
#include "render/form/outline.h"
#include "render/run/report.h"

struct compared {
	const struct report *a, *b;
	struct fingerprint prints[2];
	unsigned mismatch; /* bits for fields that make runs incomparable */
	unsigned changed;  /* bits for settings that differ */
	unsigned noted;    /* bits for fields whose difference does not matter */
	struct comparison comparison;
};

/* For people; outline_done() anyway. */
void compare_outline(const struct compared *compared, struct outline *o);

/* `dlprof.compare/2`. */
void compare_json(const struct compared *compared, FILE *out);
