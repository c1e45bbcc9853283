/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.c - `dlprof-report export RUN`: writes one public view, or all of them, as CSV. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "report/cmd.h"
#include "report/data/sheet.h"
#include "store/fleet/export.h"

static int export_one(const struct options *options, struct db *db, const char *view)
{
	struct output output;
	int status = cmd_open_output(options, &output), r;
	struct sheet sheet = {.file = output.file};
	const struct export_sink sink = {sheet_names, sheet_row, &sheet};

	if (status)
		return status;
	r = export_view(db, view, &sink);
	if (r == -ENOENT)
		status = cmd_fail("'%s' has no view '%s'; without --view all are exported",
				  options->run, view);
	else if (r < 0 && !ferror(output.file))
		status = cmd_fail_read(options, r);
	return cmd_close_output(&output, status);
}

struct all_views {
	const struct options *options;
	struct db *db;
	int status;
};

static int export_next(const char *name, void *context)
{
	struct all_views *all = context;
	struct options one = *all->options;
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s.csv", one.output, name) >= (int)sizeof(path))
		return all->status = cmd_fail("the name of the folder is too long");
	one.output = path;
	return all->status = export_one(&one, all->db, name);
}

static int export_all(const struct options *options, struct db *db)
{
	struct all_views all = {options, db, CMD_DONE};
	int r;

	if (mkdir(options->output, 0777) < 0 && errno != EEXIST)
		return cmd_fail("cannot make the folder '%s': %s", options->output,
				strerror(errno));
	r = export_views(db, export_next, &all);
	return r < 0 && !all.status ? cmd_fail_read(options, r) : all.status;
}

static int export(const struct options *options, struct db *db)
{
	return options->view ? export_one(options, db, options->view) : export_all(options, db);
}

int cmd_export(const struct options *options)
{
	return options->into || options->csv ? cmd_lake(options) : cmd_on_run(options, export);
}
