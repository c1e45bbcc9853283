/* SPDX-License-Identifier: Apache-2.0 */
/* batches.h - writes each delivered batch as one row (batches.def), and keeps none in memory. */
#pragma once

#include <stdint.h>

#include "render/form/jsonw.h"
#include "render/form/page.h"
#include "store/run/batch.h"

struct batch_line {
	struct batch_record batch;
	int64_t begin_ns;     /* counted from the start of the run */
	int64_t starved;      /* 1 or 0; UNKNOWN: the batch is not steady */
	const char *excluded; /* why the batch is not steady; NULL: it is steady */
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
