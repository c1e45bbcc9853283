/* SPDX-License-Identifier: Apache-2.0 */
/* sides.h - compares two judged runs, whose batches it reads once more. */
#pragma once

#include "render/run/compare.h"
#include "report/cmd.h"

/* Compares `b` with `a`; *ret refers to both. Prints what went wrong. Returns 0 or CMD_ERROR. */
int sides_compare(const struct options *options, const struct report *a, const struct report *b,
		  struct compared *ret);
