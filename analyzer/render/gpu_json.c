/* SPDX-License-Identifier: Apache-2.0 */
#include "render/gpu_json.h"

#include <math.h>

#include "render/gpu_outline.h"

static void add_count(struct jsonw *json, const char *key, double count)
{
	jsonw_int(json, key, count >= 0 ? (int64_t)fmin(count, 9e18) : QUERY_UNKNOWN);
}

/* "ID_s" */
static void add_time(struct jsonw *json, const char *id, double ns)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_s", id);
	jsonw_seconds(json, key, ns);
}

static void add_idle(const struct report *report, struct jsonw *json)
{
	jsonw_open(json, "idle", '{');
	for (enum gpu_gap gap = 0; gap < GPU_GAP_MAX; gap++)
		add_time(json, gpu_gap_id(gap), report->gpu_sums.gap_ns[gap]);
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
	add_count(json, "batches", calls->batch_count);
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
		if (alone || isnan(device->fed_count))
			jsonw_null(json, "fed");
		else
			jsonw_bool(json, "fed", gpu_is_fed(device));
		jsonw_number(json, "busy_share",
			     alone ? report->gpu_use.busy_share
				   : device->busy_ns / device->step_ns);
		jsonw_number(json, "idle_data_share",
			     alone ? report->gpu_use.gap_share[GPU_GAP_DATA]
				   : device->idle_wait_ns / device->step_ns);
		add_count(json, "h2d_bytes",
			  alone ? report->gpu_sums.h2d_bytes : device->h2d_bytes);
		add_count(json, "peer_bytes", device->peer_bytes);
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
}

void gpu_json(const struct report *report, struct jsonw *json)
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
	add_count(json, "batches", sums->batch_count);
	jsonw_seconds(json, "steps_s", sums->step_ns);
	jsonw_seconds(json, "busy_s", sums->busy_ns);
	jsonw_number(json, "busy_share", use->busy_share);
	jsonw_bool(json, "busy_is_upper_bound", info->is_upper_bound);
	jsonw_number(json, "idle_share", use->idle_share);
	add_idle(report, json);
	jsonw_seconds(json, "collectives_s", sums->nccl_ns);
	jsonw_seconds(json, "collectives_alone_s", sums->busy_ns - sums->compute_ns);
	jsonw_number(json, "collectives_alone_share", use->alone_share);
	jsonw_seconds(json, "busy_without_collectives_s", sums->compute_ns);
	jsonw_seconds(json, "loading_s", sums->loading_ns);
	jsonw_number(json, "kernels_per_step", sums->kernel_count / sums->seen_count);
	jsonw_number(json, "graphs_per_step", sums->graph_count / sums->seen_count);
	jsonw_seconds(json, "h2d_s", sums->h2d_ns);
	add_count(json, "h2d_bytes", sums->h2d_bytes);
	jsonw_number(json, "h2d_bytes_per_s", use->h2d_bytes_per_s);
	jsonw_number(json, "h2d_pageable_share", use->pageable_share);
	jsonw_number(json, "h2d_overlap_share_most", use->overlap_share);
	jsonw_seconds(json, "d2h_s", sums->d2h_ns);
	add_count(json, "d2h_bytes", sums->d2h_bytes);
	jsonw_seconds(json, "memset_s", sums->memset_ns);
	jsonw_open(json, "sync", '{');
	for (enum gpu_sync sync = 0; sync < GPU_SYNC_MAX; sync++)
		add_time(json, gpu_sync_id(sync), sums->sync_ns[sync]);
	jsonw_close(json, '}');
	add_devices(report, json);
	add_calls(report, json);
	add_kernels(report, json);
	jsonw_close(json, '}');
}

void gpu_json_coverage(const struct report *report, struct jsonw *json)
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
