/* SPDX-License-Identifier: Apache-2.0 */
/* queries.h - the SQL queries that are part of dlprof, for the tables of lake.def. */
#pragma once

#include <stddef.h>

/* Returns name number `i` of the queries, in order; NULL: there are fewer. */
const char *queries_name(size_t i);

/* Returns a query's text, which begins "-- " and its question. NULL: no query has this name. */
const char *queries_text(const char *name);
