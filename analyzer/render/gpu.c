/* SPDX-License-Identifier: Apache-2.0 */
#include "render/gpu.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/units.h"

#define INDENT       2
#define PART         (2 * INDENT)
#define HANG         13
#define MOST_KERNELS 5
#define NAME_BYTES   72
#define NS_PER_S     1e9
#define WORTH_SAYING 0.001 /* of the steps */

const char *gpu_gap_words(enum gpu_gap gap)
{
	static const char *const words[GPU_GAP_MAX] = {
		[GPU_GAP_DATA] = "idle while the training waited for a batch",
		[GPU_GAP_H2D] = "idle but for copies to it",
		[GPU_GAP_SYNC] = "idle after the host had waited for it",
		[GPU_GAP_HOST] = "idle, as the host launched nothing",
		[GPU_GAP_OTHER] = "idle otherwise",
	};

	return words[gap];
}

static const char *gap_label(enum gpu_gap gap)
{
	static const char *const labels[GPU_GAP_MAX] = {
		[GPU_GAP_DATA] = "data", [GPU_GAP_H2D] = "copies",  [GPU_GAP_SYNC] = "sync",
		[GPU_GAP_HOST] = "host", [GPU_GAP_OTHER] = "other",
	};

	return labels[gap];
}

static void print_time(const struct report *report, const struct page *page)
{
	const struct gpu_sums *sums = &report->gpu_sums;
	const struct gpu_use *use = &report->gpu_use;
	char share[UNITS_MAX];
	int gap;

	if (!(sums->batch_count > 0))
		return;
	page_part(page, "busy", sums->busy_ns, sums->step_ns, "%s",
		  report->gpu.is_upper_bound ? "at most: graphs are recorded as wholes" : "");
	if (sums->nccl_ns > 0)
		page_part(page, "collectives", sums->nccl_ns, sums->step_ns,
			  "of it; waiting for other ranks included");
	for (gap = 0; gap < GPU_GAP_MAX; gap++)
		if (!isnan(sums->gap_ns[gap]))
			page_part(page, gap_label((enum gpu_gap)gap), sums->gap_ns[gap],
				  sums->step_ns, "%s", gpu_gap_words((enum gpu_gap)gap));
	if (use->unattributed_share >= WORTH_SAYING)
		page_entry(page, PART, PART + 14 + 21, "not known", "%s idle, and why is not known",
			   units_share(share, use->unattributed_share));
}

/* In most of the steps. */
static bool is_fed(const struct gpu_device *device)
{
	return device->fed_count * 2 > device->batch_count;
}

/* "BYTES, RATE, ...". */
static void put_copy_words(const struct report *report, char *text, size_t size)
{
	const struct gpu_sums *sums = &report->gpu_sums;
	const struct gpu_use *use = &report->gpu_use;
	char a[UNITS_MAX];

	page_append(text, size, "%s", units_bytes(a, sums->h2d_bytes));
	if (!isnan(use->h2d_bytes_per_s))
		page_append(text, size, ", %s/s", units_bytes(a, use->h2d_bytes_per_s));
	if (!isnan(use->pageable_share))
		page_append(text, size, ", %s from pageable memory",
			    units_share(a, use->pageable_share));
	if (!isnan(use->overlap_share))
		page_append(text, size, ", at most %s of the time beside kernels",
			    units_share(a, use->overlap_share));
}

/* All threads: what they waited for. */
static double put_sync_words(const struct gpu_sums *sums, char *text, size_t size)
{
	double all_ns = 0;
	char a[UNITS_MAX];
	int sync;

	page_append(text, size, "all threads: ");
	for (sync = 0; sync < GPU_SYNC_MAX; sync++) {
		if (!(sums->sync_ns[sync] > 0))
			continue;
		page_append(text, size, "%s%s %s", all_ns > 0 ? ", " : "for ",
			    units_time(a, sums->sync_ns[sync]), gpu_sync_id((enum gpu_sync)sync));
		all_ns += sums->sync_ns[sync];
	}
	return all_ns;
}

static void put_call(const struct report *report, struct gpu_work *ret, const char *label,
		     double ns, const char *words)
{
	char share[UNITS_MAX];

	*ret = (struct gpu_work){.label = label, .is_time = true, .ns = ns};
	if (report->gpu_sums.step_ns > 0)
		page_append(ret->words, sizeof(ret->words), "%s of the steps, ",
			    units_share(share, ns / report->gpu_sums.step_ns));
	page_append(ret->words, sizeof(ret->words), "%s", words);
}

