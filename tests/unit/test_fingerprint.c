/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "analysis/gate/fingerprint.h"

Test(fingerprint, what_is_not_known_is_no_difference)
{
	struct fingerprint a, b;

	fingerprint_init(&a);
	fingerprint_init(&b);
	cr_assert_eq(fingerprint_diff(&a, &b), 0);
	a.text[FINGERPRINT_GPU] = "H100";
	a.number[FINGERPRINT_CORES] = 8;
	cr_assert_eq(fingerprint_diff(&a, &b), 0);
	b.text[FINGERPRINT_GPU] = "H200";
	b.number[FINGERPRINT_CORES] = 8;
	cr_assert_eq(fingerprint_diff(&a, &b), FINGERPRINT_BIT(FINGERPRINT_GPU));
	b.number[FINGERPRINT_CORES] = 0;
	cr_assert_eq(fingerprint_diff(&b, &a),
		     FINGERPRINT_BIT(FINGERPRINT_GPU) | FINGERPRINT_BIT(FINGERPRINT_CORES));
}

Test(fingerprint, every_field_has_a_name_and_one_class)
{
	unsigned all = 0;

	for (int which = FINGERPRINT_WORK; which <= FINGERPRINT_NOTE; which++) {
		unsigned mask = fingerprint_mask((enum fingerprint_class)which);

		cr_assert_neq(mask, 0);
		cr_assert_eq(all & mask, 0);
		all |= mask;
	}
	cr_assert_eq(all, FINGERPRINT_BIT(FINGERPRINT_MAX) - 1);
	for (int field = 0; field < FINGERPRINT_MAX; field++)
		cr_assert_not_null(fingerprint_fields[field].name);
	cr_assert(fingerprint_mask(FINGERPRINT_SETTING) & FINGERPRINT_BIT(FINGERPRINT_WORKERS));
	cr_assert(fingerprint_mask(FINGERPRINT_WORK) & FINGERPRINT_BIT(FINGERPRINT_BATCH_SIZE));
}

static void add(struct batch_series *series, int32_t epoch, int32_t begin, int32_t end)
{
	struct batch_row row = BATCH_ROW_UNKNOWN;

	row.epoch = epoch;
	row.wait_ns = 1;
	for (row.batch = begin; row.batch < end; row.batch++)
		cr_assert_eq(series_append(series, &row), 0);
}

Test(fingerprint, an_epoch_is_whole_when_another_follows)
{
	struct batch_series series;

	series_init(&series);
	cr_assert_eq(fingerprint_epoch_batches(&series), UNKNOWN);
	/* An epoch of which a record is missing in the middle. */
	add(&series, 0, 0, 40);
	add(&series, 0, 41, 63);
	cr_assert_eq(fingerprint_epoch_batches(&series), UNKNOWN);
	add(&series, 1, 0, 20);
	cr_assert_eq(fingerprint_epoch_batches(&series), 63);
	series_done(&series);
}
