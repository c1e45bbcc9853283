/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_gate.c - `dlprof-report gate RUN...`: judges runs by limits, and exits with 0, 1, 2 or 3. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/gate/gate.h"

static const struct gate_run *find_kept(const struct gate *gate, const struct gate_run *run)
{
	for (size_t i = 0; i < gate->baselines.count; i++)
		if (gate_runs_are_one(run, &gate->baselines.list[i]))
			return &gate->baselines.list[i];
	return NULL;
}

static int update_baseline(const struct gate *gate)
{
	const char *folder = gate->options->baselines[0];
	char path[PATH_MAX];

	if (gate->report.status != CMD_DONE) {
		cmd_remark(gate->options, "'%s' is left as it is: the gate did not pass%s", folder,
			   gate->report.status == CMD_CANNOT_SAY
				   ? "; --on-few-baselines warn lets the first baselines in"
				   : "");
		return 0;
	}
	for (size_t i = 0; i < gate->runs.count; i++) {
		const struct gate_run *run = &gate->runs.list[i], *kept;
		char unfit[GATE_WORDS];
		int r;

		if (*gate_unfit_words(run, unfit)) {
			cmd_remark(gate->options, "'%s' does not become a baseline: %s", run->path,
				   unfit);
			continue;
		}
		kept = find_kept(gate, run);
		if (kept) {
			cmd_remark(gate->options, "the run already exists: '%s'", kept->path);
			continue;
		}
		r = gate_runs_keep(run, folder, path, sizeof(path));
		if (r < 0)
			return cmd_fail("cannot copy '%s' into '%s': %s", run->path, folder,
					r == -EBUSY ? "its journal is not written back yet"
						    : strerror(-r));
		cmd_remark(gate->options, "kept as '%s'", path);
	}
	return 0;
}

static int gate_runs(struct gate *gate, const struct gate_wishes *wishes)
{
	int status;

	gate_runs_sort(&gate->baselines);
	gate_runs_match(&gate->runs, &gate->baselines);
	status = gate_judge_all(gate);
	if (!status)
		status = gate_write_wishes(gate, wishes);
	if (!status && gate->options->update_baseline)
		status = update_baseline(gate);
	return status ? status : gate->report.status;
}

static int show_calibration(const struct gate *gate, const struct gate_wishes *wishes,
			    const struct gate_limit *limit,
			    const struct gate_calibration *calibration)
{
	struct outline outline;
	struct output output;
	struct page page;
	int status, r = 0;

	if (wishes->count != 1 || *wishes->list[0].path || wishes->list[0].form > GATE_FORM_JSON)
		return cmd_fail("--calibrate can only print text or, with --json, JSON");
	status = cmd_open_output(gate->options, &output);
	if (status)
		return status;
	page = cmd_page(gate->options, &output);
	if (wishes->list[0].form == GATE_FORM_JSON) {
		gate_calibration_json(limit, calibration, output.file);
	} else {
		gate_calibration_outline(limit, calibration, &outline);
		r = outline_show(&outline, &page, false);
	}
	return cmd_close_output(&output, r < 0 ? cmd_fail("%s", db_error(r)) : CMD_DONE);
}

static int calibrate(struct gate *gate, const struct gate_wishes *wishes)
{
	const struct gate_limit *limit = &gate_find_increase(gate)->limit;
	size_t most = gate->runs.count + gate->baselines.count, count = 0, i;
	double *ratios = calloc(most + 1, sizeof(*ratios));
	double *errors = calloc(most + 1, sizeof(*errors));
	struct gate_runs first = {.list = gate->runs.list, .count = 1};
	struct gate_runs rest = {.list = gate->runs.list + 1, .count = gate->runs.count - 1};
	struct gate_calibration calibration;
	char unfit[GATE_WORDS];
	int r = -ENOMEM;

	gate_runs_match(&first, &rest);
	gate_runs_match(&gate->runs, &gate->baselines);
	for (i = 0; ratios && errors && i < most; i++) {
		const struct gate_run *run = i < gate->runs.count
						     ? &gate->runs.list[i]
						     : &gate->baselines.list[i - gate->runs.count];
		const char *why = run->refused;

		if (!i)
			why = gate_unfit_words(run, unfit);
		if (*why) {
			cmd_remark(gate->options, "'%s' is left out: %s", run->path, why);
			continue;
		}
		ratios[count] = run->sample.value[GATE_STALL_RATIO];
		errors[count++] = run->sample.error;
	}
	if (ratios && errors)
		r = gate_calibrate(limit, ratios, errors, count, &calibration);
	free(ratios);
	free(errors);
	if (r == -EDOM) {
		cmd_fail("%zu runs can be compared; calibration needs %d; 12 or more are better",
			 count,
			 GATE_FEWEST_BASELINES +
				 (limit->rule == GATE_BOUND ? 1 : GATE_SEPARATE_RUNS));
		return CMD_CANNOT_SAY;
	}
	if (r < 0)
		return cmd_fail("%s", strerror(-r));
	return show_calibration(gate, wishes, limit, &calibration);
}

