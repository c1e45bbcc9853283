/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - the report as `dlprof.report/3`. Keys are added, never removed and never given another
 * meaning. All times are seconds, all shares 0-1, null is what is not observed or not known.
 *
 * `stall.ratio` = `stall.wait_s` / `stall.time_s` (analysis/account/account.h): of the thread, with
 * the waits for all of its loaders. Batches are counted of the one that is judged (`loaders` has
 * each): `stall.batches`, `steady_batches`, `starved_batches`, `ranks[].batches`. `breakdown` holds
 * sums over all delivered batches of the judged loader; `queue_s` is the time that batches stood
 * finished before they were asked for. Not every load need have been seen: `breakdown.loads` of
 * `stall.batches`.
 */
#include <math.h>
#include <string.h>

#include "analysis/account/load.h"
#include "render/form/jsonw.h"
#include "render/form/units.h"
#include "render/run/code.h"
#include "render/run/ended.h"
#include "render/run/parts.h"
#include "render/run/report.h"
#include "render/run/stages.h"
#include "render/run/step.h"

/* "a,b" as ["a","b"]. NULL: not recorded. */
static void add_list(struct jsonw *json, const char *key, const char *list)
{
	char item[256];
	size_t length;

	if (!list) {
		jsonw_null(json, key);
		return;
	}
	jsonw_open(json, key, '[');
	for (; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		snprintf(item, sizeof(item), "%.*s", (int)length, list);
		if (length)
			jsonw_string(json, NULL, item);
	}
	jsonw_close(json, ']');
}

/* Either a status or a signal; neither: it goes on, or it is not known. */
static void add_end(struct jsonw *json, const struct report *report)
{
	const int number = ended_signal(report->run.exit_status);
	char text[ENDED_WORDS];

	jsonw_open(json, "end", '{');
	jsonw_int(json, "status", ended_returned(report->run.exit_status));
	jsonw_int(json, "signal", number ? number : QUERY_UNKNOWN);
	jsonw_int(json, "killed_workers", report->run.killed_count);
	jsonw_string(json, "workers",
		     ended_workers(&report->run, text, sizeof(text)) ? text : NULL);
	ended_program(&report->run, ended_after(report), text, sizeof(text));
	jsonw_string(json, "program", *text ? text : NULL);
	jsonw_close(json, '}');
}

static void add_run(struct jsonw *json, const struct report *report)
{
	const struct run_info *run = &report->run;
	const char *start = UNITS_DATE(run->start_unix_ns, "%Y-%m-%dT%H:%M:%SZ");

	jsonw_open(json, "run", '{');
	jsonw_string(json, "path", report->name);
	jsonw_string(json, "id", run->id);
	jsonw_string(json, "command", run->command);
	jsonw_string(json, "host", run->host);
	jsonw_string(json, "start", *start ? start : NULL);
	jsonw_seconds(json, "duration_s", report_duration_ns(report));
	jsonw_int(json, "ranks", 1);
	add_list(json, "frameworks", run->frameworks);
	jsonw_string(json, "version", run->version);
	jsonw_string(json, "kernel", run->kernel);
	jsonw_int(json, "processes", run->process_count);
	jsonw_bool(json, "live", report->live);
	jsonw_int(json, "stopped_after", run->stop_after);
	set_json(report, json);
	add_end(json, report);
	jsonw_close(json, '}');
}

static void add_verdict(struct jsonw *json, const struct report *report)
{
	const struct finding *finding = &report->finding;
	bool judged = stall_is_judged(finding->verdict);

	jsonw_string(json, "verdict", stall_verdict_ids[finding->verdict]);
	jsonw_string(json, "incomplete_reason", stall_gap_ids[finding->gap]);
	jsonw_tristate(json, "starved", judged ? finding->starved : SERIES_UNKNOWN);
	jsonw_string(json, "cause", cause_names[report->diagnosis.cause]);
	jsonw_string(json, "confidence", stall_confidence_ids[finding->confidence]);
}

