/* SPDX-License-Identifier: Apache-2.0 */
#include "report/data/sheet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "render/form/units.h"

static void put_text(FILE *file, const char *text)
{
	if (*text && !text[strcspn(text, ",\"\r\n")]) {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

/* Returns true for "ns" and names like "wait_ns": these times are written in seconds ("wait_s"). */
static bool is_time(const char *name)
{
	size_t length = strlen(name);

	return length >= 2 && strcmp(name + length - 2, "ns") == 0 &&
	       (length == 2 || name[length - 3] == '_');
}

int sheet_names(const char *const *names, size_t count, void *context)
{
	struct sheet *sheet = context;

	for (size_t i = 0; i < count; i++) {
		bool time = !sheet->is_raw && is_time(names[i]);

		fprintf(sheet->file, "%s%.*s%s", i ? "," : "", (int)strlen(names[i]) - 2 * time,
			names[i], time ? "s" : "");
		sheet->times |= (uint64_t)time << i;
	}
	fputc('\n', sheet->file);
	return 0;
}

int sheet_row(const struct export_cell *cells, size_t count, void *context)
{
	struct sheet *sheet = context;

	for (size_t i = 0; i < count; i++) {
		if (i)
			fputc(',', sheet->file);
		switch (cells[i].type) {
		case EXPORT_NULL:
			break;
		case EXPORT_INTEGER:
			if (sheet->times >> i & 1)
				fputs(UNITS_SECONDS(cells[i].integer), sheet->file);
			else
				fprintf(sheet->file, "%" PRId64, cells[i].integer);
			break;
		case EXPORT_REAL:
			if (sheet->is_raw) {
				fprintf(sheet->file, "%.17g", cells[i].real);
				break;
			}
			fputs(UNITS_NUMBER(sheet->times >> i & 1 ? cells[i].real / 1e9
								 : cells[i].real),
			      sheet->file);
			break;
		case EXPORT_TEXT:
			put_text(sheet->file, cells[i].text ? cells[i].text : "");
			break;
		}
	}
	fputc('\n', sheet->file);
	return ferror(sheet->file) ? -EPIPE : 0;
}
