/* SPDX-License-Identifier: Apache-2.0 */
/* queries.h - the SQL queries that dlprof ships for the tables of lake.def. */
#pragma once

#include <stddef.h>

/* Returns the name of query `i`, or NULL if there are fewer queries. */
const char *queries_name(size_t i);

/* Begins with "-- " and its question; NULL if it is unknown. */
const char *queries_text(const char *name);
