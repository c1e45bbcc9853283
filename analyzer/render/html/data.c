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
#include "render/form/jsonw.h"
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

struct column {
	const float *values;
	double (*make)(const void *context, size_t i);
	const void *context;
};

static int put_column(struct jsonw *json, const char *key, const struct column *column,
		      size_t count)
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
		uint16_t value = pack(column->values ? (double)column->values[i]
						     : column->make(column->context, i));

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

enum reduction { REDUCE_LEAST, REDUCE_MEAN, REDUCE_MOST };

struct reduced {
	const float *values;
	size_t count;
	enum reduction how;
};

static double reduce(const void *context, size_t bucket)
{
	const struct reduced *reduced = context;
	size_t begin = reduced->count * bucket / BUCKETS;
	size_t end = reduced->count * (bucket + 1) / BUCKETS, known = 0, i;
	double least = INFINITY, most = 0, sum = 0;

	for (i = begin; i < end; i++) {
		double ns = (double)reduced->values[i];

		if (!(ns >= 0))
			continue;
		known++;
		sum += ns;
		least = fmin(least, ns);
		most = fmax(most, ns);
	}
	if (!known)
		return NAN;
	return reduced->how == REDUCE_LEAST  ? least
	       : reduced->how == REDUCE_MEAN ? sum / (double)known
					     : most;
}

static int put_buckets(struct jsonw *json, const struct batch_series *s)
{
	static const struct {
		const char *key;
		enum reduction how;
	} members[] = {{"least", REDUCE_LEAST}, {"mean", REDUCE_MEAN}, {"most", REDUCE_MOST}};
	const struct {
		const char *key;
		const float *values;
	} columns[] = {{"wait", s->wait_ns}, {"compute", s->compute_ns}};
	int r = 0;

	jsonw_open(json, "buckets", '{');
	for (size_t i = 0; i < 2; i++) {
		jsonw_open(json, columns[i].key, '{');
		for (size_t j = 0; r == 0 && j < 3; j++)
			r = put_column(
				json, members[j].key,
				&(struct column){.make = reduce,
						 .context = &(struct reduced){columns[i].values,
									      s->count,
									      members[j].how}},
				BUCKETS);
		jsonw_close(json, '}');
	}
	jsonw_close(json, '}');
	return r;
}

static int put_raw(struct jsonw *json, const struct batch_series *s, size_t begin, size_t count)
{
	int r;

	jsonw_open(json, NULL, '{');
	jsonw_int(json, "begin", (int64_t)begin);
	jsonw_int(json, "count", (int64_t)count);
	r = put_column(json, "wait", &(struct column){.values = s->wait_ns + begin}, count);
	if (r == 0)
		r = put_column(json, "compute", &(struct column){.values = s->compute_ns + begin},
			       count);
	jsonw_close(json, '}');
	return r;
}

static int put_windows(struct jsonw *json, const struct batch_series *s)
{
	size_t places = s->count / WINDOW, i, best, number;
	float *longest = calloc(places, sizeof(*longest));
	int r = 0;

	if (!longest)
		return -ENOMEM;
	for (i = 0; i < places * WINDOW; i++)
		if (s->wait_ns[i] > longest[i / WINDOW])
			longest[i / WINDOW] = s->wait_ns[i];
	for (number = 0; r == 0 && number < WINDOWS; number++) {
		for (best = 0, i = 1; i < places; i++)
			if (longest[i] > longest[best])
				best = i;
		if (!(longest[best] > 0))
			break;
		longest[best] = 0;
		r = put_raw(json, s, best * WINDOW, WINDOW);
	}
	free(longest);
	return r;
}

static int put_series(struct jsonw *json, const struct batch_series *s)
{
	int r = 0;

	if (s->count > MOST_RAW)
		r = put_buckets(json, s);
	jsonw_open(json, "raw", '[');
	if (r == 0 && s->count <= MOST_RAW)
		r = put_raw(json, s, 0, s->count);
	else if (r == 0)
		r = put_windows(json, s);
	jsonw_close(json, ']');
	return r;
}

