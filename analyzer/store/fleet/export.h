/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - reads a database's public views cell by cell. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/database/db.h"

enum export_type { EXPORT_NULL, EXPORT_INTEGER, EXPORT_REAL, EXPORT_TEXT };

struct export_cell {
	enum export_type type;
	int64_t integer;
	double real;
	const char *text;
};

struct export_sink {
	/* `names` is called once, then `row` for each row, until one returns other than 0. */
	int (*names)(const char *const *names, size_t count, void *context);
	int (*row)(const struct export_cell *cells, size_t count, void *context);
	void *context;
};

int export_views(struct db *db, int (*view)(const char *name, void *context), void *context);

/* Exports a statement's rows, redacted like rows of `view`. Returns 0, -errno or sink's result. */
struct sqlite3_stmt;
int export_rows(struct sqlite3_stmt *stmt, const char *view, const struct export_sink *sink);

/* Exports a view. -ENOENT: there is no such view. Else returns 0, -errno or the sink's result. */
int export_view(struct db *db, const char *view, const struct export_sink *sink);
