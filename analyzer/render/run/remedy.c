/* SPDX-License-Identifier: Apache-2.0 */
/* remedy.c - says what a remedy is, and how to apply it, with the run's figures. */
#include "render/run/remedy.h"

#include "render/run/explain.h"

static remedy_words *const words[ADVICE_MAX] = {
#define REMEDY(constant, name) [ADVICE_##constant] = remedy_##name,
#include "render/run/remedy.def"
#undef REMEDY
};

const struct remedy *remedy_say(const struct report *report, const struct advice *advice,
				struct remedy *ret)
{
	const struct explanation *said = explain_find(advice_names[advice->id]);

	*ret = (struct remedy){said->line, said->how};
	if (words[advice->id])
		words[advice->id](report, advice, ret);
	dialect_say(report, advice, ret);
	return ret;
}
