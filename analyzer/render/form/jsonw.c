/* SPDX-License-Identifier: Apache-2.0 */
#include "render/form/jsonw.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/account/series.h"
#include "render/form/escape.h"
#include "render/form/units.h"
#include "render/form/utf8.h"

void jsonw_init(struct jsonw *json, FILE *out)
{
	*json = (struct jsonw){.out = out};
}

void jsonw_begin(struct jsonw *json, FILE *out, const char *schema)
{
	jsonw_init(json, out);
	jsonw_open(json, NULL, '{');
	jsonw_string(json, "schema", schema);
}

static void put_rune(const struct jsonw *json, const struct utf8 *rune)
{
	FILE *out = json->out;

	if (!rune->valid || (json->is_in_page && rune->code >= 0x7f && !utf8_is_printable(rune)))
		fputs("\\ufffd", out);
	else if ((!utf8_is_printable(rune) && rune->code <= 0xffff) ||
		 (json->is_in_page && escape_find(ESCAPE_HTML, rune->code)))
		fprintf(out, "\\u%04x", (unsigned)rune->code);
	else
		fwrite(rune->bytes, 1, rune->length, out);
}

static void put_string(const struct jsonw *json, const char *text)
{
	struct utf8 rune;

	fputc('"', json->out);
	while (utf8_next(&text, &rune)) {
		if (rune.code == '"' || rune.code == '\\')
			fprintf(json->out, "\\%c", (int)rune.code);
		else
			put_rune(json, &rune);
	}
	fputc('"', json->out);
}

void jsonw_lead(struct jsonw *json, const char *key)
{
	if (json->depth) {
		if (json->full)
			fputc(',', json->out);
		/* Each member of the outermost object begins a line, so that diffs are readable. */
		if (json->depth == 1)
			fputc('\n', json->out);
	}
	json->full = true;
	if (key) {
		put_string(json, key);
		fputc(':', json->out);
	}
}

void jsonw_open(struct jsonw *json, const char *key, char bracket)
{
	jsonw_lead(json, key);
	if (!key && json->depth)
		fputc('\n', json->out);
	fputc(bracket, json->out);
	json->depth++;
	json->full = false;
}

void jsonw_close(struct jsonw *json, char bracket)
{
	json->depth--;
	fputc(bracket, json->out);
	json->full = true;
	if (!json->depth)
		fputc('\n', json->out);
}

void jsonw_string(struct jsonw *json, const char *key, const char *value)
{
	if (!value) {
		jsonw_null(json, key);
		return;
	}
	jsonw_lead(json, key);
	put_string(json, value);
}

void jsonw_words(struct jsonw *json, const char *key, const char *value)
{
	jsonw_string(json, key, value && *value ? value : NULL);
}

void jsonw_list(struct jsonw *json, const char *key, const char *list)
{
	char item[256];
	size_t length;

	if (!list) {
		jsonw_null(json, key);
		return;
	}
	jsonw_open(json, key, '[');
	for (; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		snprintf(item, sizeof(item), "%.*s", (int)length, list);
		if (length)
			jsonw_string(json, NULL, item);
	}
	jsonw_close(json, ']');
}

/* Writes a text that is already JSON; "" becomes null. */
static void put_value(struct jsonw *json, const char *key, const char *text)
{
	jsonw_lead(json, key);
	fputs(*text ? text : "null", json->out);
}

void jsonw_members(struct jsonw *json, const char *object)
{
	struct utf8 rune;
	size_t plain;

	jsonw_lead(json, NULL);
	for (object++; object[0] && object[1];) {
		for (plain = 0; object[plain] >= ' ' && object[plain] < 0x7f && object[plain + 1];)
			plain++;
		fwrite(object, 1, plain, json->out);
		object += plain;
		if (object[0] && object[1] && utf8_next(&object, &rune))
			put_rune(json, &rune);
	}
}

void jsonw_bool(struct jsonw *json, const char *key, bool value)
{
	put_value(json, key, value ? "true" : "false");
}

void jsonw_null(struct jsonw *json, const char *key)
{
	put_value(json, key, "");
}

void jsonw_int(struct jsonw *json, const char *key, int64_t value)
{
	char text[UNITS_MAX] = "";

	if (value != UNKNOWN)
		snprintf(text, sizeof(text), "%" PRId64, value);
	put_value(json, key, text);
}

void jsonw_number(struct jsonw *json, const char *key, double value)
{
	put_value(json, key, UNITS_NUMBER(value));
}

void jsonw_whole(struct jsonw *json, const char *key, double count)
{
	jsonw_int(json, key, count >= 0 ? (int64_t)fmin(count, 9e18) : UNKNOWN);
}

void jsonw_range(struct jsonw *json, const char *key, double low, double high)
{
	if (!isfinite(low) || !isfinite(high)) {
		jsonw_null(json, key);
		return;
	}
	jsonw_open(json, key, '[');
	jsonw_number(json, NULL, low);
	jsonw_number(json, NULL, high);
	jsonw_close(json, ']');
}

void jsonw_ns(struct jsonw *json, const char *key, int64_t ns)
{
	put_value(json, key, UNITS_SECONDS(ns));
}

void jsonw_seconds(struct jsonw *json, const char *key, double ns)
{
	jsonw_number(json, key, ns / NS_PER_S);
}

void jsonw_us(struct jsonw *json, const char *key, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char text[UNITS_MAX] = "";

	if (ns != UNKNOWN)
		snprintf(text, sizeof(text), "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", size / 1000,
			 (unsigned)(size % 1000));
	put_value(json, key, text);
}

void jsonw_tristate(struct jsonw *json, const char *key, int64_t value)
{
	put_value(json, key, value == UNKNOWN ? "" : value ? "true" : "false");
}

void jsonw_copy(struct jsonw *json, const char *key, FILE *value)
{
	char *line = NULL;
	size_t size = 0;

	if (!value) {
		jsonw_null(json, key);
		return;
	}
	jsonw_lead(json, key);
	while (getline(&line, &size, value) > 0)
		fputs(line, json->out);
	free(line);
}
