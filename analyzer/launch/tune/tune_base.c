/* SPDX-License-Identifier: Apache-2.0 */
/* tune_base.c - reads runs: the base run's predictions, the machine's room, workers' limits. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "dlprof/written.h"
#include "drain/machine/cgroup.h"
#include "launch/tune/tune.h"
#include "report/run/judge.h"

#define MOST_TIMES 8 /* tune tries at most 8 times the run's workers */

static struct tune_room find_room(const struct report *report)
{
	const struct load_facts *facts = &report->facts;
	struct tune_room room = {
		.worker_bytes = facts->private_end_bytes,
		.free_bytes = cgroup_free_bytes("", getpid()),
		.batch_bytes = facts->batch_bytes,
		.shm_bytes = NAN,
		.lacks_order = report->loader->lacks_order == 1,
	};
	struct statvfs shm;

	if (statvfs("/dev/shm", &shm) == 0)
		room.shm_bytes = (double)shm.f_bavail * (double)shm.f_frsize;
	return room;
}

/* Copies the place of a loader, without " in FUNCTION"; "" if --set cannot name it. */
static void copy_place(const char *place, char ret[TUNE_PLACE])
{
	size_t length = strstr(place, " in ") ? (size_t)(strstr(place, " in ") - place)
					      : strlen(place);

	*ret = '\0';
	if (length < TUNE_PLACE && strcspn(place, ",;=") >= length)
		snprintf(ret, TUNE_PLACE, "%.*s", (int)length, place);
}

const char *tune_value(const struct tune_candidate *c, char *buffer, size_t size)
{
	const char *word = dlprof_set_rows[c->key].words;

	for (int32_t i = 0; *word && i < c->value; i++)
		word += strcspn(word, "|") + 1;
	if (*word)
		snprintf(buffer, size, "%.*s", (int)strcspn(word, "|"), word);
	else
		snprintf(buffer, size, "%d", (int)c->value);
	return buffer;
}

const char *tune_setting(const struct tune_candidate *c, char *buffer, size_t size)
{
	char value[32];

	snprintf(buffer, size, "%s=%s", dlprof_set_rows[c->key].key,
		 tune_value(c, value, sizeof(value)));
	return buffer;
}

static void write_setting(const struct tune *tune, struct tune_trial *trial)
{
	const struct tune_candidate *c = trial->candidate;
	const char *before = getenv("DLPROF_SET"), *place = tune->place;
	char setting[TUNE_SETTING];

	if (dlprof_set_rows[c->key].scope == DLPROF_SET_PROGRAM)
		place = "";
	snprintf(trial->set, sizeof(trial->set), "%s%s%s%s%s", before ? before : "",
		 before && *before ? ";" : "", place, *place ? ":" : "",
		 tune_setting(c, setting, sizeof(setting)));
}

/*
 * Predicts a run with N workers, N = mean load / mean step: N suffice if loads mostly sleep. For a
 * run without workers N is unknown, so one worker for each core is tried.
 */
static int ask_needed(struct report *report)
{
	const struct finding *f = &report->finding;
	const double now = fmax(1, report->series.workers);
	const double need = ceil(report->series.workers ? f->rho * now : report->series.cores);
	const struct whatif_wish wish = {
		.text = "workers",
		.workers = (int32_t)fmin(need, MOST_TIMES * now),
		.prefetch_factor = -1,
		.in_order = -1,
		.load_factor = NAN,
		.persistent = -1,
	};

	if (!(need > report->series.workers) || report->diagnosis.whatif.has_fixed_workers)
		return 0;
	return whatif_ask(&report->series, f, &wish, 1, &report->diagnosis.whatif);
}

static void take(struct tune *tune, const struct report *report)
{
	const struct tune_room room = find_room(report);
	const struct whatif *whatif = &report->diagnosis.whatif;

	snprintf(tune->kind, sizeof(tune->kind), "%s", report->loader->kind);
	copy_place(report->loader->place, tune->place);
	tune->rank = report->run.rank;
	tune->world_size = report->run.world_size;
	tune->is_iterable = strstr(tune->kind, "(iterable)");
	tune->stall_ratio = report->finding.stall_ratio;
	tune->gap = whatif_gap_words[whatif->gap];
	tune->cores = report->series.cores;
	if (series_has_others(&report->series))
		tune->other_cores = report->series.other_cores;
	tune->candidate_count =
		tune_choose(whatif, &room, !isnan(report->diagnosis.grounds.threads),
			    tune->candidates);
	for (size_t i = 0; i < tune->candidate_count; i++) {
		struct tune_trial *trial = &tune->trials[tune->trial_count];

		if (tune->candidates[i].choice != TUNE_TRY)
			continue;
		trial->candidate = &tune->candidates[i];
		write_setting(tune, trial);
		tune->trial_count++;
	}
	for (size_t i = 0; i < report->note_count; i++)
		if (strncmp(report->notes[i], DLPROF_WROTE, strlen(DLPROF_WROTE)) == 0)
			snprintf(tune->wrote, sizeof(tune->wrote), "%s",
				 report->notes[i] + strlen(DLPROF_WROTE));
}

static int judge(const char *database, struct options *options, struct report *report)
{
	char *argv[] = {(char[]){"dlprof-report"}, (char *)database, NULL};

	*report = (struct report){0};
	if (options_parse(options, 2, argv) < 0)
		return launch_fail("%s", options->line.problem);
	return judge_run(options, database, true, report);
}

int tune_read_base(struct tune *tune, const struct tune_run *base)
{
	struct options options;
	struct report report;
	int status = judge(base->database, &options, &report);

	if (!status && !report.loader)
		status = launch_fail("no batch of a loader was seen");
	else if (!status && !strstr(report.loader->kind, "DataLoader"))
		status = launch_fail("only PyTorch's loaders can be given other settings, not one "
				     "of %s: dlprof-report %s says what to change in the code",
				     report.loader->kind, base->database);
	else if (!status && ask_needed(&report) < 0)
		status = launch_fail("%s", strerror(ENOMEM));
	else if (!status)
		take(tune, &report);
	snprintf(tune->first, sizeof(tune->first), "%s", base->database);
	judge_done(&report);
	return status;
}

void tune_read_shared(struct tune *tune)
{
	struct options options;
	struct report base, report;
	struct compared compared;
	int status;

	if (!*tune->database)
		return;
	status = judge(tune->database, &options, &base);
	for (size_t i = 0; !status && i < tune->trial_count; i++) {
		struct tune_trial *trial = &tune->trials[i];

		if (trial->candidate->key != DLPROF_SET_WORKERS || !*trial->database ||
		    trial->verdict == TUNE_PROVEN || trial->verdict == TUNE_DIED)
			continue;
		if (!judge(trial->database, &options, &report) &&
		    !judge_compare(&options, &base, &report, &compared) &&
		    trial->candidate->value > trial->candidate->before)
			compare_shared(&compared, trial->shared, sizeof(trial->shared));
		judge_done(&report);
	}
	judge_done(&base);
}
