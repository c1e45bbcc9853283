/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tune.c - `dlprof tune CMD...`: records a base run, then tries settings in rounds of runs. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/tune/tune.h"
#include "render/form/units.h"

#define FIRST_BATCHES  128 /* number of batches that suffices to predict from */
#define FIRST_LEAST_S  20  /* the first run may take this long, whatever --max-time is */
#define MEASURED_LEAST 100
#define MEASURED_S     20
#define ROUNDS	       5
#define RUN_LEAST_S    120
#define RUN_TIMES      5   /* a run may take 5 times as long as the base run */
#define SAFE	       0.9 /* only this share of --max-time is planned for runs */
#define SKIPPED	       8   /* first batches, apart from those loaded ahead, that are not measured */

static int make_folder(struct tune *tune)
{
	const char *given = tune->options->output;

	if (given)
		snprintf(tune->folder, sizeof(tune->folder), "%s", given);
	else
		snprintf(tune->folder, sizeof(tune->folder), "dlprof-tune-%d", (int)getpid());
	if (mkdir(tune->folder, 0777) < 0)
		return launch_fail("cannot make '%s': %s; name another with -o", tune->folder,
				   strerror(errno));
	return 0;
}

/* Shows on a line of stderr which run is under way; clears this line if `name` is NULL. */
static void show_progress(const struct tune *tune, const char *name, double left_s)
{
	if (!isatty(STDERR_FILENO) || tune->options->quiet)
		return;
	fputs("\r\033[K", stderr);
	if (name && isnan(left_s))
		fprintf(stderr, "dlprof tune: %s", name);
	else if (name)
		fprintf(stderr, "dlprof tune: run %zu of %zu at most, %s; up to %s left",
			tune->run_count + 1, tune->run_count + tune->runs_left, name,
			UNITS_TIME(left_s * 1e9));
}

static double start_s(const struct tune_run *base)
{
	return fmax(0, base->seconds - (double)base->batch_count / base->per_s);
}

/* Returns how long a run takes: the mean of the runs or, if only the base run ended, a forecast. */
static double run_s(const struct tune *tune, const struct tune_run *base)
{
	if (tune->run_count > 1)
		return tune->run_seconds / (double)(tune->run_count - 1);
	return start_s(base) + (double)tune->stop_after / base->per_s;
}

/* Returns the number of runs in these rounds, if each round tries all settings. */
static size_t runs_of(size_t rounds, size_t settings)
{
	return rounds * (settings + 1) + 1;
}

/*
 * Chooses the batches to measure, which are the same in all runs. There are fewer if --max-time has
 * no room for the rounds that can prove a gain. The first batches are skipped, because they may
 * have been loaded ahead. If the base run ended by itself, its last batch is left out.
 */
static void plan(struct tune *tune, const struct tune_run *base)
{
	const struct launch_options *options = tune->options;
	const double most_s = (double)options->max_time - (tune_now_s() - tune->begin_s);
	const double most_run_s = SAFE * most_s / (double)runs_of(TUNE_LEAST, tune->trial_count);
	size_t skip = SKIPPED, measured = MEASURED_LEAST;

	for (size_t i = 0; i < tune->trial_count; i++) {
		const struct tune_candidate *c = tune->trials[i].candidate;
		size_t ahead = c->key == DLPROF_SET_WORKERS    ? 4 * (size_t)c->value
			       : c->key == DLPROF_SET_PREFETCH ? 2 * (size_t)c->value
							       : 0;

		if (ahead + SKIPPED > skip)
			skip = ahead + SKIPPED;
	}
	if (MEASURED_S * base->per_s > MEASURED_LEAST)
		measured = (size_t)(MEASURED_S * base->per_s);
	if (options->max_time >= 0)
		measured = (size_t)fmax(LAUNCH_LEAST_BATCHES,
					fmin((double)measured, (most_run_s - start_s(base)) *
							base->per_s - (double)skip));
	if (options->batches > 0)
		measured = (size_t)options->batches;
	if (base->by_itself && skip + measured >= base->batch_count) {
		measured = base->batch_count - 1;
		skip = skip < measured / 3 ? skip : measured / 3;
		measured -= skip;
	}
	tune->skip = skip;
	tune->stop_after = skip + measured;
}

