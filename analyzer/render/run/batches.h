/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batches.h - every delivered batch as one row: a table for people, CSV or JSON for programs. Rows
 * are written as they come, and not stored.
 *
 * batches.def lists the columns. CSV and JSON have times in seconds with nine decimals; an empty
 * cell, in JSON null, was not observed.
 */
#pragma once

#include <stdint.h>

#include "render/form/jsonw.h"
#include "render/form/page.h"
#include "store/run/batch.h"

struct batch_line {
	struct batch_record batch;
	int64_t begin_ns;     /* time since the run's begin */
	int64_t starved;      /* 1, 0, or UNKNOWN: the batch is not steady */
	const char *excluded; /* why the batch is not steady; NULL: it is */
};

enum batches_form {
	BATCHES_TEXT,
	BATCHES_CSV,
	BATCHES_JSON,
};

struct batches {
	enum batches_form form;
	const struct page *page;
	struct jsonw json;
};

void batches_begin(struct batches *batches, enum batches_form form, const struct page *page,
		   const char *path);
void batches_add(struct batches *batches, const struct batch_line *line);
void batches_end(struct batches *batches);
