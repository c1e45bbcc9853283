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
	unsigned mismatch; /* bits of fields for which they cannot be compared */
	unsigned changed;  /* bits of settings that differ */
	unsigned noted;    /* bits of fields that differ and do not matter */
	struct comparison comparison;
};

/* For people; outline_done() anyway. */
void compare_outline(const struct compared *compared, struct outline *o);

/* `dlprof.compare/2`. */
void compare_json(const struct compared *compared, FILE *out);
