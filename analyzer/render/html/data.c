/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.c - the numbers for the script, as JSON that no browser runs: they hold no text of others.
 *
 * A column of times is base64 of 16-bit numbers, the lower byte first: round(1500 log2(1 + us)),
 * 65535 for what is not known. That is 0.023 % at most beside the time, in 2.7 characters.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/crowd.h"
#include "render/html/sections.h"
#include "render/jsonw.h"

#define MOST_WORKERS 64
#define SCALE        1500
#define UNKNOWN      65535

static uint16_t pack(double ns)
{
	double value = ns >= 0 ? rint(SCALE * log2(1 + ns / 1e3)) : UNKNOWN;

	return value < UNKNOWN ? (uint16_t)value : UNKNOWN;
}

/* A member whose value is `count` times. 0 or -ENOMEM. */
static int put_column(struct jsonw *json, const char *key, const float *values, size_t count)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t bytes = 2 * count, i, n = 0;
	unsigned char *packed = malloc(bytes + 3);
	char *text = malloc((bytes + 2) / 3 * 4 + 1);

	if (!packed || !text) {
		free(packed);
		free(text);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++) {
		uint16_t value = pack((double)values[i]);

		packed[2 * i] = value & 0xff;
		packed[2 * i + 1] = value >> 8;
	}
	packed[bytes] = packed[bytes + 1] = 0;
	for (i = 0; i < bytes; i += 3) {
		unsigned word =
			(unsigned)packed[i] << 16 | (unsigned)packed[i + 1] << 8 | packed[i + 2];

		text[n++] = digits[word >> 18];
		text[n++] = digits[word >> 12 & 63];
		text[n++] = i + 1 < bytes ? digits[word >> 6 & 63] : '=';
		text[n++] = i + 2 < bytes ? digits[word & 63] : '=';
	}
	text[n] = '\0';
	jsonw_string(json, key, text);
	free(packed);
	free(text);
	return 0;
}

static void put_epochs(struct jsonw *json, const struct trace *trace)
{
	jsonw_open(json, "epochs", '[');
	for (size_t i = 0; i < trace->epoch_count; i++) {
		const struct trace_epoch *e = &trace->epochs[i];

		jsonw_open(json, NULL, '[');
		jsonw_int(json, NULL, (int64_t)e->begin);
		jsonw_number(json, NULL, e->setup_ns);
		jsonw_number(json, NULL, e->start_ns);
		jsonw_number(json, NULL, e->stop_ns);
		jsonw_number(json, NULL, e->boot_ns);
		jsonw_close(json, ']');
	}
	jsonw_close(json, ']');
}

/* What the cores suffice for, and for steps alone; an infinite number becomes null. */
static void put_cores(struct jsonw *json, const struct trace *trace, struct replay_setup setup)
{
	double most;

	setup.workers = MOST_WORKERS;
	most = crowd_most(trace, &setup);
	jsonw_number(json, "most", isinf(most) ? NAN : most);
	setup.load_factor = 0;
	most = crowd_most(trace, &setup);
	jsonw_number(json, "mostSteps", isinf(most) ? NAN : most);
}

static int put_trace(struct jsonw *json, const struct html_input *input)
{
	const struct trace *trace = input->trace;
	const struct batch_series *s = &input->report->series;
	const struct whatif *whatif = &input->report->diagnosis.whatif;
	const struct {
		const char *name;
		const float *values;
	} columns[] = {
		{"load", trace->load_ns},         {"compute", trace->compute_ns},
		{"lag", trace->lag_ns},           {"latency", trace->latency_ns},
		{"handover", trace->handover_ns},
	};
	int r = 0;

	jsonw_open(json, "trace", '{');
	jsonw_int(json, "workers", s->workers);
	jsonw_int(json, "prefetch", series_prefetch(s));
	jsonw_bool(json, "inOrder", s->in_order != 0);
	jsonw_bool(json, "restarts", trace->restarts);
	jsonw_bool(json, "byIndex", trace->by_index);
	jsonw_number(json, "usualLag", trace->usual_lag_ns);
	put_cores(json, trace, whatif->setups[WHATIF_BASELINE]);
	jsonw_open(json, "factors", '[');
	for (size_t i = 0; i < trace->factor_count; i++)
		jsonw_number(json, NULL, trace->factors[i]);
	jsonw_close(json, ']');
	put_epochs(json, trace);
	jsonw_int(json, "count", (int64_t)trace->count);
	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(columns); i++)
		r = put_column(json, columns[i].name, columns[i].values, trace->count);
	jsonw_close(json, '}');
	return r;
}

int html_data(struct html *html)
{
	struct jsonw json;
	int r = 0;

	html_put(html, "<script type=\"application/json\" id=\"data\">");
	jsonw_init(&json, html->out);
	jsonw_open(&json, NULL, '{');
	if (!isnan(html->report->diagnosis.whatif.batches_per_s[WHATIF_BASELINE]))
		r = put_trace(&json, html->input);
	jsonw_close(&json, '}');
	html_put(html, "</script>\n");
	return r;
}
