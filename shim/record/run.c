/* SPDX-License-Identifier: Apache-2.0 */
#include "record/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/config.h"
#include "base/environment.h"
#include "base/guard.h"
#include "base/log.h"
#include "base/note.h"
#include "base/process.h"
#include "base/spawn.h"
#include "base/sys.h"
#include "dlprof/folder.h"
#include "dlprof/segment.h"
#include "record/fd.h"
#include "record/folder.h"
#include "record/segment.h"

/* Returns false if the header is the parent's, from which a child inherits DLPROF_LIFE. */
static bool is_own(const struct dlprof_header *header)
{
	return header->magic == DLPROF_SEGMENT_MAGIC && header->abi == DLPROF_SEGMENT_ABI &&
	       (header->flags & DLPROF_SEGMENT_ROOT) && header->pid == sys_getpid() &&
	       header->start_ticks && header->start_ticks == process_start_ticks() &&
	       header->pid_space == process_space() &&
	       memchr(header->database, '\0', sizeof(header->database)) &&
	       memchr(header->stored_at, '\0', sizeof(header->stored_at));
}

/*
 * Returns the header of the program that this process ran before execve(), or NULL. No code of ours
 * runs at execve(), so each program sets DLPROF_LIFE to its first segment as soon as it has one.
 */
static const struct dlprof_header *life_before(const char *folder)
{
	static struct dlprof_header header;
	const char *path = getenv("DLPROF_LIFE");
	const size_t length = strlen(folder);
	long got;
	int fd;

	if (!path || strncmp(path, folder, length) != 0 || path[length] != '/')
		return NULL;
	fd = sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd < 0)
		return NULL;
	got = sys_read(fd, &header, sizeof(header));
	sys_close(fd);
	return got == sizeof(header) && is_own(&header) ? &header : NULL;
}

#define SUFFIX_MAX 1000
#define JOIN_TRIES 10

static struct {
	char folder[512];
	char database[1024];
	int root_pid;		/* process that started the run; 0: this process joined it */
	bool has_drain;
	bool is_reported;	/* `dlprof run` prints this run's report */
} run;

const char *run_database(void)
{
	return run.root_pid && run.root_pid == sys_getpid() ? run.database : NULL;
}

bool run_is_reported(void)
{
	return run.is_reported;
}

static int failed(struct text *why, const char *what, const char *path, int error)
{
	text_format(why, "%s '%s': %s", what, path, text_error(error));
	return error;
}

static bool is_folder(const char *path)
{
	int fd = sys_open(path, O_PATH | O_DIRECTORY, 0);

	if (fd < 0)
		return false;
	sys_close(fd);
	return true;
}

/* Adds the variable's value for "%q{NAME}". `pattern` begins at "{"; returns what is behind "}". */
static const char *expand_variable(struct text *path, const char *pattern)
{
	const char *end = *pattern == '{' ? strchr(pattern, '}') : NULL;
	TEXT(name, 128);

	if (!end)
		return pattern;
	text_add_bytes(&name, pattern + 1, (size_t)(end - pattern - 1));
	if (getenv(name.buffer))
		text_add(path, getenv(name.buffer));
	return end + 1;
}

static void expand_pattern(struct text *path, const char *pattern)
{
	struct utsname host = {0};

	while (*pattern) {
		char letter = pattern[0] == '%' ? pattern[1] : '\0';
		size_t plain = strcspn(pattern, "%");

		if (plain) {
			text_add_bytes(path, pattern, plain);
			pattern += plain;
			continue;
		}
		pattern += letter ? 2 : 1;
		switch (letter) {
		case 'p':
			text_add_number(path, sys_getpid());
			break;
		case 'h':
			sys_call1(SYS_uname, &host);
			text_add(path, host.nodename);
			break;
		case 'r':
			text_add_number(path, process_rank() < 0 ? 0 : process_rank());
			break;
		case 'l':
			text_add_number(path, process_local_rank() < 0 ? 0 : process_local_rank());
			break;
		case 'j':
			text_add(path, process_job() ? process_job() : "0");
			break;
		case 'q':
			pattern = expand_variable(path, pattern);
			break;
		case '%':
			text_add(path, "%");
			break;
		default:
			text_add(path, "%");
			if (letter)
				text_add_bytes(path, &letter, 1);
		}
	}
}