static bool is_same_job(const struct run_info *a, const struct run_info *b)
{
	return a->job_id && b->job_id && strcmp(a->job_id, b->job_id) == 0 &&
	       a->attempt == b->attempt;
}

/* Returns true for that run of a job that waits least; of equal runs, for the first. */
static bool waits_least(const struct gate_runs *runs, const struct gate_run *run)
{
	for (const struct gate_run *other = runs->list; other < runs->list + runs->count; other++) {
		const double less =
			run->sample.value[GATE_STALL_RATIO] - other->sample.value[GATE_STALL_RATIO];

		if (is_same_job(&other->info, &run->info) &&
		    (less > 0 || (less == 0 && other < run)))
			return false;
	}
	return true;
}

static void count_ranks(struct gate_runs *runs)
{
	for (struct gate_run *run = runs->list; run < runs->list + runs->count; run++) {
		for (size_t i = 0; i < runs->count; i++) {
			if (!is_same_job(&runs->list[i].info, &run->info))
				continue;
			run->rank_count++;
			run->load_count += runs->list[i].has_loader;
		}
	}
}

/* Leaves out ranks without a loader if the other ranks are as many as --ranks says. */
static void leave_out_idle(struct gate *gate)
{
	for (size_t i = gate->runs.count; gate->options->ranks > 0 && i-- > 0;) {
		const struct gate_run *run = &gate->runs.list[i];

		if (run->has_loader || (int64_t)run->load_count < gate->options->ranks ||
		    run->sample.unfit != GATE_NO_VERDICT || run->info.lost_count > 0)
			continue;
		cmd_remark(gate->options, "'%s' is left out: it has no loader, and the %zu ranks "
			   "that should have one do", run->path, run->load_count);
		gate_runs_leave_out(&gate->runs, i);
	}
}

/* A job that lacks ranks cannot pass: its rank that waits least is marked as unfit. */
static void look_for_ranks(struct gate *gate)
{
	struct gate_runs *runs = &gate->runs;

	count_ranks(runs);
	leave_out_idle(gate);
	for (struct gate_run *run = runs->list; run < runs->list + runs->count; run++) {
		const int64_t wanted =
			gate->options->ranks >= 0 ? gate->options->ranks : run->info.world_size;

		if (run->info.job_id && (int64_t)run->rank_count < wanted &&
		    run->sample.unfit == GATE_FIT && waits_least(runs, run))
			run->sample.unfit = GATE_RANKS;
	}
}

int cmd_gate(const struct options *options)
{
	struct gate gate = {.options = options};
	struct gate_wishes *wishes = malloc(sizeof(*wishes));
	int status = wishes ? gate_read_wishes(options, wishes) : cmd_fail("%s", strerror(ENOMEM));
	struct stat st;

	if (!status && options->update_baseline && stat(options->baselines[0], &st) == 0 &&
	    !S_ISDIR(st.st_mode))
		status = cmd_fail("--update-baseline: '%s' is not a folder", options->baselines[0]);
	if (!status)
		status = gate_read_limits(&gate);
	if (!status)
		status = gate_runs_read(options, (const char *const *)options->runs,
					(size_t)options->run_count, false, &gate.runs);
	if (!status)
		status = gate_runs_read(options, options->baselines, options->baseline_count, true,
					&gate.baselines);
	if (!status)
		look_for_ranks(&gate);
	if (!status)
		status = options->calibrate ? calibrate(&gate, wishes) : gate_runs(&gate, wishes);
	gate_runs_done(&gate.runs);
	gate_runs_done(&gate.baselines);
	free(wishes);
	return status;
}
