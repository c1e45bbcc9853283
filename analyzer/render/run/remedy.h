/* SPDX-License-Identifier: Apache-2.0 */
/* remedy.h - the words of remedies for which the run knows more than remedies.def. */
#pragma once

#include "render/run/code.h"
#include "render/run/parts.h"

#define REMEDY_MOST      0.5 /* the least share of the loads' time that is "most of it" */
#define REMEDY_FEW_FILES 0.1 /* files that take a smaller share of loads do not make loads long */

/*
 * Each function says what to do (`line`) and how to do it (`how`): it sets the pointer, or makes a
 * text bit by bit. What a function leaves alone is said as in remedies.def.
 */
typedef void remedy_words(const struct report *report, const struct advice *advice,
			  struct remedy *ret);

#define REMEDY(constant, name) remedy_words remedy_##name;
#include "render/run/remedy.def"
#undef REMEDY

/* Append to a remedy's text, and make it the remedy's `line` or `how`. */
#define remedy_line(ret, ...)                                                                      \
	(page_append((ret)->line_buffer, REMEDY_WORDS, __VA_ARGS__),                               \
	 (void)((ret)->line = (ret)->line_buffer))
#define remedy_how(ret, ...)                                                                       \
	(page_append((ret)->how_buffer, REMEDY_WORDS, __VA_ARGS__),                                \
	 (void)((ret)->how = (ret)->how_buffer))

/* Says how to apply a remedy by a sentence about the line of code_add_lead(). Returns false also if
 * code_named() returns a line, because "Why" names that line already. */
static inline bool remedy_lead(const struct report *report, enum line_group group,
			       struct remedy *ret)
{
	struct text how = {ret->how_buffer, REMEDY_WORDS};

	if (code_named(report, group) || !code_add_lead(report, group, &how))
		return false;
	remedy_how(ret, ".");
	return true;
}
