/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/statistics/array.h"
#include "dlprof/units.h"
#include "dlprof/written.h"
#include "drain/base/now.h"
#include "drain/database/home.h"
#include "drain/drain.h"
#include "launch/doctor/child.h"
#include "launch/runs.h"
#include "launch/tune/tune.h"
#include "store/database/db_open.h"
#include "store/run/batch.h"

#define PAUSE_MS      20
#define GONE_MS       10000
#define FEWEST_TIMED  10
#define LOG_END_BYTES 4096

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
	is_interrupted = number;
}

void tune_catch_signals(void)
{
	const struct sigaction action = {.sa_handler = interrupt};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	child_adopt();
}

double tune_now_s(void)
{
	return (double)now_ns() / NS_PER_S;
}

uint64_t tune_time_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Becomes the command in a new session, so that Ctrl-C ends only tune. */
static void become(const struct tune *tune, const char *database, const char *log, const char *set,
		   size_t stop_after)
{
	int in = open("/dev/null", O_RDONLY), out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	char **command = tune->options->command;
	char count[24], earlier[64];

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	snprintf(count, sizeof(count), "%zu", stop_after);
	setenv("DLPROF_OUT", database, 1);
	setenv("DLPROF_STOP_AFTER", count, 1);
	snprintf(earlier, sizeof(earlier), "%" PRIu64 "-%" PRIu64, tune->begin_ms,
		 tune_time_ms());
	setenv("DLPROF_EARLIER", earlier, 1);
	setenv("DLPROF_QUIET", "1", 1);
	if (set)
		setenv("DLPROF_SET", set, 1);
	preload_set(&tune->preload, &tune->target);
	execvp(command[0], command);
	fprintf(stderr, "cannot run '%s': %s\n", command[0], strerror(errno));
	_exit(LAUNCH_CANNOT_RUN);
}

static bool reap(pid_t pid, int *status)
{
	bool is_done = false;
	int other;

	for (pid_t one; (one = waitpid(-1, &other, WNOHANG)) > 0;) {
		if (one != pid)
			continue;
		*status = other;
		is_done = true;
	}
	return is_done;
}

/* Ends all processes of a run: workers that stay would disturb the next run. */
static void end_rest(pid_t session)
{
	for (int ms = 0; ms < GONE_MS; ms += PAUSE_MS) {
		int status;

		reap(-1, &status);
		if (!child_signal(session, SIGKILL))
			return;
		poll(NULL, 0, PAUSE_MS);
	}
}

/* Reads from a log why a run failed: the line about a full /dev/shm, else the last line. */
static void last_line(const char *log, char *ret, size_t size)
{
	static const char full[] = "insufficient shared memory";
	char text[LOG_END_BYTES + 1], *end;
	FILE *file = fopen(log, "re");
	size_t length;

	*ret = '\0';
	if (!file)
		return;
	if (fseek(file, -LOG_END_BYTES, SEEK_END) < 0)
		rewind(file);
	length = fread(text, 1, LOG_END_BYTES, file);
	fclose(file);
	while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
		length--;
	/* PyTorch first names a full /dev/shm; the errors after that vary. */
	end = memmem(text, length, full, strlen(full));
	if (end)
		length = (size_t)(end - text) + strcspn(end, "\n");
	text[length] = '\0';
	snprintf(ret, size, "%.150s",
		 memrchr(text, '\n', length) ? (char *)memrchr(text, '\n', length) + 1 : text);
}

static void say_why(int status, const char *log, char *ret, size_t size)
{
	char line[TUNE_REASON - 40];

	last_line(log, line, sizeof(line));
	if (WIFSIGNALED(status))
		snprintf(ret, size, "killed by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(ret, size, "ended with status %d%s%s", WEXITSTATUS(status),
			 *line ? ": " : "", line);
}

struct arrival {
	double at_s, wait_s;
};

struct times {
	struct arrival *arrivals;
	size_t count;
	size_t wave;     /* most workers of a loader: as many batches may come at once */
	size_t measured; /* number of batches that are measured, after the first ones */
	double waited_s; /* how long the measured batches were waited for */
};

static int add_time(const struct batch_record *batch, void *context)
{
	struct times *times = context;

	if (batch->begin_ns == UNKNOWN || batch->wait_ns == UNKNOWN)
		return 0;
	if (!ARRAY_GROW(times->arrivals, times->count))
		return -ENOMEM;
	times->arrivals[times->count++] = (struct arrival){
		.at_s = (double)(batch->begin_ns + batch->wait_ns) / 1e9,
		.wait_s = (double)batch->wait_ns / 1e9,
	};
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct arrival *a = left, *b = right;

	return (a->at_s > b->at_s) - (a->at_s < b->at_s);
}

static bool is_set(struct db *db, enum dlprof_set key)
{
	char **changes = NULL, word[48];
	size_t count = 0;
	bool found = false;

	snprintf(word, sizeof(word), " %s ", dlprof_set_rows[key].key);
	query_set(db, &changes, &count);
	for (size_t i = 0; i < count; i++) {
		found |= strstr(changes[i], word) != NULL;
		free(changes[i]);
	}
	free(changes);
	return found;
}

static void read_resumed(struct db *db, struct tune_run *run)
{
	char **notes = NULL;
	size_t count = 0;

	query_notes(db, &notes, &count);
	for (size_t i = 0; i < count; i++) {
		const size_t begins = strlen(DLPROF_RESUMED);

		if (strncmp(notes[i], DLPROF_RESUMED, begins) == 0 &&
		    !strstr(run->resumed, notes[i] + begins))
			page_append(run->resumed, sizeof(run->resumed), "%s%s",
				    *run->resumed ? ", " : "", notes[i] + begins);
		free(notes[i]);
	}
	free(notes);
}

