/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/period/events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/account/stall.h"
#include "analysis/statistics/array.h"
#include "analysis/statistics/stats.h"
#include "dlprof/hash.h"

#define CAP_BITS    15 /* values are counted by this many leading bits, in bins 0.8 % wide */
#define CAP_SHIFT   16
#define TABLE_BITS  13
#define TABLE_SIZE  (1u << TABLE_BITS)
#define LEAST_ROWS  3
#define MOST_STEPS  3   /* the distances of an event to the next 3 events may be the period */
#define MOST_TRIED  256 /* at most this many distances, the most frequent ones, are tested */
#define MOST_EPOCHS 4096
#define TIMER_CV    0.10

static double event_ns(const struct events_query *q, size_t i)
{
	double ns;

	if ((q->series->state[i] & q->mask) != q->mask || !(q->values[i] >= 0))
		return 0;
	ns = (double)q->values[i] - q->offset_ns;
	return ns > 0 && ns >= q->theta_ns ? ns : 0;
}

struct walk {
	const struct batch_series *series;
	size_t run;
	size_t begin, end;  /* indexes of the run's first batch, and of the batch after its last */
	size_t position;    /* position of the run's first batch */
	size_t epoch_begin; /* position at which the run's epoch begins */
	int64_t epoch_batch;
	bool new_epoch;
	size_t next; /* the position after the last batch of all runs so far */
};

static bool walk_run(struct walk *walk)
{
	const struct batch_series *s = walk->series;
	const struct series_run *run;
	int64_t offset;

	for (; walk->run < s->run_count; walk->run++) {
		run = &s->runs[walk->run];
		walk->new_epoch = !walk->run || run->epoch != run[-1].epoch;
		if (walk->new_epoch) {
			walk->epoch_begin = walk->next;
			walk->epoch_batch = run->batch;
		}
		offset = (int64_t)run->batch - walk->epoch_batch;
		/* A run out of order, or with batches of an earlier run, gets no positions. */
		if (offset < 0 || walk->epoch_begin + (size_t)offset < walk->next)
			continue;
		walk->begin = run->begin;
		walk->end = series_run_end(s, walk->run);
		walk->position = walk->epoch_begin + (size_t)offset;
		walk->next = walk->position + (walk->end - walk->begin);
		walk->run++;
		return true;
	}
	return false;
}

static int add_epoch(struct events *events, const struct walk *walk, bool from_start)
{
	int64_t start =
		from_start ? 0 : stall_start_count(walk->series->workers) - walk->epoch_batch;

	if (!ARRAY_GROW(events->epochs, events->epoch_count))
		return -ENOMEM;
	if (start < 0)
		start = 0;
	if (!events->epoch_count)
		events->first_ordinal =
			(size_t)(start + (walk->epoch_batch > 0 ? walk->epoch_batch : 0));
	events->epochs[events->epoch_count++] =
		(struct fold_segment){.begin = walk->epoch_begin + (size_t)start};
	return 0;
}

static void close_epoch(struct events *events, size_t end)
{
	struct fold_segment *last;

	if (!events->epoch_count)
		return;
	last = &events->epochs[events->epoch_count - 1];
	last->count = end > last->begin ? end - last->begin : 0;
}

static double find_cap(const double *bins, double half)
{
	double above = 0;
	uint32_t key, bin = 1u << CAP_BITS;
	float value;

	while (bin && above < half)
		above += bins[--bin];
	key = bin << CAP_SHIFT;
	memcpy(&value, &key, sizeof(value));
	return (double)value;
}

static void take_event(struct events *events, size_t position, double ns, double *bins)
{
	float value = (float)ns;
	uint32_t key;

	memcpy(&key, &value, sizeof(key));
	bins[key >> CAP_SHIFT] += ns;
	events->ns += ns;
	if (events->count < EVENTS_LISTED)
		events->list[events->count] = (struct event){position, ns};
	events->count++;
}

int events_find(const struct events_query *q, struct events *ret)
{
	struct walk walk = {.series = q->series};
	size_t i;
	double *bins = calloc(1u << CAP_BITS, sizeof(*bins));
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	ret->list = malloc(EVENTS_LISTED * sizeof(*ret->list));
	if (!bins || !ret->list)
		r = -ENOMEM;
	while (r == 0 && walk_run(&walk)) {
		if (walk.new_epoch || !ret->epoch_count) {
			close_epoch(ret, walk.epoch_begin);
			r = add_epoch(ret, &walk, q->from_start);
		}
		for (i = walk.begin; r == 0 && i < walk.end; i++) {
			double ns = event_ns(q, i);

			if (ns > 0)
				take_event(ret, walk.position + (i - walk.begin), ns, bins);
		}
	}
	if (r == 0) {
		close_epoch(ret, walk.next);
		ret->position_count = walk.next;
		ret->cap_ns = find_cap(bins, ret->ns / 2);
	}
	free(bins);
	if (ret->count > EVENTS_LISTED) {
		free(ret->list);
		ret->list = NULL;
	}
	return r;
}

void events_done(struct events *events)
{
	free(events->list);
	free(events->epochs);
}