struct bar_column {
	const struct bar *bars;
	size_t offset;
};

static double of_bar(const void *context, size_t i)
{
	const struct bar_column *column = context;

	return *(const double *)((const char *)&column->bars[i] + column->offset);
}

static void put_epochs(struct jsonw *json, const struct batch_series *s)
{
	size_t first = series_next_epoch(s, 0), count = 0, i;

	for (i = first; i < s->run_count; i = series_next_epoch(s, i))
		count++;
	jsonw_open(json, "epochs", '[');
	for (i = first; i < s->run_count && count <= MOST_EPOCHS; i = series_next_epoch(s, i)) {
		jsonw_open(json, NULL, '[');
		jsonw_int(json, NULL, (int64_t)s->runs[i].begin);
		jsonw_int(json, NULL, s->runs[i].epoch);
		jsonw_close(json, ']');
	}
	jsonw_close(json, ']');
}

static int put_bars(struct jsonw *json, const struct batch_series *s)
{
	static const struct {
		const char *name;
		size_t offset;
	} columns[] = {
		{"wait", offsetof(struct bar, wait_ns)},
		{"compute", offsetof(struct bar, compute_ns)},
		{"most", offsetof(struct bar, most_ns)},
		{"busy", offsetof(struct bar, busy_ns)},
	};
	struct bar *bars;
	size_t count;
	int r = bars_of(s, HTML_TIME_BARS, &bars, &count);

	if (r < 0)
		return r;
	jsonw_int(json, "count", (int64_t)s->count);
	put_epochs(json, s);
	jsonw_open(json, "bars", '{');
	jsonw_int(json, "each", (int64_t)(bars[0].end - bars[0].begin));
	for (size_t i = 0; r == 0 && i < 3 + (s->gpu_busy_ns != NULL); i++) {
		const struct bar_column context = {bars, columns[i].offset};

		r = put_column(json, columns[i].name,
			       &(struct column){.make = of_bar, .context = &context}, count);
	}
	jsonw_close(json, '}');
	free(bars);
	return r;
}

static void put_numbers(struct jsonw *json, const char *key, const int32_t *values, size_t count)
{
	jsonw_open(json, key, '[');
	for (size_t i = 0; i < count; i++)
		jsonw_int(json, NULL, values[i]);
	jsonw_close(json, ']');
}

static void put_grid(struct jsonw *json, const struct grid *grid)
{
	size_t count = grid->worker_count * grid->prefetch_count * grid->load_count *
		       grid->order_count;

	jsonw_open(json, "grid", '{');
	put_numbers(json, "workers", grid->workers, grid->worker_count);
	put_numbers(json, "prefetch", grid->prefetch, grid->prefetch_count);
	jsonw_open(json, "load", '[');
	for (size_t i = 0; i < grid->load_count; i++)
		jsonw_number(json, NULL, grid->load[i]);
	jsonw_close(json, ']');
	jsonw_open(json, "inOrder", '[');
	for (size_t i = 0; i < grid->order_count; i++)
		jsonw_bool(json, NULL, grid->in_order[i]);
	jsonw_close(json, ']');
	put_numbers(json, "was", (const int32_t[]){(int32_t)grid->worker_was,
						   (int32_t)grid->prefetch_was,
						   (int32_t)grid->load_was}, 3);
	jsonw_open(json, "rate", '[');
	for (size_t i = 0; i < count; i++)
		jsonw_number(json, NULL, grid->points[i].batches_per_s);
	jsonw_close(json, ']');
	jsonw_open(json, "stall", '[');
	for (size_t i = 0; i < count; i++)
		jsonw_number(json, NULL, grid->points[i].stall_ratio);
	jsonw_close(json, ']');
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
