/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - read a CSV of batches, one row at a time, whatever it holds.
 *
 * The first line names the columns: batch, epoch, rank, worker_id, qdepth, head_ready, and begin,
 * wait, load, compute, step, load_cpu, gpu_idle, gpu_busy with a unit (_s, _ms, _us, _ns). A unit
 * alone (`batch, ms`) is a step. Other columns are left out. An empty cell is not observed. Rows
 * are in order; the batch counts on over epochs or within each. Empty lines and those with # at the
 * begin are skipped.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "store/write/write.h"

struct table;

/* A problem with the file, and its place, counted from 1. */
struct table_problem {
	size_t line;
	size_t column;
	char text[200];
};

/* Values are UNKNOWN if not observed. Ordinals count from 0 in each epoch. */
struct table_row {
	struct batch_values batch; /* its loader is not set yet */
	int64_t rank;
};

/* Reads the names. 0, -ENOMEM, -EIO, or -EINVAL with *problem. The file stays the caller's. */
int table_open(FILE *file, struct table **ret_table, struct table_problem *problem);
void table_close(struct table *table);

/* 1: a row, 0: no more, else as table_open(). */
int table_next(struct table *table, struct table_row *ret_row, struct table_problem *problem);

/* Names of unused columns, separated by ", "; "": none. */
const char *table_ignored(const struct table *table);
