/* SPDX-License-Identifier: Apache-2.0 */
/* sheet.h - rows of a database as CSV, written line by line. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/fleet/export.h"

struct sheet {
	FILE *file;
	bool is_raw;    /* write numbers as they are stored, to the last digit */
	uint64_t times; /* a bit for each column in nanoseconds; none if raw */
	int64_t row_count;
};

/* Functions for an export_sink, whose context is a sheet. */
int sheet_names(const char *const *names, size_t count, void *context);
int sheet_row(const struct export_cell *cells, size_t count, void *context);
