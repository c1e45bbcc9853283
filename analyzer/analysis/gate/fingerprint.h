/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fingerprint.h - lists what two runs must have in common to be compared.
 *
 * A WORK field says what a batch is, and a PLACE field on which machine and by which clock it was
 * measured. SETTINGs may differ for `dlprof-report compare`, but not for a gate. A NOTE is only
 * printed. A field that is unknown in one run counts as equal.
 */
#pragma once

#include <stdint.h>

#include "analysis/account/series.h"

enum fingerprint_class {
	FINGERPRINT_WORK,
	FINGERPRINT_PLACE,
	FINGERPRINT_SETTING,
	FINGERPRINT_NOTE,
};

/* FIELD(constant, name in JSON, class, TEXT, NUMBER or FLAG) */
#define FINGERPRINT_FIELDS(FIELD)                                                                  \
	FIELD(LOADER, "loader", WORK, TEXT)                                                        \
	FIELD(BATCH_SIZE, "batch_size", WORK, NUMBER)                                              \
	FIELD(EPOCH_BATCHES, "epoch_batches", WORK, NUMBER)                                        \
	FIELD(FRAMEWORKS, "frameworks", WORK, TEXT)                                                \
	FIELD(RANKS, "ranks", WORK, NUMBER)                                                        \
	FIELD(CLOCK, "clock", PLACE, TEXT)                                                         \
	FIELD(SYNC, "sync", PLACE, FLAG)                                                           \
	FIELD(CORES, "cores", PLACE, NUMBER)                                                       \
	FIELD(GPU, "gpu", PLACE, TEXT)                                                             \
	FIELD(WORKERS, "workers", SETTING, NUMBER)                                                 \
	FIELD(PREFETCH_FACTOR, "prefetch_factor", SETTING, NUMBER)                                 \
	FIELD(IN_ORDER, "in_order", SETTING, FLAG)                                                 \
	FIELD(PERSISTENT_WORKERS, "persistent_workers", SETTING, FLAG)                             \
	FIELD(SET, "set", SETTING, TEXT)                                                          \
	FIELD(COMMAND, "command", NOTE, TEXT)                                                      \
	FIELD(HOST, "host", NOTE, TEXT)                                                            \
	FIELD(KERNEL, "kernel", NOTE, TEXT)                                                        \
	FIELD(VERSION, "dlprof_version", NOTE, TEXT)

enum fingerprint_field {
#define FIELD(constant, name, class, kind) FINGERPRINT_##constant,
	FINGERPRINT_FIELDS(FIELD) FINGERPRINT_MAX
#undef FIELD
};

enum fingerprint_kind { FINGERPRINT_TEXT, FINGERPRINT_NUMBER, FINGERPRINT_FLAG };

extern const struct fingerprint_row {
	const char *name;
	enum fingerprint_class class;
	enum fingerprint_kind kind;
} fingerprint_fields[FINGERPRINT_MAX];

/* The caller owns the texts. A text that is NULL, or a number that is UNKNOWN, is not known. */
struct fingerprint {
	const char *text[FINGERPRINT_MAX];
	int64_t number[FINGERPRINT_MAX];
};

#define FINGERPRINT_BIT(field) (1u << (field))

void fingerprint_init(struct fingerprint *ret);

/* Returns the length of the longest epoch but the last, in batches; UNKNOWN: only one epoch. */
int64_t fingerprint_epoch_batches(const struct batch_series *series);

unsigned fingerprint_diff(const struct fingerprint *a, const struct fingerprint *b);

unsigned fingerprint_mask(enum fingerprint_class which);
