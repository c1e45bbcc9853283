/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - two runs side by side. These functions decide nothing. */
#pragma once

#include "analysis/compare.h"
#include "analysis/fingerprint.h"
#include "render/report.h"

struct compared {
	const struct report *a, *b;
	struct fingerprint prints[2];
	unsigned mismatch; /* bits of fields for which they cannot be compared */
	unsigned changed;  /* bits of settings that differ */
	unsigned noted;    /* bits of fields that differ and do not matter */
	struct comparison comparison;
};

void compare_text(const struct compared *compared, const struct page *page);

/* `dlprof.compare/2`. */
void compare_json(const struct compared *compared, FILE *out);
