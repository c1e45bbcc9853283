/* SPDX-License-Identifier: Apache-2.0 */
/* remedy.h - the words of remedies for which the run knows more than remedies.def. */
#pragma once

#include "render/run/parts.h"

#define REMEDY_MOST      0.5 /* the least share of the loads' time that is "most of it" */
#define REMEDY_FEW_FILES 0.1 /* files that take a smaller share of loads do not make them long */

/*
 * Each function writes what to do (`line`) and how to do it (`how`): it sets the pointer to a text,
 * or fills the buffer, which then has precedence. What a function leaves alone is said as in
 * remedies.def.
 */

typedef void remedy_words(const struct report *report, const struct advice *advice,
			  struct remedy *ret);

#define REMEDY(constant, name) remedy_words remedy_##name;
#include "render/run/remedy.def"
#undef REMEDY
