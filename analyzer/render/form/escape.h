/* SPDX-License-Identifier: Apache-2.0 */
/* escape.h - writes texts in formats that reserve characters. Unprintable characters become "?". */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum escape_form {
	ESCAPE_XML,
	ESCAPE_MARKDOWN,        /* a cell of a Markdown table */
	ESCAPE_GITHUB_DATA,     /* the DATA in "::error ...::DATA" */
	ESCAPE_GITHUB_PROPERTY, /* a PROPERTY in "::error KEY=PROPERTY::" */
	ESCAPE_HTML,
	ESCAPE_MAX
};

void escape_put(FILE *out, enum escape_form form, const char *text);

/* Returns the text that replaces the character, or NULL if it stays as it is. */
const char *escape_find(enum escape_form form, uint32_t code);
