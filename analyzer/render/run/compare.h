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
	unsigned mismatch; /* bits of fields that differ and make the runs incomparable */
	unsigned changed;  /* bits of settings that differ */
	unsigned noted;    /* bits of fields that differ and are only mentioned */
	struct comparison comparison;
};

#define COMPARE_SHARED 256

/* Writes that workers share a limit, if runs with different numbers of workers prove it. */
bool compare_shared(const struct compared *compared, char *text, size_t size);

/* Makes the outline of a comparison. Call outline_done() even if memory ran out. */
void compare_outline(const struct compared *compared, struct outline *o);

void compare_json(const struct compared *compared, FILE *out);