/* Where the calls of single threads were recorded. */
static size_t put_calls(const struct report *report, struct gpu_work *ret)
{
	const struct gpu_call_sums *calls = &report->gpu_calls;
	double others_ns = calls->other_sync_ns + calls->other_copy_ns + calls->other_launch_ns;
	char a[UNITS_MAX], b[UNITS_MAX];
	size_t n = 0;

	if (!(calls->batch_count > 0))
		return 0;
	if (calls->sync_ns >= 0) {
		put_call(report, &ret[n++], "in sync", calls->sync_ns,
			 "the training thread until the GPU was done");
		put_call(report, &ret[n++], "in copies", calls->copy_ns,
			 "the training thread; with pageable memory, as .item() has it, the call "
			 "waits");
		put_call(report, &ret[n], "launching", calls->launch_ns, "the training thread");
		page_append(ret[n].words, sizeof(ret[n].words), ", %.4g calls a step",
			    calls->launch_count / calls->batch_count);
		n++;
	}
	if (others_ns > 0) {
		ret[n] = (struct gpu_work){.label = "others", .is_time = true, .ns = others_ns};
		page_append(ret[n].words, sizeof(ret[n].words),
			    "all other threads: %s in sync, %s in copies, %.4g launches a step",
			    units_time(a, calls->other_sync_ns),
			    units_time(b, calls->other_copy_ns),
			    calls->other_launch_count / calls->batch_count);
		n++;
	}
	return n;
}

size_t gpu_work(const struct report *report, struct gpu_work *ret)
{
	const struct gpu_sums *sums = &report->gpu_sums;
	char a[UNITS_MAX];
	size_t n = 0;

	memset(ret, 0, GPU_MOST_WORK * sizeof(*ret));
	if (sums->h2d_bytes > 0 || sums->h2d_ns > 0) {
		ret[n].label = "to the GPU";
		ret[n].is_time = true;
		ret[n].ns = sums->h2d_ns;
		put_copy_words(report, ret[n].words, sizeof(ret[n].words));
		n++;
	}
	if (sums->d2h_bytes > 0 || sums->d2h_ns > 0) {
		ret[n].label = "from the GPU";
		ret[n].is_time = true;
		ret[n].ns = sums->d2h_ns;
		page_append(ret[n].words, sizeof(ret[n].words), "%s",
			    units_bytes(a, sums->d2h_bytes));
		n++;
	}
	if (sums->memset_ns > 0) {
		ret[n++] = (struct gpu_work){
			.label = "memset", .is_time = true, .ns = sums->memset_ns};
	}
	ret[n] = (struct gpu_work){.label = "host in sync", .is_time = true};
	ret[n].ns = put_sync_words(sums, ret[n].words, sizeof(ret[n].words));
	if (ret[n].ns > 0)
		n++;
	if (sums->kernel_count >= 0 && sums->seen_count > 0) {
		ret[n] = (struct gpu_work){.label = "launches", .ns = NAN};
		page_append(ret[n].words, sizeof(ret[n].words), "%.4g kernels",
			    sums->kernel_count / sums->seen_count);
		if (sums->graph_count > 0)
			page_append(ret[n].words, sizeof(ret[n].words), " and %.3g graphs",
				    sums->graph_count / sums->seen_count);
		page_append(ret[n].words, sizeof(ret[n].words), " a step");
		n++;
	}
	return n + put_calls(report, ret + n);
}

static void print_work(const struct report *report, const struct page *page)
{
	struct gpu_work work[GPU_MOST_WORK];
	size_t count = gpu_work(report, work), i;

	for (i = 0; i < count; i++)
		if (work[i].is_time)
			page_part(page, work[i].label, work[i].ns, NAN, "%s", work[i].words);
		else
			page_entry(page, PART, PART + 14, work[i].label, "%s", work[i].words);
}

bool gpu_is_kernel_sure(const struct tally *kernel)
{
	return kernel->ns > 0 && kernel->error_ns <= kernel->ns / 2;
}

/* Which of several devices starve: the shares above are those of the ones that are fed. */
static void print_devices(const struct report *report, const struct page *page)
{
	const struct gpu_device_list *list = &report->gpu_devices;
	char busy[UNITS_MAX], idle[UNITS_MAX], bytes[UNITS_MAX];
	size_t i;

	if (list->count < 2 || !(list->items[0].step_ns > 0))
		return;
	page_line(page, "%*sBy device; * is fed by the loader, and counts above", INDENT, "");
	for (i = 0; i < list->count; i++) {
		const struct gpu_device *device = &list->items[i];
		char text[256] = "";

		page_append(text, sizeof(text), "busy %s",
			    units_share(busy, device->busy_ns / device->step_ns));
		if (!isnan(device->idle_wait_ns))
			page_append(text, sizeof(text), ", idle for data %s",
				    units_share(idle, device->idle_wait_ns / device->step_ns));
		if (device->h2d_bytes > 0)
			page_append(text, sizeof(text), ", %s from the host",
				    units_bytes(bytes, device->h2d_bytes));
		if (device->peer_bytes > 0)
			page_append(text, sizeof(text), ", %s of peer copies",
				    units_bytes(bytes, device->peer_bytes));
		page_entry(page, PART, PART + 5, "", "%2" PRId64 "%c  %s%s%s", device->number,
			   is_fed(device) ? '*' : ' ', device->name, device->name[0] ? ": " : "",
			   text);
	}
}

