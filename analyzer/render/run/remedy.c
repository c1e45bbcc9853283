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

	ret->line = said->line;
	ret->how = said->how;
	*ret->line_buffer = *ret->how_buffer = '\0';
	if (words[advice->id])
		words[advice->id](report, advice, ret);
	if (*ret->line_buffer)
		ret->line = ret->line_buffer;
	if (*ret->how_buffer)
		ret->how = ret->how_buffer;
	dialect_say(report, advice, ret);
	return ret;
}