static int database_path(struct text *path)
{
	char folder[512];
	long r;

	if (config.out[0] != '/') {
		r = sys_call2(SYS_getcwd, folder, sizeof(folder));
		if (r < 0)
			return (int)r;
		text_format(path, "%s/", folder);
	}
	expand_pattern(path, config.out);
	if (path->length && path->buffer[path->length - 1] == '/') {
		expand_pattern(path, "dlprof-%p.db");
	} else if (is_folder(path->buffer)) {
		text_add(path, "/");
		expand_pattern(path, "dlprof-%p.db");
	}
	return path->cut ? -ENAMETOOLONG : 0;
}

static int make_folders(char *path)
{
	long r = 0;

	for (char *slash = path; r == 0 && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (!is_folder(path))
			r = sys_call3(SYS_mkdirat, AT_FDCWD, path, 0777);
		*slash = '/';
		if (r == -EEXIST) /* another rank made it; if it is a file, open() fails later */
			r = 0;
	}
	return (int)r;
}

/* Reserves "run.db", "run-2.db", ... by an empty file, so that no file is overwritten. */
static int reserve_database(struct text *why)
{
	struct text path;
	char extension[64] = "";
	size_t stem;
	char *dot;
	int fd, r;

	text_init(&path, run.database, sizeof(run.database));
	r = database_path(&path);
	if (r == 0)
		r = make_folders(run.database);
	if (r < 0)
		return failed(why, "cannot create",
			      r == -ENAMETOOLONG ? config.out : run.database, r);
	dot = strrchr(run.database, '.');
	if (!dot || strchr(dot, '/') || strlen(dot) >= sizeof(extension))
		dot = run.database + path.length;
	stem = (size_t)(dot - run.database);
	strcpy(extension, dot);
	for (int suffix = 2;; suffix++) {
		TEXT(next, sizeof(run.database));

		fd = folder_link_is_free(run.database)
			     ? sys_open(run.database, O_WRONLY | O_CREAT | O_EXCL, 0600)
			     : -EEXIST;
		if (fd != -EEXIST || suffix > SUFFIX_MAX)
			break;
		text_add_bytes(&next, run.database, stem);
		text_format(&next, "-%d%s", suffix, extension);
		if (next.cut)
			return failed(why, "cannot create", run.database, -ENAMETOOLONG);
		memcpy(run.database, next.buffer, next.length + 1);
	}
	if (fd < 0)
		return failed(why, "cannot create", run.database, fd);
	sys_close(fd);
	return 0;
}

/* Uses /dev/shm only on request: it is small in containers, and PyTorch dies if it is full. */
static int open_segments(struct text *why)
{
	const char *base = getenv("TMPDIR");
	TEXT(beside, sizeof(run.database));
	const char *bases[] = {base && base[0] == '/' ? base : "/tmp", "/tmp", beside.buffer, NULL};
	bool linked;
	int r = -ENOENT;

	text_add_bytes(&beside, run.database, (size_t)(strrchr(run.database, '/') - run.database));
	if (config.segment_dir) {
		bases[0] = config.segment_dir;
		bases[1] = NULL;
	}
	for (int i = 0; bases[i]; i++) {
		r = folder_make(bases[i], run.database, run.folder, sizeof(run.folder), &linked);
		if (r < 0)
			continue;
		r = segment_open(run.folder, DLPROF_SEGMENT_ROOT, process_rank(),
				 process_local_rank());
		if (r == 0 && !linked)
			note_add('w', "cannot link the database to its segments: what a killed "
					  "drain leaves behind cannot be recovered");
		if (r == 0)
			return 0;
		folder_remove(run.folder, linked ? run.database : NULL);
	}
	return failed(why, "cannot make a segment in", bases[0], r);
}

