/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drain/database/home.h"
#include "drain/drain.h"
#include "store/database/db_open.h"

void cmd_remark_missing(const struct options *options, const char *path, int error,
			const struct recovered *recovered)
{
	if (error == -EPERM)
		cmd_remark(options, "'%s' may lack its last records: '%s-segments' is another "
			   "user's, or not as dlprof makes it; its owner's dlprof-report adds "
			   "them", path, path);
	else if (error < 0 && recovered->missing_count)
		cmd_remark(options, "'%s' lacks %" PRId64 " records: %s", path,
			   recovered->missing_count, db_error(error));
	else if (error < 0)
		cmd_remark(options, "'%s' may lack its last records: %s", path, db_error(error));
}

static void remark_recovered(const struct options *options, int error,
			     const struct recovered *recovered)
{
	const char *path = options->run;
	char where[4200];

	cmd_remark_missing(options, path, error, recovered);
	if (recovered->kept && home_find(options->run, where, sizeof(where)))
		cmd_remark(options, "'%s' cannot be written: %s; the run is read where it is kept, "
			   "%s", path, db_error(recovered->kept), where);
	if (recovered->live)
		cmd_remark(options, "the run is still recording; this is what it has so far");
}

int cmd_open_run(const struct options *options, struct db **ret_db, struct recovered *ret)
{
	const char *path = options->run;
	struct stat status;
	int error, r;

	*ret = (struct recovered){0};
	if (stat(path, &status) < 0) {
		error = -errno;
		ret->live = drain_is_live(path);
		return cmd_fail("cannot open '%s': %s", path, db_error(error));
	}
	error = drain_recover(path, ret);
	r = home_open_read(path, ret_db);
	if (r == -ENOLINK && ret->live)
		r = -ENODATA;
	if (r < 0 && error == -EPERM)
		remark_recovered(options, error, ret);
	else if (r == -ENODATA && error < 0)
		return cmd_fail("cannot open '%s': the run could not be stored in it: %s", path,
				db_error(error));
	if (r < 0)
		return cmd_fail("cannot open '%s': %s%s", path, db_error(r),
				r == -EISDIR ? "; name one database in it" : "");
	remark_recovered(options, error, ret);
	return 0;
}

int cmd_on_run(const struct options *options,
	       int (*show)(const struct options *options, struct db *db))
{
	struct recovered recovered;
	struct db *db;
	int status = cmd_open_run(options, &db, &recovered);

	if (status)
		return status;
	status = show(options, db);
	db_close(db);
	return status;
}

int cmd_fail_read(const struct options *options, int error)
{
	return cmd_fail("cannot read '%s': %s", options->run, db_error(error));
}

int cmd_check_filter(const struct options *options, const struct run_info *run,
		     const struct loader_info *loaders, size_t count)
{
	if (options->rank >= 0 && options->rank != run->rank)
		return cmd_fail("'%s' is of rank %" PRId64 ", not %" PRId64, options->run,
				run->rank, options->rank);
	if (options->loader < 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (loaders[i].loader_id == options->loader)
			return 0;
	return cmd_fail("'%s' has no loader %" PRId64, options->run, options->loader);
}

int cmd_check_part(const struct options *options, const struct loader_info *loader)
{
	bool is_range = options->first >= 0 || options->last >= 0;

	if (options->epoch >= loader->epoch_count)
		return cmd_fail("'%s' has no epoch %" PRId64 ": its loader %" PRId64 " has %" PRId64
				" epoch%s, counted from 0",
				options->run, options->epoch, loader->loader_id,
				loader->epoch_count, loader->epoch_count == 1 ? "" : "s");
	if (is_range)
		return cmd_fail("'%s' has no batch from %" PRId64 " on%s: its loader %" PRId64
				" has %" PRId64 " batches in %" PRId64 " epoch%s, counted from 0",
				options->run, options->first > 0 ? options->first : 0,
				options->epoch >= 0 ? " in that epoch" : "", loader->loader_id,
				loader->batch_count, loader->epoch_count,
				loader->epoch_count == 1 ? "" : "s");
	return 0;
}

bool cmd_is_same_file(const char *a, const char *b)
{
	struct stat one, other;

	return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

/* Opens a part file: only a finished file gets the output's name. -1: it cannot be opened. */
static int open_part(bool exists, struct output *ret)
{
	const char *slash = strrchr(ret->path, '/');
	const int folder = slash ? (int)(slash + 1 - ret->path) : 0;
	struct stat status = {.st_mode = 0666};

	if ((lstat(ret->path, &status) == 0 &&
	     (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || status.st_nlink > 1)) ||
	    snprintf(ret->part, sizeof(ret->part), "%.*s.%s.%ld", folder, ret->path,
		     ret->path + folder, (long)getpid()) >= (int)sizeof(ret->part))
		return -1;
	return open(ret->part, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL,
		    exists ? status.st_mode & 0777 : 0666);
}

int cmd_open_output(const struct options *options, struct output *ret)
{
	const char *path = options->output;
	struct stat status;
	bool exists;
	int fd, i;

	*ret = (struct output){.file = stdout, .path = path};
	if (!path)
		return 0;
	if (options->run && cmd_is_same_file(path, options->run))
		return cmd_fail("will not write over the run itself: '%s'", path);
	for (i = 0; i < options->run_count; i++)
		if (cmd_is_same_file(path, options->runs[i]))
			return cmd_fail("will not write over the run itself: '%s'", path);
	exists = stat(path, &status) == 0;
	if (exists && S_ISREG(status.st_mode) && !options->force)
		return cmd_fail("'%s' exists; -f replaces it", path);
	fd = open_part(exists, ret);
	if (fd < 0) {
		ret->part[0] = '\0';
		fd = open(path, O_WRONLY | O_CLOEXEC | O_CREAT | (exists ? O_TRUNC : O_EXCL), 0666);
	}
	if (fd < 0)
		return cmd_fail("cannot write '%s': %s", path, strerror(errno));
	ret->made = !exists;
	ret->file = fdopen(fd, "w");
	if (!ret->file) {
		close(fd);
		return cmd_fail("cannot write '%s': %s", path, strerror(ENOMEM));
	}
	return 0;
}

/* Gives the part file the output's name. -EEXIST: another program has made a file of that name. */
static int name_part(const struct output *output)
{
	if (output->made && link(output->part, output->path) == 0)
		unlink(output->part);
	else if ((output->made && errno == EEXIST) || rename(output->part, output->path) < 0)
		return -errno;
	return 0;
}

int cmd_close_output(struct output *output, int status)
{
	const char *problem = terminal_close(output->file);
	int r = 0;

	if (!problem && output->part[0] && status != CMD_ERROR)
		r = name_part(output);
	if (problem || r < 0)
		status = cmd_fail("cannot write %s%s%s: %s", output->path ? "'" : "",
				  output->path ? output->path : "standard output",
				  output->path ? "'" : "", problem ? problem : strerror(-r));
	if (status == CMD_ERROR && (output->made || output->part[0]))
		unlink(output->part[0] ? output->part : output->path);
	return status;
}

struct page cmd_page(const struct options *options, const struct output *output)
{
	return terminal_page(output->file, options->color, options->ascii);
}

int cmd_show(const struct options *options,
	     int (*put)(const struct options *options, const void *what, const struct page *page),
	     const void *what, int status)
{
	struct output output;
	struct page page;
	int r = cmd_open_output(options, &output);

	if (r)
		return r;
	page = cmd_page(options, &output);
	r = put(options, what, &page);
	if (r < 0)
		status = cmd_fail("%s", db_error(r));
	return cmd_close_output(&output, status);
}
