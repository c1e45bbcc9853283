/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.h - put any text into formats that reserve characters: XML, Markdown, GitHub's workflow
 * commands. Invalid UTF-8, control characters and overrides of the direction of text become "?".
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum escape_form {
	ESCAPE_XML,
	ESCAPE_MARKDOWN,        /* a cell of a table */
	ESCAPE_GITHUB_DATA,     /* ::error ...::DATA */
	ESCAPE_GITHUB_PROPERTY, /* ::error KEY=PROPERTY::... */
	ESCAPE_HTML,
	ESCAPE_MAX
};

void escape_put(FILE *out, enum escape_form form, const char *text);

/* What replaces the character; NULL: nothing does. */
const char *escape_find(enum escape_form form, uint32_t code);
