/* SPDX-License-Identifier: Apache-2.0 */
/* one_run.h - for a suite's file: an empty database for each test, open, that SQL is run on. */
#pragma once

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/database/db_open.h"
#include "store/database/handle.h"

static char one_run_folder[] = "/tmp/dlprof-store-XXXXXX";
static char one_run_path[64];
static struct db *db;

static void one_run_begin(void)
{
	cr_assert(mkdtemp(one_run_folder));
	snprintf(one_run_path, sizeof(one_run_path), "%s/run.db", one_run_folder);
	cr_assert_eq(db_open_write(one_run_path, &db), 0);
}

static void one_run_end(void)
{
	char command[80];

	db_close(db);
	snprintf(command, sizeof(command), "rm -rf %s", one_run_folder);
	cr_assert_eq(system(command), 0);
}

static void run_sql(const char *sql)
{
	cr_assert_eq(sqlite3_exec(db->handle, sql, NULL, NULL, NULL), SQLITE_OK, "%s: %s", sql,
		     sqlite3_errmsg(db->handle));
}
