/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.c - writes the page's numbers for the scripts, as JSON that no browser runs. Only the stacks
 * of flame.c have names from outside; all strings are escaped such that none can become markup.
 *
 * A column of times is base64 of 16-bit numbers, the lower byte first: round(1500 log2(1 + us)), or
 * 65535 if unknown. It is at most 0.023 % off, and takes 2.7 characters a time.
 *
 * A run of more than MOST_RAW batches is written as minimum, mean and maximum of BUCKETS equal
 * parts, with single batches around the longest waits only.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/account/series.h"
#include "render/form/facts.h"
#include "render/html/put.h"

#define SCALE    1500
#define NO_TIME  65535
#define MOST_RAW 20000
#define BUCKETS  4096
#define WINDOWS  50
#define WINDOW   200
#define MOST_EPOCHS 12

static uint16_t pack(double ns)
{
	double value = ns >= 0 ? rint(SCALE * log2(1 + ns / 1e3)) : NO_TIME;

	return value < NO_TIME ? (uint16_t)value : NO_TIME;
}

/* Times that are members of structs in an array, or an array by themselves. */
struct column {
	const void *first;
	size_t stride;
	bool is_float; /* else double */
};
#define FLOATS(values)         (&(struct column){values, sizeof(float), true})
#define MEMBERS(array, member) (&(struct column){&(array)->member, sizeof(*(array)), false})

static double value_at(const struct column *column, size_t i)
{
	const void *at = (const char *)column->first + i * column->stride;

	return column->is_float ? (double)*(const float *)at : *(const double *)at;
}

static void put_column(struct jsonw *json, const char *key, const struct column *column,
		       size_t count)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = 0, held = 0; /* the lowest `held` of the bits are not written yet */

	jsonw_lead(json, key);
	fputc('"', json->out);
	for (size_t i = 0; i < count; i++) {
		unsigned value = pack(value_at(column, i));

		bits = bits << 16 | (value & 0xff) << 8 | value >> 8;
		for (held += 16; held >= 6; held -= 6)
			fputc(digits[bits >> (held - 6) & 63], json->out);
	}
	if (held)
		fputc(digits[bits << (6 - held) & 63], json->out);
	for (size_t bytes = 2 * count; bytes % 3; bytes++)
		fputc('=', json->out);
	fputc('"', json->out);
}

struct bucket {
	double least, mean, most; /* NAN: unknown */
};

static struct bucket reduce(const float *values, size_t begin, size_t end)
{
	struct bucket bucket = {.least = INFINITY};
	size_t known = 0;

	for (size_t i = begin; i < end; i++) {
		double ns = (double)values[i];

		if (!(ns >= 0))
			continue;
		known++;
		bucket.mean += ns;
		bucket.least = fmin(bucket.least, ns);
		bucket.most = fmax(bucket.most, ns);
	}
	bucket.mean /= (double)known;
	return known ? bucket : (struct bucket){NAN, NAN, NAN};
}

static void put_reduced(struct jsonw *json, const char *key, const float *values, size_t count)
{
	struct bucket buckets[BUCKETS];

	for (size_t i = 0; i < BUCKETS; i++)
		buckets[i] = reduce(values, count * i / BUCKETS, count * (i + 1) / BUCKETS);
	jsonw_open(json, key, '{');
	put_column(json, "least", MEMBERS(buckets, least), BUCKETS);
	put_column(json, "mean", MEMBERS(buckets, mean), BUCKETS);
	put_column(json, "most", MEMBERS(buckets, most), BUCKETS);
	jsonw_close(json, '}');
}

static void put_raw(struct jsonw *json, const struct batch_series *s, size_t begin, size_t count)
{
	jsonw_open(json, NULL, '{');
	jsonw_int(json, "begin", (int64_t)begin);
	jsonw_int(json, "count", (int64_t)count);
	put_column(json, "wait", FLOATS(s->wait_ns + begin), count);
	put_column(json, "compute", FLOATS(s->compute_ns + begin), count);
	jsonw_close(json, '}');
}

