/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gate/fingerprint.h"

#include <string.h>

const struct fingerprint_row fingerprint_fields[FINGERPRINT_MAX] = {
#define FIELD(constant, name, class, kind) {name, FINGERPRINT_##class, FINGERPRINT_##kind},
	FINGERPRINT_FIELDS(FIELD)
#undef FIELD
};

void fingerprint_init(struct fingerprint *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < FINGERPRINT_MAX; i++)
		ret->number[i] = UNKNOWN;
}

int64_t fingerprint_epoch_batches(const struct batch_series *series)
{
	int64_t most = UNKNOWN;

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
	if (fingerprint_fields[field].kind == FINGERPRINT_TEXT)
		return a->text[field] && b->text[field] &&
		       strcmp(a->text[field], b->text[field]) != 0;
	return a->number[field] != UNKNOWN && b->number[field] != UNKNOWN &&
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
		if (fingerprint_fields[field].class == which)
			bits |= FINGERPRINT_BIT(field);
	return bits;
}
