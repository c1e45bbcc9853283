/* SPDX-License-Identifier: Apache-2.0 */
#include "render/form/escape.h"


#include "dlprof/units.h"
#include "render/form/utf8.h"

static const struct {
	char plain;
	const char *form[ESCAPE_MAX]; /* what replaces the character in each form; NULL: it stays */
} ESCAPES[] = {
	{'&', {[ESCAPE_XML] = "&amp;", [ESCAPE_MARKDOWN] = "&amp;", [ESCAPE_HTML] = "&amp;"}},
	{'<', {[ESCAPE_XML] = "&lt;", [ESCAPE_MARKDOWN] = "&lt;", [ESCAPE_HTML] = "&lt;"}},
	{'>', {[ESCAPE_XML] = "&gt;", [ESCAPE_MARKDOWN] = "&gt;", [ESCAPE_HTML] = "&gt;"}},
	{'"', {[ESCAPE_XML] = "&quot;", [ESCAPE_HTML] = "&quot;"}},
	{'\'', {[ESCAPE_XML] = "&apos;", [ESCAPE_HTML] = "&#39;"}},
	{'\\', {[ESCAPE_MARKDOWN] = "\\\\"}},
	{'|', {[ESCAPE_MARKDOWN] = "\\|"}},
	{'*', {[ESCAPE_MARKDOWN] = "\\*"}},
	{'_', {[ESCAPE_MARKDOWN] = "\\_"}},
	{'`', {[ESCAPE_MARKDOWN] = "\\`"}},
	{'~', {[ESCAPE_MARKDOWN] = "\\~"}},
	{'[', {[ESCAPE_MARKDOWN] = "\\["}},
	{']', {[ESCAPE_MARKDOWN] = "\\]"}},
	{'@', {[ESCAPE_MARKDOWN] = "&#64;"}}, /* an "@" in a path would notify a user */
	{'#', {[ESCAPE_MARKDOWN] = "&#35;"}},
	{'%', {[ESCAPE_GITHUB_DATA] = "%25", [ESCAPE_GITHUB_PROPERTY] = "%25"}},
	{':', {[ESCAPE_GITHUB_PROPERTY] = "%3A"}},
	{',', {[ESCAPE_GITHUB_PROPERTY] = "%2C"}},
	{'\r', {[ESCAPE_GITHUB_DATA] = "%0D", [ESCAPE_GITHUB_PROPERTY] = "%0D"}},
	{'\n',
	 {[ESCAPE_GITHUB_DATA] = "%0A",
	  [ESCAPE_GITHUB_PROPERTY] = "%0A",
	  [ESCAPE_MARKDOWN] = " "}},
};

const char *escape_find(enum escape_form form, uint32_t code)
{
	for (size_t i = 0; i < ARRAY_COUNT(ESCAPES); i++)
		if ((uint32_t)ESCAPES[i].plain == code)
			return ESCAPES[i].form[form];
	return NULL;
}

void escape_put(FILE *out, enum escape_form form, const char *text)
{
	struct utf8 rune;

	while (utf8_next(&text, &rune)) {
		const char *escaped = rune.valid ? escape_find(form, rune.code) : NULL;

		if (escaped)
			fputs(escaped, out);
		else if (!utf8_is_printable(&rune))
			fputc('?', out);
		else
			fwrite(rune.bytes, 1, rune.length, out);
	}
}