/* Runs the command with the settings of a trial; NULL: unchanged. Returns 0 or -errno. */
static int run_once(struct tune *tune, const struct tune_run *base, struct tune_trial *trial,
		    size_t number, struct tune_run *ret)
{
	char name[TUNE_SETTING + 24], label[TUNE_SETTING] = "base";
	char *first = trial ? trial->database : tune->database;
	double most_s = fmax(RUN_LEAST_S, RUN_TIMES * run_s(tune, base));
	int r;

	if (trial)
		tune_setting(trial->candidate, label, sizeof(label));
	snprintf(name, sizeof(name), "%s-%zu", label, number);
	show_progress(tune, name, (double)tune->runs_left * run_s(tune, base));
	r = tune_run(tune, name, trial, tune->stop_after, most_s, ret);
	if (r < 0)
		return r;
	tune->run_count++;
	tune->runs_left--;
	tune->run_seconds += ret->seconds;
	if (*ret->resumed && !*tune->resumed) {
		show_progress(tune, NULL, NAN);
		launch_remark(tune->options,
			      "the run %s read what an earlier one wrote (%s), and writes it "
			      "again: if it resumes from that, the runs are not alike; make it "
			      "begin anew",
			      name, ret->resumed);
		snprintf(tune->resumed, sizeof(tune->resumed), "%s", ret->resumed);
	}
	if (number == 1)
		snprintf(first, PATH_MAX, "%s", ret->database);
	return 0;
}

/* Runs the command unchanged, after `rounds` rounds. */
static int run_unchanged(struct tune *tune, const struct tune_run *base, size_t rounds)
{
	struct tune_run run;
	int r = run_once(tune, base, NULL, rounds + 1, &run);

	if (r < 0)
		return r;
	tune->base_per_s[rounds] = run.per_s;
	if (!*run.died)
		return 0;
	snprintf(tune->cut, sizeof(tune->cut), "a run without any setting %s", run.died);
	return -ECANCELED;
}

static size_t count_open(const struct tune *tune)
{
	size_t open = 0;

	for (size_t i = 0; i < tune->trial_count; i++)
		open += tune->trials[i].verdict == TUNE_OPEN;
	return open;
}

static bool has_time(struct tune *tune, const struct tune_run *base)
{
	const double now_s = tune_now_s() - tune->begin_s, each_s = run_s(tune, base);
	const size_t open = count_open(tune), missing = TUNE_LEAST - tune->round_count;
	/* Fewer than TUNE_LEAST rounds prove nothing. */
	const size_t runs = tune->round_count ? runs_of(1, open) - 1 : runs_of(TUNE_LEAST, open);

	if (tune->options->max_time < 0 ||
	    now_s + (double)runs * each_s <= (double)tune->options->max_time)
		return true;
	snprintf(tune->cut, sizeof(tune->cut), "--max-time leaves no room for another round");
	if (tune->round_count < TUNE_LEAST)
		snprintf(tune->cut, sizeof(tune->cut),
			 "--max-time leaves no room for the %d rounds that can prove a gain; "
			 "--max-time %.0f has it",
			 TUNE_LEAST,
			 ceil((now_s + (double)runs_of(missing, open) * each_s) / SAFE));
	return false;
}

/* Runs the command for each open trial, in reverse in every other round, then unchanged. */
static int run_round(struct tune *tune, const struct tune_run *base)
{
	const double *unchanged = &tune->base_per_s[tune->round_count];
	double rates[TUNE_TRIED];
	struct tune_run run;
	int r;

	for (size_t i = 0; i < tune->trial_count; i++) {
		size_t at = tune->round_count % 2 ? tune->trial_count - 1 - i : i;
		struct tune_trial *trial = &tune->trials[at];

		if (trial->verdict != TUNE_OPEN)
			continue;
		r = run_once(tune, base, trial, tune->round_count + 1, &run);
		if (r < 0)
			return r;
		rates[at] = run.per_s;
		if (*run.died)
			trial->verdict = TUNE_DIED;
		else if (!run.is_set)
			trial->verdict = TUNE_UNCHANGED;
		snprintf(trial->died, sizeof(trial->died), "%s", run.died);
	}
	r = run_unchanged(tune, base, tune->round_count + 1);
	if (r < 0)
		return r;
	for (size_t i = 0; i < tune->trial_count; i++)
		if (tune->trials[i].verdict == TUNE_OPEN)
			tune->trials[i].gains[tune->trials[i].count++] =
				log(rates[i]) - (log(unchanged[0]) + log(unchanged[1])) / 2;
	tune->round_count++;
	return 0;
}

static void judge(struct tune *tune, bool is_over)
{
	for (size_t i = 0; i < tune->trial_count; i++) {
		struct tune_trial *trial = &tune->trials[i];

		if (trial->verdict == TUNE_OPEN)
			trial->verdict = tune_judge(trial->gains, trial->count, tune->trial_count,
						    (size_t)tune->options->rounds, is_over);
	}
}

/* Says what the rounds have shown so far: the next ones may take hours. */
static void say_rounds(const struct tune *tune, const struct tune_run *base)
{
	char text[300] = "";

	for (size_t i = 0; i < tune->trial_count; i++) {
		const struct tune_trial *trial = &tune->trials[i];
		const double *gains = trial->gains;
		char setting[TUNE_SETTING];

		if (trial->verdict == TUNE_OPEN)
			page_append(text, sizeof(text), ", %s %s",
				    tune_setting(trial->candidate, setting, sizeof(setting)),
				    UNITS_FACTOR(
					    exp(tune_interval(gains, trial->count, 1, 0).mean)));
	}
	launch_remark(tune->options, "%zu round%s in %s%s so far; %zu more runs at most, %s",
		      tune->round_count, tune->round_count == 1 ? "" : "s",
		      UNITS_TIME((tune_now_s() - tune->begin_s) * 1e9), text, tune->runs_left,
		      UNITS_TIME((double)tune->runs_left * run_s(tune, base) * 1e9));
}

