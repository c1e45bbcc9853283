/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - the stable views of a database, cell by cell. */
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
	/* Gets the names of the columns, and then each row. A result that is not 0 ends it. */
	int (*names)(const char *const *names, size_t count, void *context);
	int (*row)(const struct export_cell *cells, size_t count, void *context);
	void *context;
};

/* Calls `view` with the name of each view that is a promise. */
int export_views(struct db *db, int (*view)(const char *name, void *context), void *context);

/* Gives all rows of a statement, redacted as the view's are. 0, -errno, or what ended it. */
struct sqlite3_stmt;
int export_rows(struct sqlite3_stmt *stmt, const char *view, const struct export_sink *sink);

/* Gives all rows of a view. -ENOENT: there is none of this name. 0, -errno, or what ended it. */
int export_view(struct db *db, const char *view, const struct export_sink *sink);