static void add_stall(struct jsonw *json, const struct report *report)
{
	const struct finding *finding = &report->finding;
	const struct account *account = &finding->account;

	jsonw_open(json, "stall", '{');
	jsonw_number(json, "ratio", finding->stall_ratio);
	jsonw_bool(json, "in_doubt", finding->is_doubtful);
	jsonw_range(json, "ci95", report->diagnosis.boot.low95, report->diagnosis.boot.high95);
	jsonw_number(json, "trimmed_ratio", finding->trimmed_ratio);
	jsonw_seconds(json, "wait_s", isnan(finding->stall_ratio) ? NAN : account->wait_ns);
	jsonw_seconds(json, "time_s", isnan(finding->stall_ratio) ? NAN : account->time_ns);
	for (int part = 0; part < ACCOUNT_PART_MAX; part++)
		jsonw_number(json, account_part_names[part], account->share[part]);
	jsonw_seconds(json, "startup_s", account->startup_ns);
	jsonw_seconds(json, "theta_s", finding->theta_ns);
	jsonw_int(json, "batches", (int64_t)finding->batch_count);
	jsonw_int(json, "steady_batches", (int64_t)finding->steady_count);
	jsonw_int(json, "starved_batches", (int64_t)finding->starved_count);
	jsonw_number(json, "masked_share", finding->masked_share);
	jsonw_number(json, "gain_max", finding->gain_max);
	jsonw_seconds(json, "wait_p50_s", finding->wait_p50_ns);
	jsonw_seconds(json, "wait_p99_s", finding->wait_p99_ns);
	jsonw_seconds(json, "compute_p50_s", finding->compute_p50_ns);
	jsonw_seconds(json, "compute_p99_s", finding->compute_p99_ns);
	jsonw_number(json, "drain_ratio", finding->drain_ratio);
	jsonw_number(json, "queued_share", report->diagnosis.queued_share);
	jsonw_close(json, '}');
}

static void add_workers(struct jsonw *json, const struct report *report)
{
	const struct loader_info *loader = report->loader;
	const struct finding *finding = &report->finding;
	const struct whatif *whatif = &report->diagnosis.whatif;

	jsonw_open(json, "workers", '{');
	jsonw_int(json, "count", loader ? loader->workers : QUERY_UNKNOWN);
	jsonw_int(json, "loading",
		  report->series.loading > 0 ? report->series.loading : QUERY_UNKNOWN);
	jsonw_int(json, "prefetch_factor", loader ? loader->prefetch_factor : QUERY_UNKNOWN);
	jsonw_tristate(json, "in_order", loader ? loader->in_order : QUERY_UNKNOWN);
	jsonw_seconds(json, "load_mean_s", finding->load_mean_ns);
	jsonw_number(json, "load_cv", finding->load_cv);
	jsonw_number(json, "rho", finding->rho);
	jsonw_number(json, "eta", finding->eta);
	jsonw_int(json, "needed",
		  whatif->needed_workers > 0 ? whatif->needed_workers : QUERY_UNKNOWN);
	jsonw_number(json, "cores", report->series.cores);
	jsonw_number(json, "main_cores", report->series.main_cores);
	jsonw_number(json, "other_cores", report->series.other_cores);
	jsonw_tristate(json, "persistent", loader ? loader->persistent : QUERY_UNKNOWN);
	jsonw_number(json, "cpu_share", report->diagnosis.cpu_share);
	jsonw_number(json, "threads", report->facts.runnable_threads);
	jsonw_number(json, "cores_allowed", report->facts.cores_allowed);
	jsonw_close(json, '}');
}

