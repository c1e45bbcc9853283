/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drain/drain.h"
#include "drain/home.h"
#include "drain/link.h"
#include "launch/child.h"
#include "launch/cmd.h"
#include "launch/runs.h"
#include "store/batch.h"
#include "store/db_open.h"
#include "store/gpu.h"
#include "store/lines.h"
#include "store/tally.h"

#define SECONDS    20
#define ENOUGH     60 /* batches: more would show nothing new */
#define LOOK_MS    100
#define DRAIN_MS   2000 /* it looks six times a second */
#define MOST_SEEN  256
#define SIMULATION "bound"
#define MOST_NOTES 8

/*
 * From this version of CUPTI and a driver of 13.3 on the first subscriber decides: beside one of
 * the old interface, which dlprof has, those of the new one are refused (cupti.h of CUDA 13.3).
 */
#define CUPTI_SECOND_INTERFACE 130300

struct seen {
	pid_t pid;
	bool loaded;
	int without; /* times it was seen without the library, as every process is at first */
	char name[64];
};

struct trial {
	struct doctor *doctor;
	const char *database;
	bool simulated;
	int seconds;
	struct seen seen[MOST_SEEN];
	size_t seen_count;
	size_t loaded_count, without_count;
	char without[64]; /* one of them */
	bool ended;       /* by itself */
	int status;
};

static void look_at(pid_t pid, void *context)
{
	struct trial *trial = context;
	char path[64], line[PATH_MAX + 128], link[PATH_MAX];
	struct seen *seen = NULL;
	ssize_t length;
	FILE *maps;

	for (size_t i = 0; i < trial->seen_count && !seen; i++)
		if (trial->seen[i].pid == pid)
			seen = &trial->seen[i];
	if (!seen && trial->seen_count == MOST_SEEN)
		return;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, link, sizeof(link) - 1);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps || length <= 0) {
		if (maps)
			fclose(maps);
		return;
	}
	link[length] = '\0';
	if (!seen) {
		seen = &trial->seen[trial->seen_count++];
		*seen = (struct seen){.pid = pid};
	}
	snprintf(seen->name, sizeof(seen->name), "%s", strrchr(link, '/') + 1);
	seen->loaded = false;
	while (!seen->loaded && fgets(line, sizeof(line), maps))
		seen->loaded = strstr(line, trial->doctor->preload.library) != NULL;
	fclose(maps);
	seen->without += !seen->loaded;
}

