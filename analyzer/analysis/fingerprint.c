/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/fingerprint.h"

#include <string.h>

static const struct {
	const char *name;
	enum fingerprint_class class;
	enum fingerprint_kind kind;
} FIELDS[FINGERPRINT_MAX] = {
	[FINGERPRINT_LOADER] = {"loader", FINGERPRINT_WORK, FINGERPRINT_TEXT},
	[FINGERPRINT_BATCH_SIZE] = {"batch_size", FINGERPRINT_WORK, FINGERPRINT_NUMBER},
	[FINGERPRINT_EPOCH_BATCHES] = {"epoch_batches", FINGERPRINT_WORK, FINGERPRINT_NUMBER},
	[FINGERPRINT_FRAMEWORKS] = {"frameworks", FINGERPRINT_WORK, FINGERPRINT_TEXT},
	[FINGERPRINT_RANKS] = {"ranks", FINGERPRINT_WORK, FINGERPRINT_NUMBER},
	[FINGERPRINT_CLOCK] = {"clock", FINGERPRINT_PLACE, FINGERPRINT_TEXT},
	[FINGERPRINT_SYNC] = {"sync", FINGERPRINT_PLACE, FINGERPRINT_FLAG},
	[FINGERPRINT_CORES] = {"cores", FINGERPRINT_PLACE, FINGERPRINT_NUMBER},
	[FINGERPRINT_GPU] = {"gpu", FINGERPRINT_PLACE, FINGERPRINT_TEXT},
	[FINGERPRINT_WORKERS] = {"workers", FINGERPRINT_SETTING, FINGERPRINT_NUMBER},
	[FINGERPRINT_PREFETCH_FACTOR] = {"prefetch_factor", FINGERPRINT_SETTING,
					 FINGERPRINT_NUMBER},
	[FINGERPRINT_IN_ORDER] = {"in_order", FINGERPRINT_SETTING, FINGERPRINT_FLAG},
	[FINGERPRINT_PERSISTENT_WORKERS] = {"persistent_workers", FINGERPRINT_SETTING,
					    FINGERPRINT_FLAG},
	[FINGERPRINT_COMMAND] = {"command", FINGERPRINT_NOTE, FINGERPRINT_TEXT},
	[FINGERPRINT_HOST] = {"host", FINGERPRINT_NOTE, FINGERPRINT_TEXT},
	[FINGERPRINT_KERNEL] = {"kernel", FINGERPRINT_NOTE, FINGERPRINT_TEXT},
	[FINGERPRINT_VERSION] = {"dlprof_version", FINGERPRINT_NOTE, FINGERPRINT_TEXT},
};

void fingerprint_init(struct fingerprint *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < FINGERPRINT_MAX; i++)
		ret->number[i] = SERIES_UNKNOWN;
}

int64_t fingerprint_epoch_batches(const struct batch_series *series)
{
	int64_t most = SERIES_UNKNOWN;

	for (size_t run = 0; run + 1 < series->run_count; run++) {
		const struct series_run *one = &series->runs[run];
		int64_t end = one->batch + (int64_t)(series_run_end(series, run) - one->begin);

		if (one->epoch != series->runs[series->run_count - 1].epoch && end > most)
			most = end;
	}
	return most;
}

static int differs(const struct fingerprint *a, const struct fingerprint *b, int field)
{
	if (FIELDS[field].kind == FINGERPRINT_TEXT)
		return a->text[field] && b->text[field] &&
		       strcmp(a->text[field], b->text[field]) != 0;
	return a->number[field] != SERIES_UNKNOWN && b->number[field] != SERIES_UNKNOWN &&
	       a->number[field] != b->number[field];
}

unsigned fingerprint_diff(const struct fingerprint *a, const struct fingerprint *b)
{
	unsigned bits = 0;

	for (int field = 0; field < FINGERPRINT_MAX; field++)
		if (differs(a, b, field))
			bits |= FINGERPRINT_BIT(field);
	return bits;
}

unsigned fingerprint_mask(enum fingerprint_class which)
{
	unsigned bits = 0;

	for (int field = 0; field < FINGERPRINT_MAX; field++)
		if (FIELDS[field].class == which)
			bits |= FINGERPRINT_BIT(field);
	return bits;
}

const char *fingerprint_name(enum fingerprint_field field)
{
	return FIELDS[field].name;
}

enum fingerprint_kind fingerprint_kind(enum fingerprint_field field)
{
	return FIELDS[field].kind;
}
