/* SPDX-License-Identifier: Apache-2.0 */
#include "render/form/page.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "render/form/utf8.h"

#define LONGEST    4096 /* longer texts, in bytes, are cut */
#define ROOM       20   /* with fewer columns beside the label, the text goes below it */

void page_color(const struct page *page, enum page_color color)
{
	static const char *const codes[PAGE_COLOR_MAX] = {
		[PAGE_PLAIN] = "0",  [PAGE_BOLD] = "1",      [PAGE_DIM] = "2",
		[PAGE_RED] = "1;31", [PAGE_YELLOW] = "1;33", [PAGE_GREEN] = "1;32",
	};

	if (page->color)
		fprintf(page->out, "\033[%sm", codes[color]);
}

#define PLUS_MINUS 0xb1 /* code point that becomes "+-" in ASCII */

static void put_rune(const struct page *page, const struct utf8 *rune)
{
	if (page->ascii && rune->valid && rune->code == PLUS_MINUS)
		fputs("+-", page->out);
	else if (!utf8_is_printable(rune) || (page->ascii && rune->code >= 0x80))
		fputc('?', page->out);
	else
		fwrite(rune->bytes, 1, rune->length, page->out);
}

int page_columns_of(const struct page *page, const struct utf8 *rune)
{
	if (page->ascii)
		return rune->valid && rune->code == PLUS_MINUS ? 2 : 1;
	return utf8_is_printable(rune) ? utf8_columns(rune) : 1;
}

int page_columns(const struct page *page, const char *text)
{
	struct utf8 rune;
	int width = 0;

	while (utf8_next(&text, &rune))
		width += page_columns_of(page, &rune);
	return width;
}

static void put_text(const struct page *page, const char *text)
{
	struct utf8 rune;

	while (utf8_next(&text, &rune))
		put_rune(page, &rune);
}

static void put_spaces(const struct page *page, int count)
{
	if (count > 0)
		fprintf(page->out, "%*s", count, "");
}

/* Returns the end of a word. A number and its unit are one word: "67 %", "20.1 s". */
static const char *word_end(const char *text)
{
	while (*text) {
		if (*text == ' ' && !isdigit((unsigned char)text[-1]))
			break;
		text++;
	}
	return text;
}

static void wrap(const struct page *page, int hang, int column, const char *text)
{
	bool fresh = true;

	for (;;) {
		const char *end, *at;
		char word[LONGEST];
		struct utf8 rune;
		int width;

		while (*text == ' ')
			text++;
		if (!*text)
			break;
		end = word_end(text + 1);
		memcpy(word, text, (size_t)(end - text));
		word[end - text] = '\0';
		text = end;
		width = page_columns(page, word);
		if (!fresh && column + 1 + width > page->width) {
			fputc('\n', page->out);
			put_spaces(page, hang);
			column = hang;
			fresh = true;
		}
		if (!fresh) {
			fputc(' ', page->out);
			column++;
		}
		for (at = word; utf8_next(&at, &rune); column += page_columns_of(page, &rune)) {
			if (column + page_columns_of(page, &rune) > page->width) {
				fputc('\n', page->out);
				put_spaces(page, hang);
				column = hang;
			}
			put_rune(page, &rune);
		}
		fresh = false;
	}
	fputc('\n', page->out);
}

void page_entry(const struct page *page, int indent, int hang, const char *label,
		const char *format, ...)
{
	char text[LONGEST];
	int column = indent + page_columns(page, label);
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);

	put_spaces(page, indent);
	put_text(page, label);
	if (*label && column >= hang)
		hang = column + 1;
	if (*text && hang > page->width - ROOM) {
		fputc('\n', page->out);
		column = 0;
		hang = indent + 2;
	}
	if (*text)
		put_spaces(page, hang - column);
	wrap(page, hang, hang, text);
}

void page_append(char *text, size_t size, const char *format, ...)
{
	static const char mark[] = "...";
	size_t used = strlen(text), end;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text + used, size - used, format, args);
	va_end(args);
	if (length < 0 || used + (size_t)length < size || size < 2 * sizeof(mark))
		return;
	for (end = size - sizeof(mark); end && ((unsigned char)text[end] & 0xc0) == 0x80;)
		end--;
	memcpy(text + end, mark, sizeof(mark));
}

int page_clause(const char *sentence)
{
	size_t length = strlen(sentence);

	return (int)length - (length && sentence[length - 1] == '.');
}

void page_put_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "%+,-./:=@_";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	}
	putc('\'', out);
}

void page_append_word(char *text, size_t size, const char *word)
{
	char *quoted = NULL;
	size_t length;
	FILE *out = open_memstream(&quoted, &length);

	if (!out)
		return;
	page_put_word(out, word);
	if (fclose(out) == 0)
		page_append(text, size, "%s", quoted);
	free(quoted);
}

void page_line(const struct page *page, const char *format, ...)
{
	char text[LONGEST];
	const char *at = text;
	struct utf8 rune;
	va_list args;
	bool cut;
	int room;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);

	cut = page_columns(page, text) > page->width;
	room = cut ? page->width - 3 : page->width;
	while (utf8_next(&at, &rune)) {
		room -= page_columns_of(page, &rune);
		if (room < 0)
			break;
		put_rune(page, &rune);
	}
	fputs(cut ? "...\n" : "\n", page->out);
}

void page_break(const struct page *page)
{
	fputc('\n', page->out);
}