static void print_kernels(const struct report *report, const struct page *page)
{
	const struct tally_list *kernels = &report->gpu.kernels;
	char time[UNITS_MAX], count[UNITS_MAX], each[UNITS_MAX];
	size_t i;

	if (!kernels->count)
		return;
	page_line(page, "%*sKernels with most time, of the whole run", INDENT, "");
	for (i = 0; i < kernels->count && i < MOST_KERNELS; i++) {
		const struct tally *kernel = &kernels->items[i];

		if (!gpu_is_kernel_sure(kernel))
			break;
		page_line(page, "%*s%8s %9s x %8s  %.*s", PART, "",
			  units_time(time, (double)kernel->ns), units_count(count, kernel->count),
			  units_time(each, (double)kernel->ns / (double)kernel->count), NAME_BYTES,
			  kernel->name);
	}
}

void gpu_text(const struct report *report, const struct page *page)
{
	const struct gpu_sums *sums = &report->gpu_sums;
	const struct gpu_info *info = &report->gpu;
	char count[UNITS_MAX];

	if (!report->gpu_use.is_known && !info->kernels.count)
		return;
	page_line(page, "%*sThe GPU%s%s%s, in %s steps%s", INDENT, "", info->device ? " (" : "",
		  info->device ? info->device : "", info->device ? ")" : "",
		  units_count(count, (int64_t)sums->seen_count),
		  sums->batch_count > 0 ? " (shares of them)" : "");
	print_time(report, page);
	print_work(report, page);
	print_devices(report, page);
	print_kernels(report, page);
	page_break(page);
}

const char *gpu_clock(const struct report *report)
{
	return report->finding.by_gpu ? "gpu" : "host";
}

static void put_clock_words(const struct finding *finding, char *text, size_t size)
{
	char share[UNITS_MAX];

	if (finding->by_gpu && finding->unseen_count)
		page_append(text, size,
			    "the GPU's: waits while it was idle. Nothing is known of it in %s of "
			    "the batches, and %zu of them are left out",
			    units_share(share, 1 - finding->gpu_share), finding->unseen_count);
	else if (finding->by_gpu)
		page_append(text, size, "the GPU's: waits while it was idle");
	else if (finding->gpu_share > 0)
		page_append(text, size,
			    "the host's: what the main process waited, an upper bound on the GPU's "
			    "starvation. Of the GPU too little is known: %s of the batches",
			    units_share(share, finding->gpu_share));
	else
		page_append(text, size,
			    "the host's: what the main process waited; with a GPU this is an upper "
			    "bound on the GPU's starvation");
}

void gpu_coverage(const struct report *report,
		  void (*row)(void *context, const char *label, const char *text), void *context)
{
	const struct gpu_info *info = &report->gpu;
	char text[400] = "", a[UNITS_MAX], b[UNITS_MAX];

	if (info->mode && strcmp(info->mode, "cupti") != 0) {
		page_append(text, sizeof(text), "%s%s%s",
			    strcmp(info->mode, "off") == 0
				    ? "not recorded"
				    : "only what the host saw of it was recorded, no times of its "
				      "own",
			    info->reason ? ": " : "", info->reason ? info->reason : "");
		row(context, "GPU", text);
	}
	if (info->level_reason) {
		snprintf(text, sizeof(text), "recorded at the level %s: %s",
			 info->level ? info->level : "default", info->level_reason);
		row(context, "GPU", text);
	}
	if (info->gap_count > 0) {
		snprintf(text, sizeof(text), "no records for %s in %s gap%s%s%s",
			 units_time(a, info->gap_ns), units_count(b, info->gap_count),
			 info->gap_count == 1 ? "" : "s", info->gap_why[0] ? ": " : "",
			 info->gap_why);
		row(context, "GPU", text);
	}
	if (info->bad_count > 0) {
		snprintf(text, sizeof(text),
			 "%s of %s records had impossible times and are left out",
			 units_count(a, info->bad_count), units_count(b, info->record_count));
		row(context, "GPU", text);
	}
	if (info->dropped_count > 0 || info->own_drop_count > 0) {
		snprintf(text, sizeof(text), "%s records were dropped by CUPTI, %s by dlprof",
			 units_count(a, info->dropped_count > 0 ? info->dropped_count : 0),
			 units_count(b, info->own_drop_count > 0 ? info->own_drop_count : 0));
		row(context, "GPU", text);
	}
	text[0] = '\0';
	put_clock_words(&report->finding, text, sizeof(text));
	row(context, "Clock", text);
}

