/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - reads a CSV file of batches row by row. The file may contain anything.
 *
 * The first line names the columns: batch, epoch, rank, worker_id, qdepth, head_ready, and begin,
 * wait, load, compute, step, load_cpu, gpu_idle, gpu_busy with a unit (_s, _ms, _us, _ns). A column
 * whose name is only a unit, such as the second one of `batch, ms`, has the steps. Other columns
 * are ignored. An empty cell means not observed. Rows are in order. Batch numbers go on from one
 * epoch to the next, or start again in each. Empty lines, and lines that begin with #, are skipped.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "store/write/write.h"

struct table;

struct table_problem {
	size_t line;
	size_t column;
	char text[200];
};

/* A row; UNKNOWN: not observed. The ordinal of a batch counts from 0 in each epoch. */
struct table_row {
	struct batch_values batch;
	int64_t rank;
};

/* Reads the first line. Returns 0, -ENOMEM, -EIO or -EINVAL (see *problem). Never closes `file`. */
int table_open(FILE *file, struct table **ret_table, struct table_problem *problem);
void table_close(struct table *table);

/* Reads a row. Returns 1, 0 after the last row, or an error as table_open() does. */
int table_next(struct table *table, struct table_row *ret_row, struct table_problem *problem);

const char *table_ignored(const struct table *table);
