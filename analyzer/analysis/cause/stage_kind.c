/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/stage_kind.h"

#include <stddef.h>
#include <string.h>

#include "dlprof/units.h"

static const struct {
	const char *begin;
	bool is_kernel;
	enum stage_kind kind;
} ROWS[] = {
#define STAGE(begin, kind)  {begin, false, STAGE_##kind},
#define KERNEL(begin, kind) {begin, true, STAGE_##kind},
#include "analysis/cause/stage_kinds.def"
#undef STAGE
#undef KERNEL
};

const char *const stage_kind_names[STAGE_KIND_MAX] = {
	[STAGE_READ] = "read",
	[STAGE_DECODE] = "decode",
	[STAGE_TRANSFORM] = "transform",
	[STAGE_PYTHON] = "python",
	[STAGE_BATCH] = "batch",
	[STAGE_SHUFFLE] = "shuffle",
	[STAGE_CACHE] = "cache",
	[STAGE_INTERLEAVE] = "interleave",
	[STAGE_PREFETCH] = "prefetch",
	[STAGE_READER] = "reader",
	[STAGE_OTHER] = "other",
};

enum stage_kind stage_kind_of(const char *name, bool is_kernel)
{
	for (size_t i = 0; i < ARRAY_COUNT(ROWS); i++)
		if (ROWS[i].is_kernel == is_kernel &&
		    strncmp(name, ROWS[i].begin, strlen(ROWS[i].begin)) == 0)
			return ROWS[i].kind;
	return is_kernel ? STAGE_TRANSFORM : STAGE_OTHER;
}

enum stage_kind stage_kind_find(const char *name)
{
	for (int kind = 0; kind < STAGE_KIND_MAX; kind++)
		if (strcmp(name, stage_kind_names[kind]) == 0)
			return (enum stage_kind)kind;
	return STAGE_OTHER;
}