static void add_seconds(struct jsonw *json, const char *key, double ns)
{
	jsonw_number(json, key, ns / NS_PER_S);
}

static void add_count(struct jsonw *json, const char *key, double count)
{
	jsonw_int(json, key, count >= 0 ? (int64_t)fmin(count, 9e18) : QUERY_UNKNOWN);
}

static void add_gaps(const struct report *report, struct jsonw *json)
{
	char key[32];
	int gap;

	jsonw_open(json, "idle", '{');
	for (gap = 0; gap < GPU_GAP_MAX; gap++) {
		snprintf(key, sizeof(key), "%s_s", gpu_gap_id((enum gpu_gap)gap));
		add_seconds(json, key, report->gpu_sums.gap_ns[gap]);
	}
	add_seconds(json, "unattributed_s",
		    report->gpu_use.unattributed_share * report->gpu_sums.step_ns);
	jsonw_close(json, '}');
}

static void add_sync(const struct report *report, struct jsonw *json)
{
	char key[32];
	int sync;

	jsonw_open(json, "sync", '{');
	for (sync = 0; sync < GPU_SYNC_MAX; sync++) {
		snprintf(key, sizeof(key), "%s_s", gpu_sync_id((enum gpu_sync)sync));
		add_seconds(json, key, report->gpu_sums.sync_ns[sync]);
	}
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
	add_seconds(json, "training_sync_s", calls->sync_ns);
	add_seconds(json, "training_copy_s", calls->copy_ns);
	add_seconds(json, "training_launch_s", calls->launch_ns);
	jsonw_number(json, "training_launches_per_step", calls->launch_count / calls->batch_count);
	add_seconds(json, "others_sync_s", calls->other_sync_ns);
	add_seconds(json, "others_copy_s", calls->other_copy_ns);
	add_seconds(json, "others_launch_s", calls->other_launch_ns);
	jsonw_number(json, "others_launches_per_step",
		     calls->other_launch_count / calls->batch_count);
	jsonw_close(json, '}');
}

static void add_kernels(const struct report *report, struct jsonw *json)
{
	size_t i;

	jsonw_open(json, "kernels", '[');
	for (i = 0; i < report->gpu.kernels.count; i++) {
		const struct tally *kernel = &report->gpu.kernels.items[i];

		jsonw_open(json, NULL, '{');
		jsonw_string(json, "name", kernel->name);
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
	size_t i;

	jsonw_open(json, "devices", '[');
	for (i = 0; i < list->count; i++) {
		const struct gpu_device *device = &list->items[i];
		bool alone = list->count == 1;

		jsonw_open(json, NULL, '{');
		jsonw_int(json, "device", device->number);
		jsonw_string(json, "name", device->name[0] ? device->name : NULL);
		if (alone || isnan(device->fed_count))
			jsonw_null(json, "fed");
		else
			jsonw_bool(json, "fed", is_fed(device));
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
	add_seconds(json, "steps_s", sums->step_ns);
	add_seconds(json, "busy_s", sums->busy_ns);
	jsonw_number(json, "busy_share", use->busy_share);
	jsonw_bool(json, "busy_is_upper_bound", info->is_upper_bound);
	jsonw_number(json, "idle_share", use->idle_share);
	add_gaps(report, json);
	add_seconds(json, "collectives_s", sums->nccl_ns);
	jsonw_number(json, "kernels_per_step", sums->kernel_count / sums->seen_count);
	jsonw_number(json, "graphs_per_step", sums->graph_count / sums->seen_count);
	add_seconds(json, "h2d_s", sums->h2d_ns);
	add_count(json, "h2d_bytes", sums->h2d_bytes);
	jsonw_number(json, "h2d_bytes_per_s", use->h2d_bytes_per_s);
	jsonw_number(json, "h2d_pageable_share", use->pageable_share);
	jsonw_number(json, "h2d_overlap_share_most", use->overlap_share);
	add_seconds(json, "d2h_s", sums->d2h_ns);
	add_count(json, "d2h_bytes", sums->d2h_bytes);
	add_seconds(json, "memset_s", sums->memset_ns);
	add_sync(report, json);
	add_devices(report, json);
	add_calls(report, json);
	add_kernels(report, json);
	jsonw_close(json, '}');
}

void gpu_coverage_json(const struct report *report, struct jsonw *json)
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
	add_seconds(json, "gpu_gaps_s", info->gap_ns);
	jsonw_string(json, "gpu_gap_why", info->gap_why[0] ? info->gap_why : NULL);
	jsonw_int(json, "cupti_version", info->cupti_version);
}