static bool start_drain(void)
{
	TEXT(note, 500);
	int drain;

	text_add(&note, "dlprof-drain was not started: ");
	drain = spawn_drain(run.folder, run.database, &note);
	if (drain >= 0) {
		permit_drain(drain);
		return true;
	}
	text_add(&note, "; the run holds only what fits its rings, until dlprof-report reads it");
	note_add('w', note.buffer);
	log_line(note.buffer, NULL);
	return false;
}

/*
 * Notes the id of the job, which must be the same for all ranks. Where the environment has none,
 * the id is MASTER_ADDR:MASTER_PORT or, on one machine, names the process that started the ranks.
 */
static void note_job(void)
{
	const int32_t size = process_world_size();
	const char *address = getenv("MASTER_ADDR"), *port = getenv("MASTER_PORT");
	const char *local_size = getenv("LOCAL_WORLD_SIZE"), *all = getenv("WORLD_SIZE");
	const bool is_local = local_size && all && strcmp(local_size, all) == 0;
	const int launcher = process_launcher();
	struct utsname host = {0};

	if (process_job()) {
		note_format('m', "job_id %s", process_job());
	} else if (process_rank() < 0) {
		return;
	} else if (address && port && !is_local) {
		note_format('m', "job_id %s:%s", address, port);
	} else {
		sys_call1(SYS_uname, &host);
		note_format('m', "job_id %s-%d-%lu", host.nodename, launcher,
			    process_stat(launcher, 22));
	}
	note_format('m', "attempt %d", process_attempt());
	if (process_rank() >= 0 && size > 0)
		note_format('m', "world_size %d", size);
}

/* Opens the file by which `dlprof run` learns the runs to report. */
static int open_list(void)
{
	const char *list = getenv("DLPROF_RUNS");

	return list ? sys_open(list, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0) : -ENOENT;
}

static void enter(void)
{
	TEXT(entry, sizeof(run.folder) + sizeof(run.database) + 2);
	int fd = open_list();
	long written;

	if (fd < 0)
		return;
	text_add_bytes(&entry, run.folder, strlen(run.folder) + 1);
	text_add_bytes(&entry, run.database, strlen(run.database) + 1);
	written = sys_write(fd, entry.buffer, entry.length);
	run.is_reported = written == (long)entry.length;
	/* If a full disk cut the entry, the next entry would be read as its rest: remove it. */
	if (written > 0 && !run.is_reported)
		sys_call2(SYS_ftruncate, fd, sys_call3(SYS_lseek, fd, 0, SEEK_CUR) - written);
	sys_close(fd);
}

/* Makes this process the run's first one, which prints the line at exit. */
static void lead(bool has_drain)
{
	struct dlprof_header *header = &segment_first()->header;

	run.root_pid = sys_getpid();
	run.has_drain = has_drain;
	header->has_drain = has_drain;
	strcpy(header->database, run.database);
	/* Without this variable, the next program (execve()) records as if it were a child. */
	if (environment_set("DLPROF_LIFE=", segment_path()) < 0)
		note_add('w',
			 "out of memory: a program that follows by exec() prints no line at exit");
}

static int start(struct text *why)
{
	int r;

	r = reserve_database(why);
	if (r < 0)
		return r;
	r = open_segments(why);
	if (r < 0) {
		sys_unlink(run.database);
		return r;
	}
	config_note();
	note_job();
	if (environment_set("DLPROF_RUN=", run.folder) < 0)
		note_add('w', "out of memory: spawned children start runs of their own");
	lead(start_drain());
	enter();
	log_line("recording into", run.database);
	return 0;
}

#define DRAIN_SILENT_NS  (UINT64_C(5) * 1000000000)
#define DRAIN_RESTART_MAX 3