void events_spread(const struct events_query *q, size_t from, size_t count, float *ret_ns)
{
	struct walk walk = {.series = q->series};
	size_t i, position;

	memset(ret_ns, 0, count * sizeof(*ret_ns));
	while (walk_run(&walk) && walk.position < from + count) {
		if (walk.next <= from)
			continue;
		i = walk.position < from ? from - walk.position : 0;
		for (; walk.begin + i < walk.end; i++) {
			position = walk.position + i;
			if (position >= from + count)
				break;
			ret_ns[position - from] = (float)event_ns(q, walk.begin + i);
		}
	}
}

size_t events_cut(const struct events *breaks, const struct fold_segment *whole, size_t position,
		  size_t *at, struct fold_segment *ret)
{
	size_t begin = 0, end, count = 0;

	while (*at < breaks->count && breaks->list[*at].position < position)
		++*at;
	for (;; begin = end) {
		end = whole->count;
		if (*at < breaks->count && breaks->list[*at].position + 1 < position + whole->count)
			end = breaks->list[(*at)++].position + 1 - position;
		ret[count++] = (struct fold_segment){whole->begin + begin, end - begin,
						     whole->lead + begin};
		if (end == whole->count)
			return count;
	}
}

struct table {
	struct {
		size_t phase;
		double sum;
		unsigned stamp;
	} cells[TABLE_SIZE];
	unsigned stamp;
};

static double table_add(struct table *table, size_t phase, double value)
{
	size_t at = (size_t)(hash_word(0, phase) >> (64 - TABLE_BITS));

	while (table->cells[at].stamp == table->stamp && table->cells[at].phase != phase)
		at = (at + 1) % TABLE_SIZE;
	if (table->cells[at].stamp != table->stamp) {
		table->cells[at].stamp = table->stamp;
		table->cells[at].phase = phase;
		table->cells[at].sum = 0;
	}
	return table->cells[at].sum += value;
}

/* Computes what fold_log_p() computes over all rows, but from the list of events. */
static double sparse_log_p(const struct events *events, const struct fold_segment *segments,
			   size_t segment_count, bool capped, size_t period, struct table *table)
{
	double sum = 0, square = 0, row_square = 0, row_sum = 0, top = 0, n = (double)period, mean;
	size_t rows = 0, segment = 0, i, row, last = SIZE_MAX;

	for (i = 0; i < segment_count; i++)
		rows += segments[i].count / period;
	if (rows < LEAST_ROWS)
		return 0;
	table->stamp++;
	for (i = 0; i < events->count; i++) {
		const struct event *event = &events->list[i];
		double x = capped ? fmin(event->ns / events->cap_ns, 1) : 1, total;
		size_t offset;

		while (segment < segment_count &&
		       event->position >= segments[segment].begin + segments[segment].count)
			segment++;
		if (segment == segment_count)
			break;
		if (event->position < segments[segment].begin)
			continue;
		offset = event->position - segments[segment].begin;
		if (offset / period >= segments[segment].count / period)
			continue;
		row = segments[segment].begin + offset / period * period;
		if (row != last) {
			row_square += row_sum * row_sum;
			row_sum = 0;
			last = row;
		}
		row_sum += x;
		sum += x;
		square += x * x;
		total = table_add(table, offset % period, x);
		top = fmax(top, total);
	}
	row_square += row_sum * row_sum;
	mean = sum / ((double)rows * n);
	return fmin(0,
		    log(n) - fold_evidence((double)rows, top / (double)rows, mean,
					   (square / n - row_square / (n * n)) / (double)rows, 1));
}

struct distance {
	size_t period;
	size_t count;
};

static int by_period(const void *a, const void *b)
{
	const struct distance *left = a, *right = b;

	return left->period < right->period ? -1 : left->period > right->period;
}

static int by_count(const void *a, const void *b)
{
	const struct distance *left = a, *right = b;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return by_period(a, b);
}

/* Lists the distances between events that come twice or more, the most frequent ones first. */
static size_t find_distances(const struct events *events, size_t above, size_t most,
			     struct distance *ret)
{
	size_t count = 0, kept = 0, i, step;

	for (step = 1; step <= MOST_STEPS; step++) {
		for (i = 0; i + step < events->count; i++) {
			size_t period = events->list[i + step].position - events->list[i].position;

			if (period > above && period <= most)
				ret[count++] = (struct distance){period, 1};
		}
	}
	qsort(ret, count, sizeof(*ret), by_period);
	for (i = 0; i < count; i++) {
		if (kept && ret[kept - 1].period == ret[i].period)
			ret[kept - 1].count++;
		else
			ret[kept++] = ret[i];
	}
	qsort(ret, kept, sizeof(*ret), by_count);
	for (i = 0; i < kept && i < MOST_TRIED && ret[i].count >= 2; i++)
		;
	return i;
}