static int64_t count_batches(const char *database)
{
	struct loader_info *loaders = NULL;
	size_t count = 0;
	int64_t batches = 0;
	struct db *db;

	db_limit_anew();
	if (home_open_read(database, &db) < 0)
		return 0;
	if (query_loaders(db, &loaders, &count) < 0)
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
		if (ms % (5 * LOOK_MS) == 0 && count_batches(trial->database) >= ENOUGH)
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

static void judge_preload(struct trial *trial)
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

/* The user's DLPROF_BATCH_FN; NULL: not set. */
static const char *named_loader(const struct trial *trial)
{
	const char *name = getenv("DLPROF_BATCH_FN");

	return name && *name && !trial->simulated ? name : NULL;
}

static void judge_none(struct trial *trial)
{
	const char *name = named_loader(trial);
	const char *fix = name ? "check its spelling, and that this command calls it; give it "
				 "longer with --seconds"
			       : "give it longer with --seconds; name a Python loader of your "
				 "own with DLPROF_BATCH_FN; mark any other loop with dlprof.h";
	char asked[320] = "";

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

/* The variable says "a:b.c", the list of patch points "a.b.c". */
static bool is_point(const char *point, size_t length, const char *name)
{
	if (strlen(name) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (point[i] != name[i] && (point[i] != '.' || name[i] != ':'))
			return false;
	return true;
}

/* DLPROF_BATCH_FN is reported apart from the others, and with what to do about it. */
static void judge_points(struct trial *trial, const char *missing)
{
	const char *name = named_loader(trial);
	char others[600] = "";

	for (size_t length; *missing; missing += length, missing += *missing == ',') {
		length = strcspn(missing, ",");
		if (name && is_point(missing, length, name))
			doctor_say(trial->doctor, DOCTOR_FAIL, "batch_fn",
				   "check its spelling: module:Class.method, where the class is "
				   "defined, or module:function",
				   "DLPROF_BATCH_FN=%.256s names nothing that could be followed",
				   name);
		else
			snprintf(others + strlen(others), sizeof(others) - strlen(others), "%s%.*s",
				 *others ? "," : "", (int)length, missing);
	}
	if (*others)
		doctor_say(trial->doctor, DOCTOR_WARN, "patches",
			   "what they measure is not observed", "not found: %s", others);
}

static void judge_loads(struct trial *trial, struct db *db, const struct loader_info *loader)
{
	const struct batch_filter filter = batch_filter_all(loader->loader_id);
	struct tally_list decoders = {0};
	struct load_totals totals;

	if (batch_totals(db, &filter, &totals) < 0)
		return;
	if (!totals.load_count) {
		doctor_say(trial->doctor, loader->workers > 0 ? DOCTOR_FAIL : DOCTOR_WARN, "loads",
			   loader->workers < 0
				   ? "waits alone give the verdict; mark loads with dlprof.h "
				     "for more"
				   : "if it has workers, LD_PRELOAD has to reach them: see "
				     "`preload`",
			   "of %lld batches no load was seen", (long long)loader->batch_count);
		return;
	}
	doctor_say(trial->doctor,
		   2 * totals.load_count < loader->batch_count ? DOCTOR_WARN : DOCTOR_OK, "loads",
		   "LD_PRELOAD has to reach all workers", "seen for %lld of %lld batches",
		   (long long)totals.load_count, (long long)loader->batch_count);
	if (totals.read_count > 0 || totals.open_count > 0)
		doctor_say(trial->doctor, DOCTOR_OK, "files", "",
			   "loads made %lld reads and opened data files %lld times",
			   (long long)(totals.read_count < 0 ? 0 : totals.read_count),
			   (long long)(totals.open_count < 0 ? 0 : totals.open_count));
	else
		doctor_say(trial->doctor, trial->simulated ? DOCTOR_OK : DOCTOR_WARN, "files",
			   "nothing to do if the data is in memory or mapped",
			   trial->simulated ? "the simulation reads none" : "no load touched one");
	if (!trial->simulated && tally_list_read(db, "decode", 1, &decoders) == 0)
		doctor_say(trial->doctor, DOCTOR_OK, "decoding", "",
			   decoders.count ? "seen: %zu kinds of decoder and format"
					  : "none was seen",
			   decoders.all_count);
	tally_list_done(&decoders);
}

static void judge_lines(struct trial *trial, struct db *db)
{
	struct line_samples samples;

	if (lines_read(db, &samples) == 0 && samples.reason)
		doctor_say(trial->doctor, DOCTOR_WARN, "lines",
			   "nothing else is missing; LINES OF CODE in man 7 dlprof says what they "
			   "need",
			   "lines of code are %s", samples.reason);
	else if (samples.stack_count)
		doctor_say(trial->doctor, DOCTOR_OK, "lines", "", "lines of code are seen");
	lines_free(&samples);
}

/* Of a program that used no CUDA nothing is said. */
static void judge_gpu(struct trial *trial, struct db *db)
{
	struct doctor *doctor = trial->doctor;
	struct gpu_info gpu;

	if (gpu_info_read(db, 0, &gpu) < 0)
		goto out;
	if (gpu.mode && strcmp(gpu.mode, "cupti") == 0)
		doctor_say(doctor, DOCTOR_OK, "cuda", "",
			   "CUPTI %lld was attached and gave %lld records",
			   (long long)gpu.cupti_version,
			   (long long)(gpu.record_count < 0 ? 0 : gpu.record_count));
	else if (gpu.mode && strcmp(gpu.mode, "cudart") == 0)
		doctor_say(doctor, DOCTOR_WARN, "cuda",
			   "GPU in man 7 dlprof says what is seen without CUPTI; DLPROF_LIBCUPTI "
			   "names another libcupti",
			   "only calls of the CUDA runtime are seen, and waits are by the host's "
			   "clock: %s",
			   gpu.reason ? gpu.reason : "CUPTI is not used");
	if (gpu.level_reason)
		doctor_say(doctor, DOCTOR_WARN, "cuda", "nothing else is missing",
			   "not all is recorded that was asked for: %s", gpu.level_reason);
	if (gpu.cupti_version >= CUPTI_SECOND_INTERFACE)
		doctor_say(doctor, DOCTOR_OK, "cuda", "",
			   "with a driver of CUDA 13.3 or newer jax.profiler may find CUPTI taken: "
			   "set DLPROF_CUDA=off in runs in which it has to see the GPU");
out:
	gpu_info_done(&gpu);
}

static void judge_run(struct trial *trial, struct db *db, const struct run_info *run)
{
	char **notes = NULL;
	size_t count = 0;

	if (run->lost_count > 0)
		doctor_say(trial->doctor, DOCTOR_WARN, "losses",
			   "if this happens again, set DLPROF_DETAIL=batches",
			   "%lld records were dropped", (long long)run->lost_count);
	if (run->decoders_hidden && *run->decoders_hidden)
		doctor_say(trial->doctor, DOCTOR_WARN, "decoders",
			   "nothing to do: their time counts in the Python call around them, "
			   "where dlprof knows that call",
			   "copies that cannot be observed: %s", run->decoders_hidden);
	if (run->patch_missing)
		judge_points(trial, run->patch_missing);
	if (!trial->simulated) {
		judge_lines(trial, db);
		judge_gpu(trial, db);
	}
	if (trial->simulated || query_notes(db, &notes, &count) < 0)
		return;
	for (size_t i = 0; i < count; i++) {
		if (i < MOST_NOTES)
			doctor_say(trial->doctor, DOCTOR_WARN, "note", "", "%s", notes[i]);
		free(notes[i]);
	}
	free(notes);
}

static void judge(struct trial *trial)
{
	struct loader_info *loaders = NULL;
	struct run_info run;
	size_t count = 0;
	struct db *db;
	int r;

	r = home_open_read(trial->database, &db);
	if (r < 0) {
		judge_none(trial);
		return;
	}
	r = query_run(db, &run);
	if (r == 0) {
		r = query_loaders(db, &loaders, &count);
		if (r < 0 || !count || !loaders->batch_count) {
			judge_none(trial);
		} else {
			doctor_say(trial->doctor, DOCTOR_OK, "batches", "",
				   trial->simulated ? "%lld of a simulated loader were recorded%s%s"
						    : "%lld were seen, of %s %s",
				   (long long)loaders->batch_count,
				   trial->simulated ? "" : "the loader",
				   trial->simulated ? "" : loaders->kind);
			if (!trial->simulated && trial->doctor->cores &&
			    loaders->workers > trial->doctor->cores)
				doctor_say(
					trial->doctor, DOCTOR_WARN, "workers",
					"with fewer workers the training itself has a core left; "
					"dlprof-report says how many would be enough",
					"%lld workers share %d cores", (long long)loaders->workers,
					trial->doctor->cores);
			judge_loads(trial, db, loaders);
		}
		judge_run(trial, db, &run);
		run_info_done(&run);
	}
	free(loaders);
	db_close(db);
}

/* Finds the program behind the command, and, if that is a Python, which one to ask. */
static bool check_target(struct doctor *doctor)
{
	const char *name = doctor->options->command[0];
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
	if (strncmp(strrchr(target.path, '/') ? strrchr(target.path, '/') + 1 : target.path,
		    "python", 6) == 0)
		snprintf(doctor->python, sizeof(doctor->python), "%s",
			 *target.script ? target.path : name);
	else
		doctor->python[0] = '\0';
	return !problem;
}

/* The drain looks once more after the last process has ended. Leaves no drain behind. */
static void wait_for_drain(const char *database)
{
	char folder[PATH_MAX];

	if (link_find(database, folder, sizeof(folder)) == 0)
		runs_wait_stored(folder, DRAIN_MS);
}

void doctor_trial(struct doctor *doctor)
{
	char *const simulation[] = {(char[]){DEMO_PROGRAM}, (char[]){SIMULATION}, NULL};
	char database[PATH_MAX + 16];
	struct trial *trial;
	struct child child = {.database = database, .output = -1, .errors = -1};
	struct recovered recovered;
	bool given = doctor->options->command[0], runs = !given || check_target(doctor);
	pid_t pid;

	doctor_python(doctor);
	trial = calloc(1, sizeof(*trial));
	if (!runs || !doctor->has_library || !*doctor->folder || !trial) {
		free(trial);
		return;
	}
	snprintf(database, sizeof(database), "%s/run.db", doctor->folder);
	trial->doctor = doctor;
	trial->database = database;
	trial->simulated = !given;
	trial->seconds = doctor->options->seconds > 0 ? (int)doctor->options->seconds : SECONDS;
	child.argv = given ? doctor->options->command : simulation;
	child.file = given ? NULL : "/proc/self/exe";
	if (!doctor->options->quiet)
		child.output = child.errors = STDERR_FILENO;
	pid = child_start(doctor, &child);
	if (pid < 0) {
		doctor_say(doctor, DOCTOR_FAIL, "run", "", "no process can be started: %s",
			   strerror((int)-pid));
	} else {
		watch(trial, pid);
		wait_for_drain(database);
		drain_recover(database, &recovered);
		judge_preload(trial);
		judge(trial);
	}
	free(trial);
}
