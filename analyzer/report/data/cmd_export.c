/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.c - `dlprof-report export RUN`: writes one public view, or all of them, as CSV. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/cmd.h"
#include "report/data/sheet.h"
#include "store/fleet/export.h"

#define MOST_VIEWS 64

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

struct views {
	char *names[MOST_VIEWS];
	size_t count;
};

static int add_view(const char *name, void *context)
{
	struct views *views = context;

	if (views->count == MOST_VIEWS)
		return 0;
	views->names[views->count] = strdup(name);
	return views->names[views->count++] ? 0 : -ENOMEM;
}

static int export_all(const struct options *options, struct db *db)
{
	struct views views = {.count = 0};
	int status = CMD_DONE, r = export_views(db, add_view, &views);

	if (r < 0)
		status = cmd_fail_read(options, r);
	else if (mkdir(options->output, 0777) < 0 && errno != EEXIST)
		status = cmd_fail("cannot make the folder '%s': %s", options->output,
				  strerror(errno));
	for (size_t i = 0; i < views.count; i++) {
		struct options one = *options;
		char path[4096];

		if (!status && snprintf(path, sizeof(path), "%s/%s.csv", options->output,
					views.names[i]) >= (int)sizeof(path))
			status = cmd_fail("the name of the folder is too long");
		one.output = path;
		if (!status)
			status = export_one(&one, db, views.names[i]);
		free(views.names[i]);
	}
	return status;
}

static int export(const struct options *options, struct db *db)
{
	return options->view ? export_one(options, db, options->view) : export_all(options, db);
}

int cmd_export(const struct options *options)
{
	return options->into || options->csv ? cmd_lake(options) : cmd_on_run(options, export);
}
