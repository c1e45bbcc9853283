/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drain/database/home.h"
#include "drain/drain.h"
#include "drain/modules/maps.h"
#include "drain/segments/folder.h"
#include "launch/cmd.h"
#include "launch/doctor/child.h"
#include "launch/runs.h"
#include "store/database/db_open.h"
#include "store/run/batch.h"

#define SECONDS        20
#define IMPORT_SECONDS 60 /* longest that an import of PyTorch may take, over a network */
#define ENOUGH         60 /* number of batches after which the trial run ends */
#define LOOK_MS        100
#define DRAIN_MS       2000 /* longest wait for the drain, which looks twice a second */
#define MOST_SEEN      256
#define SIMULATION     "bound"

#define NO_TORCH "77"
static char LOOP[] = "try:\n"
		     "    import torch.utils.data as d\n"
		     "except ImportError:\n"
		     "    raise SystemExit(" NO_TORCH ")\n"
		     "for _ in d.DataLoader(range(640), 8, num_workers=2):\n"
		     "    pass\n";

struct seen {
	pid_t pid;
	bool loaded;
	int without; /* looks that found no libdlprof.so mapped; one such look is usual */
	char name[64];
};

struct trial {
	struct doctor *doctor;
	const char *what; /* what ran instead of the user's command, in words; NULL: the command */
	int seconds;
	struct seen seen[MOST_SEEN];
	size_t seen_count;
	size_t loaded_count, without_count;
	char without[64];
	bool ended;
	int status;
};

static int find_library(void *context, const struct maps_line *line)
{
	const struct trial *trial = context;

	return strstr(line->path, trial->doctor->preload.library) != NULL;
}

static void look_at(pid_t pid, void *context)
{
	struct trial *trial = context;
	char path[64], link[PATH_MAX];
	struct seen *seen = NULL;
	ssize_t length;
	int found;

	for (size_t i = 0; i < trial->seen_count && !seen; i++)
		if (trial->seen[i].pid == pid)
			seen = &trial->seen[i];
	if (!seen && trial->seen_count == MOST_SEEN)
		return;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, link, sizeof(link) - 1);
	found = maps_each(pid, find_library, trial);
	if (found < 0 || length <= 0)
		return;
	link[length] = '\0';
	if (!seen) {
		seen = &trial->seen[trial->seen_count++];
		*seen = (struct seen){.pid = pid};
	}
	snprintf(seen->name, sizeof(seen->name), "%s", strrchr(link, '/') + 1);
	seen->loaded = found;
	seen->without += !seen->loaded;
}

/* Lists the loaders of the run; the first has the most time. Returns 0 or -errno. */
static int read_loaders(const struct doctor *doctor, struct db **ret_db, struct loader_info **ret,
			size_t *ret_count)
{
	int r;

	*ret = NULL;
	*ret_count = 0;
	r = home_open_read(doctor->database, ret_db);
	return r < 0 ? r : query_loaders(*ret_db, ret, ret_count);
}

static int64_t count_batches(const struct doctor *doctor)
{
	struct loader_info *loaders;
	struct db *db = NULL;
	int64_t batches = 0;
	size_t count;

	if (read_loaders(doctor, &db, &loaders, &count) < 0)
		count = 0;
	for (size_t i = 0; i < count; i++)
		batches += loaders[i].batch_count;
	free(loaders);
	db_close(db);
	return batches;
}

static void watch(struct trial *trial, pid_t pid)
{
	for (int ms = 0; ms < trial->seconds * 1000; ms += LOOK_MS) {
		if (waitpid(pid, &trial->status, WNOHANG) == pid) {
			trial->ended = true;
			break;
		}
		child_each(pid, look_at, trial);
		if (ms % (5 * LOOK_MS) == 0 && count_batches(trial->doctor) >= ENOUGH)
			break;
		poll(NULL, 0, LOOK_MS);
	}
	child_end(pid);
	for (size_t i = 0; i < trial->seen_count; i++) {
		if (trial->seen[i].loaded) {
			trial->loaded_count++;
		} else if (trial->seen[i].without > 1) {
			trial->without_count++;
			snprintf(trial->without, sizeof(trial->without), "%s", trial->seen[i].name);
		}
	}
}

