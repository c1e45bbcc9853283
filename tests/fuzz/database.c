/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.c - target: whatever a file is that is given as a run, it is refused or read, and
 * nothing that it brings along is run.
 *
 * Beside what sanitizers see: what cannot be read is an errno, and a view hands out no more rows
 * than its table can have.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace_part_sql.h"
#include "trace_sql.h"

#include "fuzz.h"
#include "store/database/db_open.h"
#include "store/fleet/export.h"
#include "store/run/gpu.h"
#include "store/run/lines.h"
#include "store/run/query.h"
#include "store/run/tally.h"
#include "store/run/timeline.h"

#define MOST_ROWS 100000 /* in a file of some 100 KB */

static int count_row(const struct export_cell *cells, size_t count, void *context)
{
	(void)cells;
	(void)count;
	FUZZ_DEMAND(++*(int *)context < MOST_ROWS);
	return 0;
}

static int ignore_names(const char *const *names, size_t count, void *context)
{
	(void)names;
	(void)count;
	*(int *)context = 0;
	return 0;
}

static int export(const char *name, void *context)
{
	int rows = 0;
	const struct export_sink sink = {ignore_names, count_row, &rows};

	FUZZ_DEMAND(export_view(context, name, &sink) <= 0);
	return 0;
}

static int ignore_event(const struct timeline_event *event, void *context)
{
	(void)event;
	(void)context;
	return 0;
}

static void read_loaders(struct db *db)
{
	struct loader_info *loaders = NULL;
	struct batch_filter all = {.epoch = -1, .first = -1, .last = -1};
	struct batch_series series;
	size_t count = 0;

	if (query_loaders(db, &loaders, &count) < 0)
		return;
	for (size_t i = 0; i < count && i < 4; i++) {
		all.loader_id = loaders[i].loader_id;
		series_init(&series);
		FUZZ_DEMAND(query_series(db, &all, &series) <= 0);
		series_done(&series);
	}
	free(loaders);
}

static void read_lines(struct db *db)
{
	struct line_samples samples;
	struct lines lines = {0};
	struct doing *doing = NULL;
	size_t count = 0;

	if (lines_read(db, &samples) == 0 && lines_find(&samples, 1, &lines) == 0)
		doing_read(db, &samples, &doing, &count);
	for (size_t i = 0; i < count; i++)
		FUZZ_DEMAND(doing[i].frame < samples.frame_count &&
			    doing[i].inner < samples.frame_count);
	for (size_t i = 0; i < samples.stack_count; i++)
		for (size_t j = 0; j < samples.stacks[i].depth; j++)
			FUZZ_DEMAND(samples.stacks[i].frames[j] < samples.frame_count);
	free(doing);
	lines_done(&lines);
	lines_free(&samples);
}

static void read_timeline(struct db *db)
{
	const struct timeline_worst all = {.worst = -1};
	const struct timeline_worst some = {.worst = 3, .before = 2, .behind = 1};
	const struct batch_filter filter = batch_filter_all(1);

	if (timeline_begin(db) < 0)
		return;
	timeline_add_part(db, trace_part_sql, &filter, &all);
	timeline_add_part(db, trace_part_sql, &filter, &some);
	timeline_events(db, trace_sql, false, ignore_event, NULL);
	timeline_events(db, trace_sql, true, ignore_event, NULL);
}

static void read_all(struct db *db)
{
	struct tally_list list;
	struct run_info run;
	struct gpu_info gpu;

	if (query_run(db, &run) == 0)
		run_info_done(&run);
	read_loaders(db);
	read_lines(db);
	tally_list_read(db, "file", 8, &list);
	tally_list_done(&list);
	gpu_info_read(db, 8, &gpu);
	gpu_info_done(&gpu);
	read_timeline(db);
	export_views(db, export, db);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[128];
	struct db *db;
	FILE *file;

	snprintf(path, sizeof(path), "%s/run.db", fuzz_folder());
	file = fopen(path, "wb");
	FUZZ_DEMAND(file && fwrite(bytes, 1, size, file) == size);
	FUZZ_DEMAND(fclose(file) == 0);
	if (db_open_read(path, &db) < 0)
		return 0;
	read_all(db);
	db_close(db);
	return 0;
}