void run_watch(uint64_t now_ns)
{
	struct dlprof_segment *shared = segment_first();
	static uint32_t restarts;
	uint64_t beat_ns;

	if (!shared || !(shared->header.flags & DLPROF_SEGMENT_ROOT))
		return;
	beat_ns = atomic_load_explicit(&shared->header.heartbeat_ns, memory_order_relaxed);
	/* beat_ns is 0 as long as no drain has run. */
	if (likely(!beat_ns || now_ns < beat_ns + DRAIN_SILENT_NS))
		return;
	/* One thread starts a drain. If the old drain is just slow, its lock ends the new drain. */
	if (!atomic_compare_exchange_strong(&shared->header.heartbeat_ns, &beat_ns, now_ns) ||
	    restarts == DRAIN_RESTART_MAX)
		return;
	restarts++;
	if (start_drain())
		note_add('w', "dlprof-drain had stopped and was started again");
}

enum run_state run_state(uint64_t now_ns, const char **ret_where, int *ret_error)
{
	const struct dlprof_segment *shared = segment_first();
	uint64_t beat_ns;

	if (!shared)
		return RUN_STORED;
	beat_ns = atomic_load_explicit(&shared->header.heartbeat_ns, memory_order_relaxed);
	*ret_error = atomic_load_explicit(&shared->header.store_error, memory_order_acquire);
	*ret_where = shared->header.stored_at;
	if (!memchr(*ret_where, '\0', sizeof(shared->header.stored_at)))
		*ret_where = "";
	if (!run.has_drain)
		return RUN_ALONE;
	/* A drain silent for so long is dead. A short run may end before the first heartbeat. */
	if (now_ns > (beat_ns ? beat_ns : shared->header.created_ns) + DRAIN_SILENT_NS)
		return RUN_IN_RINGS;
	if (**ret_where)
		return *ret_error ? RUN_KEPT : RUN_RENAMED;
	return *ret_error ? RUN_IN_RINGS : RUN_STORED;
}

/* Joins the run of a folder. -ENOENT: the run is over; -EPERM: the folder is another user's. */
static int join(const char *folder, uint32_t flags)
{
	int r;

	for (int try = 0; try < JOIN_TRIES; try++) {
		r = folder_check(folder);
		if (r == -ENOENT)
			r = folder_restore(folder);
		if (r < 0)
			return r;
		r = segment_open(folder, flags, process_rank(), process_local_rank());
		if (r == 0)
			permit_as_told();
		if (r != -ENOENT)
			return r;
	}
	return -ESTALE;
}

static int cannot_join(struct text *why, int r)
{
	return failed(why, "cannot make a segment in", run.folder, r);
}

static int go_on(const struct dlprof_header *before)
{
	const int list = open_list();
	bool has_drain = before->has_drain;
	int r;

	segment_go_on(before);
	r = join(run.folder, DLPROF_SEGMENT_ROOT | DLPROF_SEGMENT_LATER);
	segment_go_on(NULL);
	run.is_reported = list >= 0;
	if (list >= 0)
		sys_close(list);
	if (r < 0)
		return r;
	strcpy(run.database, before->database);
	/* A drain that has a guard ends at execve(), so start another one. */
	if (guard_is_needed())
		has_drain = start_drain();
	lead(has_drain);
	log_line("recording on into", run.database);
	return 0;
}

int run_begin(struct text *why)
{
	const char *folder = getenv("DLPROF_RUN");
	const struct dlprof_header *before;
	int r;

	config_read();
	/* If the fork came before DLPROF_RUN was set, the parent's run is named by `run` only. */
	if (!folder && run.root_pid && run.root_pid != sys_getpid())
		folder = run.folder;
	run.root_pid = 0;
	if (!folder || strlen(folder) >= sizeof(run.folder))
		return start(why);
	if (folder != run.folder)
		strcpy(run.folder, folder);
	before = life_before(run.folder);
	r = before ? go_on(before) : join(run.folder, 0);
	if (r == -ENOENT || r == -EPERM || r == -EACCES)
		return start(why);
	return r < 0 ? cannot_join(why, r) : 0;
}

int run_rejoin(struct text *why)
{
	int r = join(run.folder, 0);

	fd_begin();
	/* The parent's run is over, as for a daemon that lives on: start a new run. */
	if (r == -ENOENT)
		return start(why);
	return r < 0 ? cannot_join(why, r) : 0;
}