static int put_windows(struct jsonw *json, const struct batch_series *s)
{
	size_t places = s->count / WINDOW, i, best, number;
	float *longest = calloc(places, sizeof(*longest));

	if (!longest)
		return -ENOMEM;
	for (i = 0; i < places * WINDOW; i++)
		if (s->wait_ns[i] > longest[i / WINDOW])
			longest[i / WINDOW] = s->wait_ns[i];
	for (number = 0; number < WINDOWS; number++) {
		for (best = 0, i = 1; i < places; i++)
			if (longest[i] > longest[best])
				best = i;
		if (!(longest[best] > 0))
			break;
		longest[best] = 0;
		put_raw(json, s, best * WINDOW, WINDOW);
	}
	free(longest);
	return 0;
}

static int put_series(struct jsonw *json, const struct batch_series *s)
{
	int r = 0;

	if (s->count > MOST_RAW) {
		jsonw_open(json, "buckets", '{');
		put_reduced(json, "wait", s->wait_ns, s->count);
		put_reduced(json, "compute", s->compute_ns, s->count);
		jsonw_close(json, '}');
	}
	jsonw_open(json, "raw", '[');
	if (s->count > MOST_RAW)
		r = put_windows(json, s);
	else
		put_raw(json, s, 0, s->count);
	jsonw_close(json, ']');
	return r;
}

static void put_epochs(struct jsonw *json, const struct batch_series *s)
{
	struct series_walk first = {0}, e;
	size_t count = 0;

	series_walk_epochs(s, &first);
	for (e = first; series_walk_epochs(s, &e);)
		count++;
	jsonw_open(json, "epochs", '[');
	for (e = first; count <= MOST_EPOCHS && series_walk_epochs(s, &e);) {
		jsonw_open(json, NULL, '[');
		jsonw_int(json, NULL, (int64_t)e.begin);
		jsonw_int(json, NULL, s->runs[e.run].epoch);
		jsonw_close(json, ']');
	}
	jsonw_close(json, ']');
}

static int put_bars(struct jsonw *json, const struct batch_series *s)
{
	struct bar *bars;
	size_t count;
	int r = bars_of(s, HTML_TIME_BARS, &bars, &count);

	if (r < 0)
		return r;
	jsonw_int(json, "count", (int64_t)s->count);
	put_epochs(json, s);
	jsonw_open(json, "bars", '{');
	jsonw_int(json, "each", (int64_t)(bars[0].end - bars[0].begin));
	put_column(json, "wait", MEMBERS(bars, wait_ns), count);
	put_column(json, "compute", MEMBERS(bars, compute_ns), count);
	put_column(json, "most", MEMBERS(bars, most_ns), count);
	if (s->gpu_busy_ns)
		put_column(json, "busy", MEMBERS(bars, busy_ns), count);
	jsonw_close(json, '}');
	free(bars);
	return 0;
}

static void put_grid(struct jsonw *json, const struct grid *grid)
{
	const size_t was[] = {grid->workers.was, grid->prefetch.was, grid->load.was};

	jsonw_open(json, "grid", '{');
	VALUES("workers", grid->workers.count, true, number, grid->workers.values[k], "")
	VALUES("prefetch", grid->prefetch.count, true, number, grid->prefetch.values[k], "")
	VALUES("load", grid->load.count, true, number, grid->load.values[k], "")
	VALUES("inOrder", grid->order_count, true, bool, grid->in_order[k], "")
	VALUES("was", ARRAY_COUNT(was), true, int, (int64_t)was[k], "")
	VALUES("rate", grid->count, true, number, grid->points[k].batches_per_s, "")
	VALUES("stall", grid->count, true, number, grid->points[k].stall_ratio, "")
	jsonw_close(json, '}');
}

int html_data(struct html *html)
{
	const struct report *report = html->report;
	const struct batch_series *s = &report->series;
	struct jsonw json;
	int r = 0;

	html_put(html, "<script type=\"application/json\" id=\"data\">");
	jsonw_init(&json, html->out);
	json.is_in_page = true;
	jsonw_open(&json, NULL, '{');
	if (s->count && (s->compute_ns || s->step_ns))
		r = put_bars(&json, s);
	if (r == 0 && s->count && s->wait_ns && s->compute_ns)
		r = put_series(&json, s);
	if (r == 0 && html->input->grid->points)
		put_grid(&json, html->input->grid);
	if (r == 0)
		r = html_flames(report, &json);
	jsonw_close(&json, '}');
	html_put(html, "</script>\n");
	return r;
}