static void run_rounds(struct tune *tune, const struct tune_run *base)
{
	const size_t rounds = (size_t)tune->options->rounds;
	int r = 0;

	while (!r && count_open(tune) && has_time(tune, base)) {
		tune->runs_left = runs_of(rounds - tune->round_count, count_open(tune)) -
				  (tune->round_count > 0);
		if (tune->round_count)
			say_rounds(tune, base);
		else
			r = run_unchanged(tune, base, 0);
		if (!r)
			r = run_round(tune, base);
		if (!r)
			judge(tune, false);
		show_progress(tune, NULL, NAN);
	}
	if (r == -EINTR)
		snprintf(tune->cut, sizeof(tune->cut), "it was interrupted");
	else if (r < 0 && !*tune->cut)
		snprintf(tune->cut, sizeof(tune->cut), "%s", strerror(-r));
	judge(tune, true);
}

static int run_base(struct tune *tune, struct tune_run *base)
{
	const struct launch_options *options = tune->options;
	size_t batches = options->batches > 0 ? (size_t)options->batches + SKIPPED : FIRST_BATCHES;
	double most_s = options->max_time < 0 ? INFINITY
					      : fmax((double)options->max_time, FIRST_LEAST_S);
	char name[80];
	int r;

	tune->skip = SKIPPED;
	snprintf(name, sizeof(name), "a first run of %zu batches, to predict from", batches);
	show_progress(tune, name, NAN);
	r = tune_run(tune, "base-0", NULL, batches, most_s, base);
	show_progress(tune, NULL, NAN);
	if (r < 0)
		return r == -EINTR ? launch_fail("interrupted before anything was known")
				   : launch_fail("cannot run '%s': %s", options->command[0],
						 strerror(-r));
	tune->run_count++;
	/* If --max-time ended the run, its batches may still be enough to predict from. */
	if (base->is_late)
		snprintf(tune->cut, sizeof(tune->cut),
			 "--max-time ended the first run after %zu batches", base->batch_count);
	if (!*base->died || (base->is_late && !isnan(base->per_s)))
		return tune_read_base(tune, base);
	return launch_fail("the first run, as it is, %s; %s/base-0.log has its output", base->died,
			   tune->folder);
}

static void announce(const struct tune *tune, const struct tune_run *base)
{
	const size_t most = runs_of((size_t)tune->options->rounds, tune->trial_count);
	const size_t fewest = runs_of(TUNE_LEAST, tune->trial_count);
	const double each_ns = run_s(tune, base) * 1e9;
	char more[80] = "";

	if (fewest < most)
		snprintf(more, sizeof(more), ", or up to %zu (%s) if these do not decide", most,
			 UNITS_TIME((double)most * each_ns));
	launch_remark(tune->options,
		      "%zu setting%s to try, in %zu more runs of %zu batches (about %s)%s; the "
		      "program's output is in %s",
		      tune->trial_count, tune->trial_count == 1 ? "" : "s", fewest,
		      tune->stop_after, UNITS_TIME((double)fewest * each_ns), more,
		      tune->folder);
}

static int show(const struct tune *tune)
{
	if (tune->options->json)
		tune_json(tune, stdout);
	else if (tune_show(tune) < 0)
		return launch_fail("%s", strerror(ENOMEM));
	return launch_close((tune->trial_count || *tune->cut) && tune->round_count < TUNE_LEAST
				    ? LAUNCH_CANNOT_SAY
				    : LAUNCH_DONE);
}

int cmd_tune(const struct launch_options *given)
{
	struct launch_options options = *given;
	struct tune *tune = calloc(1, sizeof(*tune));
	struct tune_run base;
	int r;

	if (!tune)
		return launch_fail("%s", strerror(ENOMEM));
	if (options.rounds < 0)
		options.rounds = ROUNDS;
	tune->options = &options;
	tune->begin_s = tune_now_s();
	tune->begin_ms = tune_time_ms();
	r = launch_find_library(&options, &tune->preload);
	if (!r) {
		int found = target_find(options.command[0], &tune->target);

		r = found < 0 ? launch_fail_run(&options, -found) : make_folder(tune);
	}
	tune_catch_signals();
	if (!r)
		r = run_base(tune, &base);
	if (!r) {
		plan(tune, &base);
		if (tune->trial_count) {
			announce(tune, &base);
			run_rounds(tune, &base);
			tune_read_shared(tune);
		}
		tune->seconds = tune_now_s() - tune->begin_s;
		r = show(tune);
	}
	free(tune);
	return r;
}
