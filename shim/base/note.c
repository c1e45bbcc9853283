/* SPDX-License-Identifier: Apache-2.0 */
#include "base/note.h"

#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "dlprof/segment.h"

static struct dlprof_header *place;

void note_into(struct dlprof_header *header)
{
	place = header;
}

void note_format(char level, const char *format, ...)
{
	TEXT(line, 512);
	va_list values;

	va_start(values, format);
	text_format_list(&line, format, values);
	va_end(values);
	note_add(level, line.buffer);
}

void note_add(char level, const char *text)
{
	struct dlprof_header *header = place;
	TEXT(line, 512);
	uint32_t at;

	text_add_bytes(&line, &level, 1);
	text_add(&line, text);
	for (size_t i = 0; i < line.length; i++)
		if (line.buffer[i] == '\n')
			line.buffer[i] = ' ';
	if (line.cut)
		line.length--;
	text_add(&line, "\n");
	log_line("note", text);
	if (!header)
		return;
	at = atomic_fetch_add(&header->notes_bytes, (uint32_t)line.length);
	if (at <= DLPROF_NOTES_BYTES && line.length <= DLPROF_NOTES_BYTES - at)
		memcpy(header->notes + at, line.buffer, line.length);
}
