/* SPDX-License-Identifier: Apache-2.0 */
#include "render/form/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDEST 100 /* longer lines are harder to read */

static bool has_color(FILE *out)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(out)) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

static int find_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long width = columns ? strtol(columns, NULL, 10) : 0;

	if (width <= 0 && ioctl(fileno(out), TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (width <= 0)
		return PAGE_WIDTH;
	return width < PAGE_NARROWEST ? PAGE_NARROWEST : width > WIDEST ? WIDEST : (int)width;
}

struct page terminal_page(FILE *out, enum terminal_color color, bool ascii)
{
	return (struct page){
		.out = out,
		.color = color == TERMINAL_AUTO ? has_color(out) : color == TERMINAL_ALWAYS,
		.ascii = ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
		.width = find_width(out),
	};
}

int terminal_say(const char *program, const char *format, ...)
{
	const struct page page = {.out = stderr, .ascii = false, .width = INT16_MAX};
	char text[2 * PATH_MAX];
	va_list args;

	/* A page prints the text, because it may contain names with control characters. */
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	page_line(&page, "%s: %s", program, text);
	return TERMINAL_ERROR;
}

const char *terminal_close(FILE *out)
{
	bool failed = ferror(out);
	int error;

	/* The errno of the failed write is lost, so write again to get it. */
	errno = 0;
	if (failed)
		fputc('\n', out);
	if (fflush(out) != 0)
		failed = true;
	error = errno;
	if (fclose(out) != 0 && !failed) {
		failed = true;
		error = errno;
	}
	return !failed ? NULL : error ? strerror(error) : "device error";
}
