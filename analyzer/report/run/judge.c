/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/judge.h"

#include <stdlib.h>

#include "analysis/statistics/clamp.h"
#include "render/run/code.h"
#include "render/run/parts.h"
#include "report/run/stuck.h"
#include "report/run/thread.h"
#include "report/run/why.h"
#include "store/database/db_open.h"
#include "store/database/redact.h"
#include "store/run/facts.h"
#include "store/run/lines.h"
#include "store/run/query.h"

/* a loader inside another loader matters if it takes this share of the waits for that loader */
#define INNER_LEAST 0.5

static void inside_done(struct inside *inside)
{
	tally_list_done(&inside->steps);
	tally_list_done(&inside->decoders);
	tally_list_done(&inside->samples);
	tally_list_done(&inside->files);
	tally_list_done(&inside->folders);
	free(inside->slow);
}

void judge_done(struct report *report)
{
	run_info_done(&report->run);
	free(report->loaders);
	series_done(&report->series);
	stages_done(&report->stages);
	inside_done(&report->inside);
	gpu_info_done(&report->gpu);
	lines_free(&report->samples);
	lines_done(&report->lines);
	free(report->names.files);
	free(report->stuck);
	while (report->note_count)
		free(report->notes[--report->note_count]);
	free(report->notes);
	while (report->set_count)
		free(report->set_done[--report->set_count]);
	free(report->set_done);
}

static void choose_loader(const struct options *options, struct report *report)
{
	for (size_t i = 0; i < report->loader_count && !report->loader; i++)
		if (options->loader < 0 || report->loaders[i].loader_id == options->loader)
			report->loader = &report->loaders[i];
	if (report->loader)
		report->filter.loader_id = report->loader->loader_id;
}

#define MOST_TALLIES    WHY_SAMPLES
#define MOST_SLOW_CALLS 16

static int read_inside(struct db *db, struct inside *inside)
{
	const struct {
		const char *kind;
		struct tally_list *list;
	} lists[] = {
		{"step", &inside->steps},     {"decode", &inside->decoders},
		{"sample", &inside->samples}, {"file", &inside->files},
		{"folder", &inside->folders},
	};
	int r = batch_totals_of_run(db, &inside->loads);

	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(lists); i++)
		r = tally_list_read(db, lists[i].kind, MOST_TALLIES, lists[i].list);
	if (r == 0)
		r = slow_calls_read(db, MOST_SLOW_CALLS, &inside->slow, &inside->slow_count);
	if (r == 0)
		r = tally_unlisted_read(db, "file", &inside->unlisted_file_ns);
	return r < 0 ? r : tally_unlisted_read(db, "folder", &inside->unlisted_folder_ns);
}

static int read_series(struct db *db, bool is_chosen, struct report *report)
{
	const struct thread_query query = {
		.filter = report->filter,
		.loaders = report->loaders,
		.loader_count = report->loader_count,
		.missing_count = report->missing_count,
		.is_chosen = is_chosen,
	};
	size_t judged = (size_t)(report->loader - report->loaders);
	int r = thread_judge(db, &query, &judged, &report->series, &report->finding, &report->step);

	report->loader = &report->loaders[judged];
	report->filter.loader_id = report->loader->loader_id;
	return r;
}

static int read_loader(struct db *db, bool is_chosen, struct report *report)
{
	int r;

	if (!report->loader) {
		stall_judge(&report->series, &report->finding);
		return 0;
	}
	r = read_series(db, is_chosen, report);
	if (r == 0)
		r = batch_totals(db, &report->filter, &report->totals);
	if (r == 0)
		r = gpu_sums_read(db, &report->filter, report->series.gpu_busy_ns,
				  &report->gpu_sums);
	if (r == 0)
		r = stages_read(db, report->filter.loader_id, false, &report->stages);
	if (r == 0)
		r = gpu_calls_read(db, &report->filter, &report->gpu_calls);
	report->gpu_use = gpu_use_of(&report->gpu_sums);
	/* While another program has its turn, the GPU only seems to idle. */
	if (report->gpu.shared)
		report->gpu_use.lack = GPU_LACK_NOTHING, report->gpu_use.lack_part_share = 0;
	if (r == 0)
		r = gpu_device_list_read(db, &report->filter, &report->gpu_devices);
	return r;
}

static int find_lines(struct db *db, struct report *report)
{
	int r = lines_read(db, &report->samples);

	if (r < 0)
		return r;
	code_find_names(report);
	return lines_find(&report->samples, report->loader ? report->filter.loader_id : 0,
			  &report->lines);
}

/* Returns the loader that has INNER_LEAST or more of the judged loader's waits, and the most. */
static const struct loader_info *find_inner(const struct report *report)
{
	const struct loader_info *inner = NULL;
	double least_ns = INNER_LEAST * report->finding.own.wait_ns;

	for (size_t i = 0; i < report->loader_count; i++) {
		const struct loader_info *other = &report->loaders[i];

		if (other == report->loader || !other->nested || !report->loader ||
		    report->loader->nested || other->pid != report->loader->pid ||
		    (double)other->time_ns < least_ns)
			continue;
		inner = other;
		least_ns = (double)other->time_ns;
	}
	return inner;
}

