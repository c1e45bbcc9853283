/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - reads a CSV of batches one row at a time; the file may hold anything.
 *
 * The first line names the columns: batch, epoch, rank, worker_id, qdepth, head_ready, and begin,
 * wait, load, compute, step, load_cpu, gpu_idle, gpu_busy with a unit (_s, _ms, _us, _ns). A unit
 * alone (`batch, ms`) is a step. Other columns are left out. An empty cell was not observed. Rows
 * are in order; batches are counted on over epochs, or in each epoch anew. Empty lines and those
 * that begin with # are skipped.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "store/write/write.h"

struct table;

/* A problem with the file, and its line and column, counted from 1. */
struct table_problem {
	size_t line;
	size_t column;
	char text[200];
};

/* One row. UNKNOWN values were not observed. Ordinals count from 0 in each epoch. */
struct table_row {
	struct batch_values batch; /* its loader_id is not set */
	int64_t rank;
};

/* Reads the first line. 0, -ENOMEM, -EIO, or -EINVAL with *problem. The caller closes the file. */
int table_open(FILE *file, struct table **ret_table, struct table_problem *problem);
void table_close(struct table *table);

/* Reads a row. Returns 1; 0 if there are no more; else an error as table_open(). */
int table_next(struct table *table, struct table_row *ret_row, struct table_problem *problem);

/* Returns the names of unused columns, separated by ", "; "": there are none. */
const char *table_ignored(const struct table *table);
