/* SPDX-License-Identifier: Apache-2.0 */
/* queries.h - the SQL that dlprof ships, over the tables of lake.def. */
#pragma once

#include <stddef.h>

/* Their names, in order, up to NULL. */
const char *queries_name(size_t i);

/* The text of one; NULL: there is none of this name. Its first line is "-- ": what it answers. */
const char *queries_text(const char *name);
