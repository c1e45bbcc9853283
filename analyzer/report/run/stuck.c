/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/stuck.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/clamp.h"
#include "dlprof/units.h"
#include "store/run/batch.h"

#define LONG_NS  (10 * (int64_t)NS_PER_S)
#define LONGER   3                     /* stuck means 3 times the usual time at a place */
#define STALE_NS (10 * (int64_t)NS_PER_S) /* a process without samples for this long is gone */
#define NEWEST   1000                  /* batches to read: newer loads and waits prove progress */

struct list {
	struct doing *items;
	size_t count;
};

static void move_on(struct doing *doing, int64_t begin_ns, int64_t ns)
{
	int64_t end_ns = begin_ns < 0 || ns < 0 ? 0 : clamp_add(begin_ns, ns);

	if (end_ns > doing->since_ns)
		doing->since_ns = end_ns;
}

static int take_batch(const struct batch_record *batch, void *context)
{
	const struct list *list = context;

	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].pid == batch->pid)
			move_on(&list->items[i], batch->load_begin_ns, batch->load_ns);
		if (list->items[i].role == LINE_ROLE_MAIN)
			move_on(&list->items[i], batch->begin_ns, batch->wait_ns);
	}
	return 0;
}

static int64_t length(const struct doing *doing)
{
	return doing->seen_ns - doing->since_ns;
}

static int by_length(const void *a, const void *b)
{
	const int64_t left = length(a), right = length(b);

	return (left < right) - (left > right);
}

int stuck_read(struct db *db, const struct line_samples *samples, int64_t loader_id,
	       const struct finding *finding, struct doing **ret, size_t *ret_count)
{
	const double usual_ns =
		fmax(fmax(finding->load_mean_ns, finding->wait_p50_ns), finding->compute_p50_ns);
	struct list list = {0};
	int64_t newest_ns = 0;
	int r = doing_read(db, samples, ret, &list.count);

	*ret_count = 0;
	list.items = *ret;
	if (r == 0 && list.count && loader_id != UNKNOWN)
		r = batch_newest(db, loader_id, NEWEST, take_batch, &list);
	for (size_t i = 0; i < list.count; i++)
		if (list.items[i].seen_ns > newest_ns)
			newest_ns = list.items[i].seen_ns;
	for (size_t i = 0; i < list.count; i++)
		if (newest_ns - list.items[i].seen_ns <= STALE_NS &&
		    length(&list.items[i]) >= LONG_NS &&
		    !((double)length(&list.items[i]) <= LONGER * usual_ns))
			list.items[(*ret_count)++] = list.items[i];
	if (*ret_count)
		qsort(list.items, *ret_count, sizeof(*list.items), by_length);
	return r < 0 ? r : 0;
}