static void add_breakdown(struct jsonw *json, const struct report *report)
{
	const struct load_totals *totals = &report->totals;
	const struct finding *finding = &report->finding;
	const struct load_times times = batch_totals_times(totals);
	const struct load_split split = load_split(&times);

	jsonw_open(json, "breakdown", '{');
	jsonw_ns(json, "open_s", totals->open_ns);
	jsonw_ns(json, "read_s", totals->read_ns);
	jsonw_ns(json, "decode_s", totals->decode_ns);
	jsonw_ns(json, "collate_s", totals->collate_ns);
	jsonw_seconds(json, "other_cpu_s", split.cpu_ns);
	jsonw_seconds(json, "other_blocked_s", split.blocked_ns);
	jsonw_ns(json, "transfer_s", totals->transfer_ns);
	jsonw_ns(json, "queue_s", totals->queue_ns);
	jsonw_seconds(json, "h2d_s", report->gpu_sums.h2d_ns);
	jsonw_seconds(json, "compute_s", report->series.compute_ns ? finding->compute_all_ns : NAN);
	jsonw_seconds(json, "wait_s", report->series.wait_ns ? finding->wait_all_ns : NAN);
	jsonw_int(json, "loads", totals->load_count);
	jsonw_ns(json, "load_s", totals->load_ns);
	jsonw_ns(json, "other_s", totals->other_ns);
	jsonw_ns(json, "waits_s", totals->blocked_ns);
	jsonw_ns(json, "cpu_s", totals->cpu_ns);
	jsonw_ns(json, "receive_s", totals->receive_ns);
	jsonw_ns(json, "head_of_line_s", totals->hol_ns);
	jsonw_int(json, "open_count", totals->open_count);
	jsonw_int(json, "read_count", totals->read_count);
	jsonw_int(json, "read_bytes", totals->read_bytes);
	jsonw_int(json, "storage_bytes", totals->storage_bytes);
	jsonw_int(json, "samples", totals->samples);
	jsonw_close(json, '}');
}

static void add_gpu_count(struct jsonw *json, const char *key, double count)
{
	jsonw_int(json, key, count >= 0 ? (int64_t)fmin(count, 9e18) : QUERY_UNKNOWN);
}

/* "ID_s" */
static void add_gpu_time(struct jsonw *json, const char *id, double ns)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_s", id);
	jsonw_seconds(json, key, ns);
}

static void add_idle(const struct report *report, struct jsonw *json)
{
	jsonw_open(json, "idle", '{');
	for (enum gpu_gap gap = 0; gap < GPU_GAP_MAX; gap++)
		add_gpu_time(json, gpu_gap_ids[gap], report->gpu_sums.gap_ns[gap]);
	jsonw_seconds(json, "unattributed_s",
		      report->gpu_use.unattributed_share * report->gpu_sums.step_ns);
	jsonw_close(json, '}');
}

static void add_calls(const struct report *report, struct jsonw *json)
{
	const struct gpu_call_sums *calls = &report->gpu_calls;

	if (!(calls->batch_count > 0)) {
		jsonw_null(json, "calls");
		return;
	}
	jsonw_open(json, "calls", '{');
	add_gpu_count(json, "batches", calls->batch_count);
	jsonw_seconds(json, "training_sync_s", calls->sync_ns);
	jsonw_seconds(json, "training_copy_s", calls->copy_ns);
	jsonw_seconds(json, "training_launch_s", calls->launch_ns);
	jsonw_number(json, "training_launches_per_step", calls->launch_count / calls->batch_count);
	jsonw_seconds(json, "others_sync_s", calls->other_sync_ns);
	jsonw_seconds(json, "others_copy_s", calls->other_copy_ns);
	jsonw_seconds(json, "others_launch_s", calls->other_launch_ns);
	jsonw_number(json, "others_launches_per_step",
		     calls->other_launch_count / calls->batch_count);
	jsonw_close(json, '}');
}