int events_long_period(const struct events *events, const struct fold_segment *segments,
		       size_t segment_count, bool capped, size_t above, size_t most,
		       size_t *ret_period, double *ret_log_p)
{
	struct table *table = calloc(1, sizeof(*table));
	struct distance *distances = malloc((MOST_STEPS * events->count + 1) * sizeof(*distances));
	size_t count = 0, i;
	int r = table && distances ? 0 : -ENOMEM;

	*ret_period = 0;
	*ret_log_p = 0;
	if (r == 0 && segment_count <= MOST_EPOCHS)
		count = find_distances(events, above, most, distances);
	for (i = 0; i < count; i++) {
		size_t period = distances[i].period;
		double log_p = sparse_log_p(events, segments, segment_count, capped, period, table);

		if (log_p < *ret_log_p) {
			*ret_log_p = log_p;
			*ret_period = period;
		}
	}
	free(distances);
	free(table);
	*ret_log_p = fmin(0, *ret_log_p + log((double)most));
	return r;
}

int events_gaps(const struct events *events, struct event_gaps *ret)
{
	struct distance *gaps = malloc((events->count + 1) * sizeof(*gaps));
	struct stats_moments moments = {0};
	size_t last = 0, same = 0, most = 0, i;

	*ret = (struct event_gaps){.cv = NAN};
	if (!gaps)
		return -ENOMEM;
	for (i = 0; events->list && i < events->count; i++) {
		if (events->list[i].ns < events->cap_ns / 2)
			continue;
		if (ret->large_count++) {
			gaps[ret->gap_count].period = events->list[i].position - last;
			stats_add(&moments, (double)gaps[ret->gap_count++].period);
		}
		ret->large_ns += events->list[i].ns;
		last = events->list[i].position;
	}
	ret->cv = stats_cv(&moments);
	qsort(gaps, ret->gap_count, sizeof(*gaps), by_period);
	for (i = 0; i < ret->gap_count; i++) {
		same = i && gaps[i].period == gaps[i - 1].period ? same + 1 : 1;
		if (same > most) {
			most = same;
			ret->mode = gaps[i].period;
		}
	}
	free(gaps);
	return 0;
}

/* Returns the time of events at a phase: in even rows (half 0), odd rows (1) or all rows (2). */
static double time_at(const struct event *list, size_t count, size_t period, size_t half,
		      size_t phase)
{
	double ns = 0;

	for (size_t i = 0; i < count; i++)
		if (list[i].position % period == phase &&
		    (half == 2 || list[i].position / period % 2 == half))
			ns += list[i].ns;
	return ns;
}

static size_t dominant(const struct event *list, size_t count, size_t period, size_t half,
		       struct table *table)
{
	double most = 0;
	size_t best = SIZE_MAX, i;

	table->stamp++;
	for (i = 0; i < count; i++) {
		size_t phase = list[i].position % period;
		double sum;

		if (half != 2 && list[i].position / period % 2 != half)
			continue;
		sum = table_add(table, phase, list[i].ns);
		if (sum > most) {
			most = sum;
			best = phase;
		}
	}
	return best;
}

double events_share(const struct events *events, size_t period, size_t block_rows,
		    size_t *ret_phase)
{
	struct table *table = calloc(1, sizeof(*table));
	double at_phase = 0, all = 0;
	size_t begin, end, half, i;

	*ret_phase = 0;
	if (!table)
		return 0;
	for (begin = 0; begin < events->count; begin = end) {
		const struct event *list = &events->list[begin];
		size_t block = list->position / (block_rows * period);

		for (end = begin; end < events->count &&
				  events->list[end].position / (block_rows * period) == block;
		     end++)
			;
		for (half = 0; half < 2; half++) {
			size_t phase = dominant(list, end - begin, period, half, table);

			if (phase != SIZE_MAX)
				at_phase += time_at(list, end - begin, period, 1 - half, phase);
		}
	}
	for (i = 0; i < events->count; i++)
		all += events->list[i].ns;
	*ret_phase = dominant(events->list, events->count, period, 2, table);
	free(table);
	return all > 0 ? at_phase / all : 0;
}

void events_find_timer(const struct events_query *q, struct timer *ret)
{
	const struct batch_series *s = q->series;
	struct stats_moments gaps = {0};
	double now_ns = 0, last_ns = NAN;
	/* A halt of all workers delays the next batch of each. These delays are one event. */
	const size_t beside = s->workers > 0 ? (size_t)s->workers : 1;
	size_t first = 0, last = 0, far_count = 0;

	*ret = (struct timer){.period_ns = NAN, .cv = NAN};
	for (size_t i = 0; s->wait_ns && s->compute_ns && i < s->count; i++) {
		if (event_ns(q, i) > 0) {
			if (isnan(last_ns) || i > last + beside) {
				if (!isnan(last_ns))
					stats_add(&gaps, now_ns - last_ns);
				last_ns = now_ns;
				first = i;
			}
			far_count += i > first + 2 * beside;
			last = i;
		}
		now_ns += series_time(s->wait_ns, i);
		now_ns += series_time(s->compute_ns, i);
	}
	ret->gap_count = gaps.count;
	ret->cv = stats_cv(&gaps);
	/* A timer does not make many batches in succession wait. */
	if (gaps.count >= TIMER_LEAST && ret->cv <= TIMER_CV && far_count < gaps.count / 2)
		ret->period_ns = gaps.mean;
}
