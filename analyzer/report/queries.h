/* SPDX-License-Identifier: Apache-2.0 */
/* queries.h - the SQL queries that dlprof ships for the tables of lake.def. */
#pragma once

#include <stddef.h>

/* Returns the name of query number `i`; NULL: there are fewer queries. */
const char *queries_name(size_t i);

/* Returns a query's SQL, which begins with "-- " and a question; NULL: no query has this name. */
const char *queries_text(const char *name);