static void judge_preload(const struct trial *trial)
{
	if (trial->without_count)
		doctor_say(trial->doctor, DOCTOR_FAIL, "preload",
			   "pass the environment on: no sudo or env -i in front, and "
			   "env=os.environ where workers are started",
			   "%zu processes (one is %s) ran without the library: LD_PRELOAD did not "
			   "reach them",
			   trial->without_count, trial->without);
	else if (trial->loaded_count)
		doctor_say(trial->doctor, DOCTOR_OK, "preload", "",
			   "the library was in all %zu processes that were looked at",
			   trial->loaded_count);
}

static const char *named_loader(const struct trial *trial)
{
	const char *name = getenv("DLPROF_BATCH_FN");

	return name && *name && !trial->what ? name : NULL;
}

static void judge_none(const struct trial *trial)
{
	const char *name = named_loader(trial);
	const char *longer = trial->ended ? "" : "give it longer with --seconds; ";
	const char *other = name ? "check its spelling, and that this command calls it"
				 : "name a Python loader of your own with DLPROF_BATCH_FN; mark "
				   "any other loop with dlprof.h";
	static char fix[160]; /* static: doctor_say() keeps it until all checks are printed */
	char asked[320] = "";

	snprintf(fix, sizeof(fix), "%s%s", longer, other);

	if (name)
		snprintf(asked, sizeof(asked),
			 ", and what DLPROF_BATCH_FN names (%.256s) was never called", name);
	if (trial->ended && WIFEXITED(trial->status))
		doctor_say(trial->doctor, DOCTOR_FAIL, "batches", fix,
			   "no loader was seen%s; the command ended with status %d", asked,
			   WEXITSTATUS(trial->status));
	else
		doctor_say(trial->doctor, DOCTOR_FAIL, "batches", fix,
			   "no batch was seen in %d s%s", trial->seconds, asked);
}

/* Writes "a:b.c,d.e" as ",a.b.c,d.e,", in which strstr() can look for whole names. */
static void spell(char *text, size_t size, const char *points)
{
	snprintf(text, size, ",%s,", points);
	for (; (text = strchr(text, ':')); *text = '.')
		continue;
}

static void judge_named(const struct trial *trial, struct db *db)
{
	const char *name = named_loader(trial);
	char point[512], list[4096];
	struct run_info run;

	if (!name || query_run(db, &run) < 0)
		return;
	spell(point, sizeof(point), name);
	spell(list, sizeof(list), run.patch_missing ? run.patch_missing : "");
	if (strstr(list, point))
		doctor_say(trial->doctor, DOCTOR_FAIL, "batch_fn",
			   "check its spelling: module:Class.method, where the class is "
			   "defined, or module:function",
			   "DLPROF_BATCH_FN=%.256s names nothing that could be followed", name);
	run_info_done(&run);
}

static void judge_loads(const struct trial *trial, struct db *db, const struct loader_info *loader)
{
	const struct batch_filter filter = batch_filter_all(loader->loader_id);
	struct load_totals totals;

	if (batch_totals(db, &filter, &totals) < 0)
		return;
	if (totals.load_count)
		doctor_say(trial->doctor,
			   2 * totals.load_count < loader->batch_count ? DOCTOR_WARN : DOCTOR_OK,
			   "loads", "LD_PRELOAD has to reach all workers",
			   "seen for %lld of %lld batches", (long long)totals.load_count,
			   (long long)loader->batch_count);
	else
		doctor_say(trial->doctor, loader->workers > 0 ? DOCTOR_FAIL : DOCTOR_WARN, "loads",
			   loader->workers < 0
				   ? "waits alone give the verdict; mark loads with dlprof.h "
				     "for more"
				   : "if it has workers, LD_PRELOAD has to reach them: see "
				     "`preload`",
			   "of %lld batches no load was seen", (long long)loader->batch_count);
}

static void judge(const struct trial *trial)
{
	struct loader_info *loaders;
	struct db *db = NULL;
	size_t count;

	if (read_loaders(trial->doctor, &db, &loaders, &count) < 0 || !count ||
	    !loaders->batch_count) {
		judge_none(trial);
	} else {
		doctor_say(trial->doctor, DOCTOR_OK, "batches", "", "%lld were seen, of %s %s",
			   (long long)loaders->batch_count,
			   trial->what ? trial->what : "the loader",
			   trial->what ? "" : loaders->kind);
		judge_loads(trial, db, loaders);
	}
	if (db)
		judge_named(trial, db);
	free(loaders);
	db_close(db);
}