static int find_cause(struct db *db, bool advises, struct report *report)
{
	const bool has_batches = report->loader && report->loader->batch_size > 0;
	const struct why_input input = {
		.filter = &report->filter,
		.series = &report->series,
		.finding = &report->finding,
		.totals = &report->totals,
		.stages = &report->stages,
		.samples = &report->inside.samples,
		.known = {
			.batch_size = report->loader ? report->loader->batch_size : 0,
			.facts = &report->facts,
			.lines = &report->lines,
			.gpu = &report->gpu_use,
			.step = &report->step,
			.has_inner = report->inner != NULL,
			.has_gpu = report->gpu.mode != NULL || report->gpu_use.is_known,
			.lacks = dialect_of(report->loader)->lacks |
				 (has_batches ? 0 : OPTION_SAMPLER),
			.is_threads = dialect_is_threads(report->loader),
			.is_bare = !advises,
		},
	};

	return why_find(db, &input, &report->diagnosis);
}

/* The CPU time of short reads and writes of pipes counts as blocked, but is no waiting. */
static void leave_out_calls(struct report *report)
{
	const double blocked_ns = (double)report->inside.loads.blocked_ns;
	double share;

	if (!(report->facts.calls_ns > 0 && blocked_ns > 0))
		return;
	share = fmin(report->facts.calls_ns / blocked_ns, 1);
	report->inside.loads.blocked_ns -= (int64_t)(share * blocked_ns);
	if (report->totals.blocked_ns > 0)
		report->totals.blocked_ns -= (int64_t)(share * (double)report->totals.blocked_ns);
}

static int collect(const struct options *options, struct db *db, bool advises,
		   struct report *report)
{
	bool explains;
	int r;

	report->path = options->run;
	report->name = redact(REDACT_RUN, options->run);
	report->filter = cmd_filter(options, 0);
	series_init(&report->series);
	batch_totals_init(&report->totals);
	report->facts = load_facts_unknown();
	gpu_sums_init(&report->gpu_sums);
	r = query_run(db, &report->run);
	/* Missing records count as lost: the remaining records alone must not give a verdict. */
	report->run.lost_count = clamp_add(report->run.lost_count, report->missing_count);
	if (r == 0)
		r = query_loaders(db, &report->loaders, &report->loader_count);
	if (r == 0)
		r = query_notes(db, &report->notes, &report->note_count);
	if (r == 0)
		r = query_set(db, &report->set_done, &report->set_count);
	if (r == 0)
		r = read_inside(db, &report->inside);
	if (r == 0)
		r = gpu_info_read(db, MOST_TALLIES, &report->gpu);
	if (r < 0)
		return cmd_fail_read(options, r);
	if (cmd_check_filter(options, &report->run, report->loaders, report->loader_count))
		return CMD_ERROR;
	choose_loader(options, report);
	r = read_loader(db, options->loader >= 0, report);
	if (report->run.doubt_count > 0)
		stall_doubt(&report->finding);
	if (r == 0 && report->loader && report->loader->batch_count > 0 && !report->series.count &&
	    cmd_check_part(options, report->loader))
		return CMD_ERROR;
	/* Lines of code explain starving and advice; load facts explain other programs, too. */
	explains = advises || report->finding.starved;
	if (r == 0 && (explains || series_has_others(&report->series))) {
		r = load_facts_read(db, &report->run, &report->inside.loads, &report->filter,
				    &report->facts);
		leave_out_calls(report);
		series_add_threads(&report->series, &report->facts,
				   report->finding.load_mean_ns,
				   stall_loads_at_once(&report->finding));
	}
	if (r == 0 && explains)
		r = find_lines(db, report);
	if (r == 0 && advises && report->live)
		r = stuck_read(db, &report->samples,
			       report->loader ? report->filter.loader_id : UNKNOWN,
			       &report->finding, &report->stuck, &report->stuck_count);
	report->inner = find_inner(report);
	if (r == 0)
		r = find_cause(db, advises, report);
	if (r == 0 && advises)
		r = whatif_ask(&report->series, &report->finding, options->wishes,
			       options->wish_count, &report->diagnosis.whatif);
	return r < 0 ? cmd_fail_read(options, r) : 0;
}