static void add_kernels(const struct report *report, struct jsonw *json)
{
	jsonw_open(json, "kernels", '[');
	for (size_t i = 0; i < report->gpu.kernels.count; i++) {
		const struct tally *kernel = &report->gpu.kernels.items[i];

		jsonw_open(json, NULL, '{');
		jsonw_string(json, "name", gpu_kernel_name(&report->gpu, i));
		jsonw_int(json, "count", kernel->count);
		jsonw_ns(json, "time_s", kernel->ns);
		jsonw_ns(json, "slowest_s", kernel->slowest_ns);
		jsonw_ns(json, "error_s", kernel->error_ns);
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
}

/* One alone has done all there is. */
static void add_devices(const struct report *report, struct jsonw *json)
{
	const struct gpu_device_list *list = &report->gpu_devices;

	jsonw_open(json, "devices", '[');
	for (size_t i = 0; i < list->count; i++) {
		const struct gpu_device *device = &list->items[i];
		bool alone = list->count == 1;

		jsonw_open(json, NULL, '{');
		jsonw_int(json, "device", device->number);
		jsonw_string(json, "name", device->name[0] ? device->name : NULL);
		jsonw_tristate(json, "fed",
			       alone || isnan(device->fed_count) ? SERIES_UNKNOWN
								 : gpu_is_fed(device));
		jsonw_number(json, "busy_share",
			     alone ? report->gpu_use.busy_share
				   : device->busy_ns / device->step_ns);
		jsonw_number(json, "idle_data_share",
			     alone ? report->gpu_use.gap_share[GPU_GAP_DATA]
				   : device->idle_wait_ns / device->step_ns);
		add_gpu_count(json, "h2d_bytes",
			      alone ? report->gpu_sums.h2d_bytes : device->h2d_bytes);
		add_gpu_count(json, "peer_bytes", device->peer_bytes);
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
}

/* "gpu": null where nothing is known of one. */
static void add_gpu(const struct report *report, struct jsonw *json)
{
	const struct gpu_sums *sums = &report->gpu_sums;
	const struct gpu_use *use = &report->gpu_use;
	const struct gpu_info *info = &report->gpu;

	if (!use->is_known && !info->mode && !info->kernels.count) {
		jsonw_null(json, "gpu");
		return;
	}
	jsonw_open(json, "gpu", '{');
	jsonw_string(json, "device", info->device);
	jsonw_string(json, "mode", info->mode);
	jsonw_string(json, "reason", info->reason);
	jsonw_string(json, "level", info->level);
	jsonw_string(json, "level_reason", info->level_reason);
	add_gpu_count(json, "batches", sums->batch_count);
	jsonw_seconds(json, "steps_s", sums->step_ns);
	jsonw_seconds(json, "busy_s", sums->busy_ns);
	jsonw_number(json, "busy_share", use->busy_share);
	jsonw_bool(json, "busy_is_upper_bound", info->is_upper_bound);
	jsonw_number(json, "idle_share", use->idle_share);
	add_idle(report, json);
	jsonw_string(json, "lack", gpu_lack_ids[use->lack]);
	jsonw_number(json, "lack_share", use->lack_share);
	jsonw_seconds(json, "collectives_s", sums->nccl_ns);
	jsonw_seconds(json, "collectives_alone_s", sums->busy_ns - sums->compute_ns);
	jsonw_number(json, "collectives_alone_share", use->alone_share);
	jsonw_seconds(json, "busy_without_collectives_s", sums->compute_ns);
	jsonw_seconds(json, "loading_s", sums->loading_ns);
	jsonw_number(json, "kernels_per_step", sums->kernel_count / sums->seen_count);
	jsonw_number(json, "graphs_per_step", sums->graph_count / sums->seen_count);
	jsonw_seconds(json, "h2d_s", sums->h2d_ns);
	add_gpu_count(json, "h2d_bytes", sums->h2d_bytes);
	jsonw_number(json, "h2d_bytes_per_s", use->h2d_bytes_per_s);
	jsonw_number(json, "h2d_pageable_share", use->pageable_share);
	jsonw_number(json, "h2d_overlap_share_most", use->overlap_share);
	jsonw_seconds(json, "d2h_s", sums->d2h_ns);
	add_gpu_count(json, "d2h_bytes", sums->d2h_bytes);
	jsonw_seconds(json, "memset_s", sums->memset_ns);
	jsonw_open(json, "sync", '{');
	for (enum gpu_sync sync = 0; sync < GPU_SYNC_MAX; sync++)
		add_gpu_time(json, gpu_sync_ids[sync], sums->sync_ns[sync]);
	jsonw_close(json, '}');
	add_devices(report, json);
	add_calls(report, json);
	add_kernels(report, json);
	jsonw_close(json, '}');
}

static void add_gpu_coverage(const struct report *report, struct jsonw *json)
{
	const struct gpu_info *info = &report->gpu;

	jsonw_bool(json, "gpu_observed", report->finding.by_gpu);
	jsonw_number(json, "gpu_share", report->finding.gpu_share);
	jsonw_int(json, "gpu_batches_left_out", (int64_t)report->finding.unseen_count);
	jsonw_int(json, "gpu_records", info->record_count);
	jsonw_int(json, "gpu_records_bad", info->bad_count);
	jsonw_int(json, "gpu_records_dropped", info->dropped_count);
	jsonw_int(json, "gpu_records_dropped_by_us", info->own_drop_count);
	jsonw_int(json, "gpu_gaps", info->gap_count);
	jsonw_seconds(json, "gpu_gaps_s", info->gap_ns);
	jsonw_string(json, "gpu_gap_why", info->gap_why[0] ? info->gap_why : NULL);
	jsonw_int(json, "cupti_version", info->cupti_version);
}

static void add_coverage(struct jsonw *json, const struct report *report)
{
	const struct finding *finding = &report->finding;
	double batches = (double)finding->batch_count;
	double loads = query_known(report->totals.load_count);

	jsonw_open(json, "coverage", '{');
	add_list(json, "patch_points_missing", report->run.patch_missing);
	add_list(json, "decoders_seen", report->run.decoders_seen);
	add_list(json, "decoders_hidden", report->run.decoders_hidden);
	jsonw_bool(json, "wait_observed", report->series.wait_ns != NULL);
	jsonw_bool(json, "compute_observed", report->series.compute_ns != NULL);
	jsonw_bool(json, "workers_observed", report->series.workers >= 0 && loads > 0);
	jsonw_bool(json, "decode_observed", report->totals.decode_seen_count > 0);
	jsonw_string(json, "nvtx", report->run.nvtx);
	add_gpu_coverage(report, json);
	jsonw_number(json, "loads_share", loads / batches);
	jsonw_number(json, "readiness_share",
		     (double)finding->readiness_count / (double)finding->steady_count);
	jsonw_open(json, "warnings", '[');
	for (size_t i = 0; i < report->note_count; i++)
		jsonw_string(json, NULL, report->notes[i]);
	jsonw_close(json, ']');
	jsonw_close(json, '}');

	jsonw_open(json, "loss", '{');
	jsonw_int(json, "events", report->run.lost_count);
	jsonw_int(json, "batches", (int64_t)finding->missing_count);
	jsonw_number(json, "share", finding->lost_share);
	jsonw_close(json, '}');
}

static void add_ranks(struct jsonw *json, const struct report *report)
{
	const struct finding *finding = &report->finding;

	jsonw_open(json, "ranks", '[');
	jsonw_open(json, NULL, '{');
	jsonw_int(json, "rank", report->run.rank);
	jsonw_string(json, "path", report->name);
	jsonw_string(json, "host", report->run.host);
	jsonw_string(json, "verdict", stall_verdict_ids[finding->verdict]);
	jsonw_number(json, "stall_ratio", finding->stall_ratio);
	jsonw_int(json, "batches", (int64_t)finding->batch_count);
	jsonw_close(json, '}');
	jsonw_close(json, ']');
}

static void add_loaders(struct jsonw *json, const struct report *report)
{
	jsonw_open(json, "loaders", '[');
	for (size_t i = 0; i < report->loader_count; i++) {
		const struct loader_info *loader = &report->loaders[i];

		jsonw_open(json, NULL, '{');
		jsonw_int(json, "loader", loader->loader_id);
		jsonw_bool(json, "judged", loader == report->loader);
		jsonw_string(json, "kind", loader->kind[0] ? loader->kind : NULL);
		jsonw_int(json, "workers", loader->workers);
		jsonw_int(json, "batch_size", loader->batch_size);
		jsonw_int(json, "batches", loader->batch_count);
		jsonw_int(json, "epochs", loader->epoch_count);
		jsonw_ns(json, "time_s", loader->time_ns);
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
}

void report_json(const struct report *report, FILE *out)
{
	struct jsonw json;

	jsonw_begin(&json, out, "dlprof.report/3");
	add_run(&json, report);
	jsonw_string(&json, "clock", gpu_clock(report));
	add_verdict(&json, report);
	add_stall(&json, report);
	advise_patterns_json(report, &json);
	add_workers(&json, report);
	add_breakdown(&json, report);
	facts_json_load(report, &json);
	stages_json(report, &json);
	step_json(report, &json);
	facts_json_processes(report, &json);
	inside_json(&report->inside, &json);
	code_json(report, &json);
	code_stuck_json(&report->samples, report->stuck, report->stuck_count, &json);
	add_gpu(report, &json);
	advise_json(report, &json);
	add_coverage(&json, report);
	jsonw_null(&json, "overhead");
	add_ranks(&json, report);
	add_loaders(&json, report);
	jsonw_close(&json, '}');
}
