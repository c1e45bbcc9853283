/* SPDX-License-Identifier: Apache-2.0 */
#include "record/summary.h"

#define DLPROF_SHIM
#include "dlprof.h"
#include "dlprof/units.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "base/process.h"
#include "base/sys.h"
#include "base/text.h"
#include "record/run.h"
#include "record/segment.h"
#include "record/start.h"

#define ACCOUNT_MAX 64
#define CHILD_MS    500 /* children with less CPU time did nothing but import a framework */

static _Atomic uint64_t batch_count;
static struct dlprof_account earlier; /* sums of this process's earlier programs */
static struct account accounts[ACCOUNT_MAX], pool;
static atomic_bool has_pool, in_doubt;
static _Atomic uint32_t account_count;

/* Returns where sums for the line at exit are kept over execve(); NULL: no line is printed here. */
static struct dlprof_so_far *kept(void)
{
	struct dlprof_segment *shared = segment_first();

	return shared && (shared->header.flags & DLPROF_SEGMENT_ROOT) ? &shared->header.so_far
								      : NULL;
}

void summary_begin(void)
{
	const struct dlprof_so_far *so_far = kept();

	/* A forked child has copies of its parent's accounts, which count there. */
	memset(accounts, 0, sizeof(accounts));
	memset(&pool, 0, sizeof(pool));
	has_pool = in_doubt = false;
	account_count = 0;
	batch_count = 0;
	earlier = (struct dlprof_account){0};
	if (!so_far)
		return;
	in_doubt = so_far->in_doubt;
	earlier = (struct dlprof_account){
		.batches = so_far->batches,
		.time_ns = so_far->time_ns,
		.wait_ns = so_far->wait_ns,
	};
}

struct account *summary_account(void)
{
	const uint32_t at = has_pool ? 0 : atomic_fetch_add(&account_count, 1);

	if (has_pool)
		return &pool;
	return at < ACCOUNT_MAX ? &accounts[at] : NULL;
}

void summary_pool(const struct account *first)
{
	if (has_pool)
		return;
	if (first)
		pool = *first;
	has_pool = true;
}

bool summary_has_pool(void)
{
	return has_pool;
}

void summary_doubt(void)
{
	struct dlprof_so_far *so_far = kept();

	in_doubt = true;
	if (so_far)
		so_far->in_doubt = true;
}

void summary_count(void)
{
	struct dlprof_so_far *so_far = kept();

	atomic_fetch_add_explicit(&batch_count, 1, memory_order_relaxed);
	if (so_far)
		atomic_fetch_add_explicit(&so_far->batches, 1, memory_order_relaxed);
}

void summary_batch(struct account *account, uint64_t end_ns)
{
	summary_count();
	if (!account)
		return;
	account->stepping = true;
	if (account->first_ns)
		return;
	account->first_ns = account->last_ns = end_ns;
	account->first_waited_ns = account->last_waited_ns = account->waited_ns;
}

static uint64_t time_of(const struct account *account)
{
	return account->first_ns ? account->last_ns - account->first_ns : 0;
}

static uint64_t waited_of(const struct account *account)
{
	return account->last_waited_ns - account->first_waited_ns;
}

void summary_keep(const struct account *account)
{
	const uint64_t time_ns = earlier.time_ns + time_of(account);
	struct dlprof_so_far *so_far = kept();

	if (!so_far || time_ns < atomic_load_explicit(&so_far->time_ns, memory_order_relaxed))
		return;
	atomic_store_explicit(&so_far->time_ns, time_ns, memory_order_relaxed);
	atomic_store_explicit(&so_far->wait_ns, earlier.wait_ns + waited_of(account),
			      memory_order_relaxed);
}

/* Returns the account of the thread that trains: the one with the longest waits and steps. */
static const struct account *training(void)
{
	const struct account *longest = &pool;

	if (has_pool)
		return &pool;
	for (uint32_t i = 0; i < ACCOUNT_MAX && i < account_count; i++)
		if (time_of(&accounts[i]) > time_of(longest))
			longest = &accounts[i];
	return longest;
}

/* Returns the path, made relative if it is in the current folder. */
static const char *short_path(const char *path)
{
	char folder[512];
	size_t length;

	if (sys_call2(SYS_getcwd, folder, sizeof(folder)) < 0)
		return path;
	length = strlen(folder);
	if (strncmp(path, folder, length) == 0 && path[length] == '/')
		return path + length + 1;
	return path;
}

void dlprof_account(struct dlprof_account *ret)
{
	const struct account *account = training();

	ret->batches = earlier.batches + batch_count;
	ret->time_ns = earlier.time_ns + time_of(account);
	ret->wait_ns = earlier.wait_ns + waited_of(account);
}