void judge_fingerprint(const struct report *report, struct fingerprint *ret)
{
	const struct loader_info *loader = report->loader;
	const struct run_info *run = &report->run;

	fingerprint_init(ret);
	ret->text[FINGERPRINT_FRAMEWORKS] = run->frameworks;
	ret->text[FINGERPRINT_CLOCK] = report->finding.by_gpu ? "gpu" : "host";
	ret->text[FINGERPRINT_GPU] = run->gpu;
	/* An old run without this fact was recorded before DLPROF_SET existed. */
	ret->text[FINGERPRINT_SET] = run->set ? run->set : "";
	ret->text[FINGERPRINT_COMMAND] = run->command;
	ret->text[FINGERPRINT_HOST] = run->host;
	ret->text[FINGERPRINT_KERNEL] = run->kernel;
	ret->text[FINGERPRINT_VERSION] = run->version;
	ret->number[FINGERPRINT_CORES] = run->cpus;
	if (run->synchronous >= 0)
		ret->number[FINGERPRINT_SYNC] = run->synchronous;
	if (!loader)
		return;
	ret->text[FINGERPRINT_LOADER] = loader->kind[0] ? loader->kind : NULL;
	ret->number[FINGERPRINT_BATCH_SIZE] = loader->batch_size;
	ret->number[FINGERPRINT_EPOCH_BATCHES] = fingerprint_epoch_batches(&report->series);
	ret->number[FINGERPRINT_WORKERS] = loader->workers;
	/* Without workers, the settings for workers have no effect. */
	if (loader->workers != 0) {
		ret->number[FINGERPRINT_PREFETCH_FACTOR] = loader->prefetch_factor;
		ret->number[FINGERPRINT_IN_ORDER] = loader->in_order;
		ret->number[FINGERPRINT_PERSISTENT_WORKERS] = loader->persistent;
	}
}

int judge_and_read(const struct options *options, const char *path, bool advises,
		   struct report *ret, judge_more *more, void *context)
{
	struct options one = *options;
	struct recovered recovered;
	struct db *db;
	int status;

	*ret = (struct report){0};
	one.run = path;
	status = cmd_open_run(&one, &db, &recovered);
	ret->live = recovered.live;
	if (status)
		return status;
	ret->missing_count = recovered.missing_count;
	status = collect(&one, db, advises, ret);
	if (!status && more) {
		int r = more(db, ret, context);

		status = r < 0 ? cmd_fail_read(&one, r) : 0;
	}
	db_close(db);
	return status;
}

int judge_run(const struct options *options, const char *path, bool advises, struct report *ret)
{
	return judge_and_read(options, path, advises, ret, NULL, NULL);
}

int judge_status(const struct report *report)
{
	const struct finding *finding = &report->finding;
	bool cannot_say = !report->series.count || finding->gap == STALL_GAP_FEW_BATCHES ||
			  finding->lost_share > STALL_TOLERATED_LOSS ||
			  finding->verdict == STALL_VERDICT_IN_DOUBT;

	return cannot_say ? CMD_CANNOT_SAY : CMD_DONE;
}

static int add_batch(const struct batch_record *batch, void *context)
{
	const struct load_times times = batch_times(batch);
	const double parts[STEP_TOLD_MAX] = {
		[STEP_BEFORE] = query_known(batch->before_ns),
		[STEP_BACKWARD] = query_known(batch->backward_ns),
		[STEP_BETWEEN] = query_known(batch->between_ns),
		[STEP_OPTIMIZER] = query_known(batch->optimizer_ns),
		[STEP_SAVE] = query_known(batch->save_ns),
	};

	return compare_add_times(context, &times, query_known(batch->transfer_ns), parts);
}

static int read_side(const struct options *options, const struct report *report,
		     struct compare_side *side)
{
	struct options one = *options;
	struct db *db;
	struct recovered recovered;
	int r = 0, status;

	one.run = report->path;
	one.quiet = true; /* judging the run has printed the remarks already */
	status = cmd_open_run(&one, &db, &recovered);
	if (status)
		return status;
	if (report->loader)
		r = batch_each(db, &report->filter, add_batch, side);
	db_close(db);
	if (r == 0)
		r = compare_add_series(side, &report->series, &report->finding);
	return r < 0 ? cmd_fail_read(&one, r) : 0;
}

int judge_compare(const struct options *options, const struct report *a, const struct report *b,
		  struct compared *ret)
{
	struct compare_side sides[2] = {{.block = 0}, {.block = 0}};
	unsigned diff;
	int status;

	*ret = (struct compared){.a = a, .b = b};
	judge_fingerprint(a, &ret->prints[0]);
	judge_fingerprint(b, &ret->prints[1]);
	diff = fingerprint_diff(&ret->prints[0], &ret->prints[1]);
	ret->mismatch =
		diff & (fingerprint_mask(FINGERPRINT_WORK) | fingerprint_mask(FINGERPRINT_PLACE));
	ret->changed = diff & fingerprint_mask(FINGERPRINT_SETTING);
	ret->noted = diff & fingerprint_mask(FINGERPRINT_NOTE);
	status = read_side(options, a, &sides[0]);
	if (!status)
		status = read_side(options, b, &sides[1]);
	if (!status)
		compare_runs(&sides[0], &sides[1], &ret->comparison);
	compare_side_done(&sides[0]);
	compare_side_done(&sides[1]);
	return status;
}
