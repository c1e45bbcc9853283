/* SPDX-License-Identifier: Apache-2.0 */
/* queries.h - the SQL queries that dlprof ships, for the tables of lake.def. */
#pragma once

#include <stddef.h>

/* Names of the queries, in order, ended by NULL. */
const char *queries_name(size_t i);

/* A query's text; NULL: no query has this name. Its first line is "-- " and what it answers. */
const char *queries_text(const char *name);
