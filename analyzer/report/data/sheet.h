/* SPDX-License-Identifier: Apache-2.0 */
/* sheet.h - writes rows of a database as CSV, line by line. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/fleet/export.h"

struct sheet {
	FILE *file;
	bool is_raw;
	uint64_t times; /* bit i: column i has times in ns */
};

int sheet_names(const char *const *names, size_t count, void *context);
int sheet_row(const struct export_cell *cells, size_t count, void *context);