static void read_loaders(struct db *db, size_t skip, struct times *times)
{
	struct loader_info *loaders = NULL;
	size_t count = 0;

	if (query_loaders(db, &loaders, &count) < 0)
		count = 0;
	for (size_t i = 0; i < count; i++) {
		struct batch_filter filter = batch_filter_all(loaders[i].loader_id);

		if (loaders[i].nested)
			continue;
		batch_each(db, &filter, add_time, times);
		if (loaders[i].workers > (int64_t)times->wave)
			times->wave = (size_t)loaders[i].workers;
	}
	free(loaders);
	qsort(times->arrivals, times->count, sizeof(*times->arrivals), by_time);
	times->measured = times->count > skip + FEWEST_TIMED ? times->count - 1 - skip : 0;
	/* Only whole waves are measured: a part of a wave would raise the rate. */
	if (times->wave && times->measured >= 2 * times->wave)
		times->measured -= times->measured % times->wave;
	for (size_t i = skip + 1; i <= skip + times->measured; i++)
		times->waited_s += times->arrivals[i].wait_s;
}

/* What the databases of a run say: one for each rank, or for each program that ran in turn. */
struct reading {
	const struct tune *tune;
	const struct tune_trial *trial;
	struct tune_run *run;
	struct times times; /* times of the rank whose database is run->database */
};

/*
 * In each step, ranks wait for the slowest one. So all runs measure one rank: the one that waited
 * most in the base run.
 */
static void read_database(const char *database, void *context)
{
	struct reading *reading = context;
	struct tune_run *run = reading->run;
	struct times times = {0};
	struct run_info info = {0};
	struct recovered recovered;
	struct db *db;

	drain_recover(database, &recovered);
	if (home_open_read(database, &db) < 0)
		return;
	run->is_set |= !reading->trial || is_set(db, reading->trial->candidate->key);
	read_resumed(db, run);
	read_loaders(db, reading->tune->skip, &times);
	if (query_run(db, &info) == 0 && times.count &&
	    (!*reading->tune->first || info.rank == reading->tune->rank) &&
	    (!*run->database ||
	     (info.rank != run->rank && times.waited_s > reading->times.waited_s))) {
		struct times other = reading->times;

		reading->times = times;
		times = other;
		run->rank = info.rank;
		snprintf(run->database, sizeof(run->database), "%s", database);
	}
	run_info_done(&info);
	free(times.arrivals);
	db_close(db);
}

static void measure(const struct tune *tune, struct runs *runs, const struct tune_trial *trial,
		    struct tune_run *ret)
{
	struct reading reading = {.tune = tune, .trial = trial, .run = ret};
	const struct times *times = &reading.times;

	runs_take(runs, read_database, &reading);
	ret->batch_count = times->count;
	if (times->measured)
		ret->per_s = (double)times->measured /
			     (times->arrivals[tune->skip + times->measured].at_s -
			      times->arrivals[tune->skip].at_s);
	else if (!*ret->died && !times->count && *tune->resumed)
		snprintf(ret->died, sizeof(ret->died),
			 "took no batch; earlier runs resumed from %.120s", tune->resumed);
	else if (!*ret->died && !times->count)
		snprintf(ret->died, sizeof(ret->died),
			 "ended, and no batch of a loader was seen in it (dlprof doctor says why)");
	else if (!*ret->died)
		snprintf(ret->died, sizeof(ret->died),
			 "ended after %zu batches, too few to measure", times->count);
	free(times->arrivals);
}

static int wait_for(pid_t pid, double end_s, bool *is_late)
{
	int status = 0;

	while (!reap(pid, &status)) {
		*is_late = tune_now_s() > end_s;
		if (is_interrupted || *is_late) {
			child_signal(pid, SIGKILL);
			kill(pid, SIGKILL);
		}
		poll(NULL, 0, PAUSE_MS);
	}
	return status;
}

int tune_run(const struct tune *tune, const char *name, const struct tune_trial *trial,
	     size_t stop_after, double most_s, struct tune_run *ret)
{
	char database[PATH_MAX + 80], log[PATH_MAX + 80];
	const double begin_s = tune_now_s();
	struct runs runs;
	bool is_late = false;
	int status, r;
	pid_t pid;

	*ret = (struct tune_run){.per_s = NAN};
	snprintf(database, sizeof(database), "%s/%s.db", tune->folder, name);
	snprintf(log, sizeof(log), "%s/%s.log", tune->folder, name);
	r = runs_begin(&runs);
	if (r < 0)
		return r;
	pid = fork();
	if (!pid)
		become(tune, database, log, trial ? trial->set : NULL, stop_after);
	if (pid < 0) {
		r = -errno;
		runs_drop(&runs);
		return r;
	}
	status = wait_for(pid, begin_s + most_s, &is_late);
	end_rest(pid);
	ret->seconds = tune_now_s() - begin_s;
	ret->is_late = is_late;
	if (is_late)
		snprintf(ret->died, sizeof(ret->died), "did not end within %.0f s", most_s);
	else if (status)
		say_why(status, log, ret->died, sizeof(ret->died));
	measure(tune, &runs, trial, ret);
	if (is_interrupted)
		return -EINTR;
	ret->by_itself = !is_late && ret->batch_count < stop_after;
	return 0;
}