static void add_batches(struct text *line, bool by_gpu)
{
	const int32_t rank = process_rank(), size = process_world_size();
	struct dlprof_account so_far;

	if (rank >= 0 && size > 1)
		text_format(line, "rank %d of %d: ", rank, size);
	dlprof_account(&so_far);
	text_format(line, "%lu %s", so_far.batches, so_far.batches == 1 ? "batch" : "batches");
	if (!so_far.time_ns)
		return;
	if (in_doubt) {
		text_add(line, ", in doubt whose waits these are");
		return;
	}
	/* How long the GPU waited is not known here, only in the drain. */
	text_format(line, ", %s%lu %s", by_gpu ? "the host waited " : "",
		    (so_far.wait_ns * 100 + so_far.time_ns / 2) / so_far.time_ns,
		    by_gpu ? "% of the time for data" : "% of the time waiting for data");
	/* The first batch is start-up, and the last one may have no whole step. */
	if (so_far.batches < VERDICT_BATCHES + 1u + training()->stepping)
		text_add(line, " (too few for a verdict)");
}

static void add_report(struct text *line, const char *before, const char *database,
		       const char *behind)
{
	text_format(line, "%sdlprof-report %s%s", before, short_path(database), behind);
}

/* Where the records are, as far as the drain has confirmed it. */
struct place {
	enum run_state state;
	const char *where;
	int error;
};

static void add_place(struct text *line, const char *database, const struct place *place)
{
	if (place->error)
		text_format(line, "; %s cannot be written (%s)", short_path(database),
			    text_error(place->error));
	switch (place->state) {
	case RUN_STORED:
		add_report(line, ", ", database, "");
		break;
	case RUN_RENAMED:
		add_report(line, ", ", place->where, "");
		break;
	case RUN_KEPT:
		text_format(line, ": kept in %s", place->where);
		add_report(line, ", ", database, " reads it");
		break;
	case RUN_ALONE:
		add_report(line, "; dlprof-drain, which belongs beside libdlprof.so, could not be "
				 "started: ", database, " has what fitted into memory");
		break;
	case RUN_IN_RINGS:
		add_report(line, place->error ? ": " : "; dlprof-drain does not answer: ", database,
			   " adds what is still in memory");
		break;
	}
}

static bool is_stored(const struct place *place)
{
	return !place->error && (place->state == RUN_STORED || place->state == RUN_RENAMED);
}

static void print(struct text *line)
{
	if (line->cut)
		line->length--;
	text_add(line, "\n");
	log_stderr(line->buffer, line->length);
}

static bool has_children(void)
{
	return sys_call4(SYS_waitid, P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static bool is_helper(void)
{
	struct rusage used = {{0}};
	char command[256];

	if (has_children())
		return true;
	/* A child's memory says nothing, as a forked child begins with all of ours. */
	sys_call2(SYS_getrusage, RUSAGE_CHILDREN, &used);
	if ((used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
		    (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000 >
	    CHILD_MS)
		return true;
	process_command(command, sizeof(command));
	return strstr(command, "multiprocessing");
}

/* Returns true in the job's first rank or, if that is not known, in each machine's first rank. */
static bool is_first_rank(void)
{
	return process_rank() >= 0 ? process_rank() == 0 : process_local_rank() <= 0;
}

void summary_print_unseen(const char *package)
{
	TEXT(line, 256);

	if (!package || getenv("DLPROF_RUN") || !is_first_rank() || is_helper())
		return;
	config_read();
	if (config.quiet)
		return;
	/* The line is about this process only, as its parent may have had a loader. */
	text_format(&line,
		    "dlprof: %s was imported, but no loader was seen in process %d to hand out a "
		    "batch: 'dlprof doctor' says what would be seen here, DLPROF_BATCH_FN names a "
		    "loader of your own",
		    package, sys_getpid());
	print(&line);
}

void summary_print(bool by_gpu)
{
	const char *database = run_database();
	struct place place = {.where = ""};
	TEXT(line, 5000);

	if (config.quiet || (!database && !start_failure()))
		return;
	place.state = run_state(clock_now_ns(), &place.where, &place.error);
	if (database && (run_is_reported() || !is_first_rank()) && is_stored(&place))
		return;
	text_add(&line, "dlprof: ");
	if (database) {
		add_batches(&line, by_gpu);
		add_place(&line, database, &place);
	} else {
		text_format(&line, "nothing was recorded: %s", start_failure());
	}
	print(&line);
}
