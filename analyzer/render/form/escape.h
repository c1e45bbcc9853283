/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.h - text that may be anything, inside formats that are not: XML, Markdown, GitHub's
 * workflow commands. What is no UTF-8, a control character or an override of the direction of
 * text comes out as "?".
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum escape_form {
	ESCAPE_XML,
	ESCAPE_MARKDOWN,        /* a table's cell */
	ESCAPE_GITHUB_DATA,     /* ::error ...::DATA */
	ESCAPE_GITHUB_PROPERTY, /* ::error KEY=PROPERTY::... */
	ESCAPE_HTML,
	ESCAPE_MAX
};

void escape_put(FILE *out, enum escape_form form, const char *text);

/* What replaces the character; NULL: nothing does. */
const char *escape_find(enum escape_form form, uint32_t code);
