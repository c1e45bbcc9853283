/* SPDX-License-Identifier: Apache-2.0 */
#include "report/queries.h"

#include <string.h>

#include "dlprof/units.h"
#include "queries_sql.h"

const char *queries_name(size_t i)
{
	return i < ARRAY_COUNT(queries_sql) ? queries_sql[i].name : NULL;
}

const char *queries_text(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(queries_sql); i++)
		if (strcmp(name, queries_sql[i].name) == 0)
			return queries_sql[i].text;
	return NULL;
}