static bool check_target(struct doctor *doctor)
{
	const char *name = doctor->options->command[0], *why;
	enum target_problem problem;
	struct target target;
	int r = target_find(name, &target);

	if (r < 0) {
		doctor_say(doctor, DOCTOR_FAIL, "command",
			   r == -ENOENT ? "name a program that is there, or an interpreter first: "
					  "python train.py"
					: "make it executable, or name an interpreter first: "
					  "python train.py",
			   "'%s' cannot be run: %s", target.path[0] ? target.path : name,
			   strerror(-r));
		return false;
	}
	problem =
		doctor->has_library ? target_problem(&target, &doctor->preload.image) : TARGET_FINE;
	doctor_say(doctor, problem ? DOCTOR_FAIL : DOCTOR_OK, "command",
		   target_words[problem].fix ? target_words[problem].fix : "", "'%s'%s%s%s",
		   target.path, *target.script ? ", which runs the script, " : " ",
		   problem ? target_words[problem].text : "can be preloaded",
		   *target.asan ? "; its AddressSanitizer is loaded first" : "");
	why = problem ? NULL : target_unfollowed(&target);
	if (why)
		doctor_say(doctor, DOCTOR_WARN, "python",
			   "use another Python, or mark the loop with dlprof.h",
			   "'%s' %s: its loaders cannot be followed", target.path, why);
	return !problem;
}

static int run(struct trial *trial, char *const argv[], const char *file)
{
	struct doctor *doctor = trial->doctor;
	const struct child child = {
		.file = file, .argv = argv, .is_silent = doctor->options->quiet};
	char segments[PATH_MAX];
	struct recovered recovered;
	pid_t pid = child_start(doctor, &child);

	if (pid < 0)
		return (int)pid;
	watch(trial, pid);
	/* After the end of the last process, the drain looks for records once more. */
	if (link_find(doctor->database, segments, sizeof(segments)) == 0)
		runs_wait_stored(segments, DRAIN_MS);
	drain_recover(doctor->database, &recovered);
	return 0;
}

/* Runs a loop over PyTorch's loader. Returns false if Python has no PyTorch. */
static bool run_loop(struct trial *trial, int *ret)
{
	char *const argv[] = {(char[]){"python3"}, (char[]){"-c"}, LOOP, NULL};
	struct target target;

	if (target_find(argv[0], &target) < 0 ||
	    target_problem(&target, &trial->doctor->preload.image))
		return false;
	trial->what = "a loop over the loader of python3's PyTorch";
	*ret = run(trial, argv, NULL);
	return *ret < 0 || !trial->ended || !WIFEXITED(trial->status) ||
	       WEXITSTATUS(trial->status) != atoi(NO_TORCH);
}

static int try(struct trial *trial)
{
	char *const simulation[] = {(char[]){DEMO_PROGRAM}, (char[]){SIMULATION}, NULL};
	const struct trial before = *trial;
	int r = 0;

	if (trial->doctor->options->command[0])
		return run(trial, trial->doctor->options->command, NULL);
	if (run_loop(trial, &r))
		return r;
	*trial = before;
	trial->what = "a simulated loader";
	return run(trial, simulation, "/proc/self/exe");
}

void doctor_trial(struct doctor *doctor)
{
	const bool given = doctor->options->command[0];
	struct trial *trial = calloc(1, sizeof(*trial));
	int r;

	if ((given && !check_target(doctor)) || !doctor->has_library || !*doctor->folder ||
	    !trial) {
		free(trial);
		return;
	}
	trial->doctor = doctor;
	trial->seconds = doctor->options->seconds > 0 ? (int)doctor->options->seconds
			 : given                      ? SECONDS
						      : IMPORT_SECONDS;
	r = try(trial);
	if (r < 0) {
		doctor_say(doctor, DOCTOR_FAIL, "run", "", "no process can be started: %s",
			   strerror(-r));
	} else {
		judge_preload(trial);
		judge(trial);
	}
	free(trial);
}
