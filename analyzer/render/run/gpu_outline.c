/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/form/units.h"
#include "render/form/verdict.h"

#define MOST_KERNELS 10
#define KERNEL_BYTES 400
#define KERNEL_MOST  100 /* longer names lose levels of their template arguments */
#define KERNEL_DEPTH 6
#define WORTH_SAYING 0.001

/*
 * With this version of CUPTI or a newer one, and a driver of CUDA 13.3 or newer, all subscribers
 * must use the same interface as the first one. dlprof uses the old interface. So CUPTI refuses a
 * program that subscribes by the new one after dlprof (cupti.h of CUDA 13.3).
 */
#define CUPTI_SECOND_INTERFACE 130300

static const struct {
	const char *label, *words;
} GAPS[GPU_GAP_MAX] = {
	[GPU_GAP_DATA] = {"data", "idle while the training waited for a batch"},
	[GPU_GAP_H2D] = {"copies", "idle but for copies to it"},
	[GPU_GAP_SYNC] = {"sync", "idle after the host had waited for it"},
	[GPU_GAP_HOST] = {"host", "idle, as the host launched nothing"},
	[GPU_GAP_OTHER] = {"other", "idle otherwise"},
};

const char *gpu_gap_words(enum gpu_gap gap)
{
	return GAPS[gap].words;
}

static void add_time(const struct report *report, struct outline *o)
{
	const struct gpu_sums *sums = &report->gpu_sums;
	const struct gpu_use *use = &report->gpu_use;
	const struct gpu_info *info = &report->gpu;

	outline_table(o, "gpu", OUTLINE_PARTS);
	outline_title(o, "The GPU%s%s%s, in %s steps%s", info->device ? " (" : "",
		      info->device ? info->device : "", info->device ? ")" : "",
		      UNITS_COUNT((int64_t)sums->seen_count),
		      sums->batch_count > 0 ? " (shares of them)" : "");
	if (!(sums->batch_count > 0))
		return;
	outline_part(o, "busy", sums->busy_ns, sums->step_ns, "%s",
		     info->is_upper_bound ? "at most: graphs are recorded as wholes" : "");
	if (sums->nccl_ns > 0 && sums->compute_ns >= 0) {
		outline_part(o, "computing", sums->compute_ns, sums->step_ns,
			     "part of busy: kernels other than collectives");
		outline_part(o, "collectives", sums->busy_ns - sums->compute_ns, sums->step_ns,
			     "part of busy: only collectives, which exchange with other ranks or "
			     "wait for them");
	}
	if (sums->loading_ns > 0)
		outline_part(o, "loading", sums->loading_ns, sums->step_ns,
			     "not counted as busy: kernels of a GPU loader (DALI, nvJPEG, ...) or "
			     "of threads that do not train");
	for (int gap = 0; gap < GPU_GAP_MAX; gap++)
		if (!isnan(sums->gap_ns[gap]))
			outline_part(o, GAPS[gap].label, sums->gap_ns[gap], sums->step_ns, "%s%s",
				     GAPS[gap].words,
				     gap == GPU_GAP_DATA ? ", start-up included" : "");
	if (use->refill_share >= WORTH_SAYING)
		outline_part(o, "refilling", sums->refill_ns, sums->step_ns,
			     "part of the four above: idle from a wait to the first kernel");
	if (use->unattributed_share >= WORTH_SAYING)
		outline_part(o, "not known", use->unattributed_share * sums->step_ns, sums->step_ns,
			     "idle, and why is not known");
}

bool gpu_is_fed(const struct gpu_device *device)
{
	return device->fed_count * 2 > device->batch_count;
}

static void put_copy_words(const struct report *report, struct text *text)
{
	const struct gpu_sums *sums = &report->gpu_sums;
	const struct gpu_use *use = &report->gpu_use;

	text_add(text, "%s", UNITS_BYTES(sums->h2d_bytes));
	if (!isnan(use->h2d_bytes_per_s))
		text_add(text, ", %s/s", UNITS_BYTES(use->h2d_bytes_per_s));
	if (!isnan(use->pageable_share))
		text_add(text, ", %s from pageable memory", UNITS_SHARE(use->pageable_share));
	if (!isnan(use->overlap_share))
		text_add(text, ", at most %s of the time beside kernels",
			 UNITS_SHARE(use->overlap_share));
}

static void add_sync(const struct gpu_sums *sums, struct outline *o)
{
	double all_ns = 0;
	struct text text = TEXT_OF(256);

	for (int sync = 0; sync < GPU_SYNC_MAX; sync++) {
		if (!(sums->sync_ns[sync] > 0))
			continue;
		text_add(&text, "%s%s %s", all_ns > 0 ? ", " : "for ",
			 UNITS_TIME(sums->sync_ns[sync]), gpu_sync_ids[sync]);
		all_ns += sums->sync_ns[sync];
	}
	if (all_ns > 0)
		outline_part(o, "host in sync", all_ns, NAN, "all threads: %s", text.words);
}

static void add_calls(const struct report *report, struct outline *o)
{
	const struct gpu_call_sums *calls = &report->gpu_calls;
	double others_ns = calls->other_sync_ns + calls->other_copy_ns + calls->other_launch_ns;
	double step_ns = report->gpu_sums.step_ns > 0 ? report->gpu_sums.step_ns : NAN;

	if (!(calls->batch_count > 0))
		return;
	if (calls->sync_ns >= 0) {
		outline_part(o, "in sync", calls->sync_ns, step_ns,
			     "the training thread until the GPU was done");
		outline_part(o, "in copies", calls->copy_ns, step_ns,
			     "the training thread; with pageable memory, as .item() has it, the "
			     "call waits");
		outline_part(o, "launching", calls->launch_ns, step_ns,
			     "the training thread, %.4g calls a step",
			     calls->launch_count / calls->batch_count);
	}
	if (others_ns > 0)
		outline_part(o, "others", others_ns, NAN,
			     "all other threads: %s in sync, %s in copies, %.4g launches a step",
			     UNITS_TIME(calls->other_sync_ns), UNITS_TIME(calls->other_copy_ns),
			     calls->other_launch_count / calls->batch_count);
}

static void add_work(const struct report *report, struct outline *o)
{
	const struct gpu_sums *sums = &report->gpu_sums;
	struct text text = TEXT_OF(256);

	outline_table(o, "gpu", OUTLINE_PARTS);
	outline_title(o, "Copies and launches");
	if (sums->h2d_bytes > 0 || sums->h2d_ns > 0) {
		put_copy_words(report, &text);
		outline_part(o, "to the GPU", sums->h2d_ns, NAN, "%s", text.words);
	}
	if (sums->d2h_bytes > 0 || sums->d2h_ns > 0)
		outline_part(o, "from the GPU", sums->d2h_ns, NAN, "%s",
			     UNITS_BYTES(sums->d2h_bytes));
	if (sums->memset_ns > 0)
		outline_part(o, "memset", sums->memset_ns, NAN, "%s", "");
	if (report->gpu.peer_bytes > 0)
		outline_part(o, "between GPUs", NAN, NAN, "%s by calls of the host, in all",
			     UNITS_BYTES(report->gpu.peer_bytes));
	if (report->gpu.memset_count > 0)
		outline_part(o, "memset", NAN, NAN, "%s calls of the host, in all",
			     UNITS_COUNT(report->gpu.memset_count));
	add_sync(sums, o);
	if (sums->kernel_count >= 0 && sums->seen_count > 0) {
		outline_cells(o, "launches", "", "");
		*text.words = '\0';
		text_add(&text, "%.4g kernels", sums->kernel_count / sums->seen_count);
		if (sums->graph_count > 0)
			text_add(&text, " and %.3g graphs", sums->graph_count / sums->seen_count);
		outline_cell(o, "%s a step%s", text.words,
			     report->gpu.mode && strcmp(report->gpu.mode, "cudart") == 0
				     ? ", the program's and PyTorch's own: those of cuBLAS, cuDNN, "
				       "NCCL and Triton are not seen without CUPTI"
				     : "");
	}
	add_calls(report, o);
}

static void add_parts(const struct report *report, struct outline *o)
{
	const struct gpu_sums *sums = &report->gpu_sums;

	if (!report->step.is_split || isnan(sums->part_idle_ns[0]))
		return;
	outline_table(o, "gpu", "", "#Idle", "#Launched");
	outline_title(o, "By part of the step: GPU idle (not for data or copies); its kernels%s",
		      isnan(sums->part_launched_ns[0]) ? " (with DLPROF_CUDA=api)" : "");
	for (int i = 0; i < GPU_PARTS; i++)
		outline_cells(
			o, step_part_names[gpu_parts_of_step(i)], UNITS_TIME(sums->part_idle_ns[i]),
			isnan(sums->part_launched_ns[i]) ? "-"
							 : UNITS_TIME(sums->part_launched_ns[i]));
}

static void add_devices(const struct report *report, struct outline *o)
{
	const struct gpu_device_list *list = &report->gpu_devices;

	if (list->count < 2 || !(list->items[0].step_ns > 0))
		return;
	outline_table(o, "gpu", "", "#Busy", "#Idle for data", "#From host", "#From peers", "");
	outline_title(o, "By device; * is fed by the loader, and counts above");
	for (size_t i = 0; i < list->count; i++) {
		const struct gpu_device *device = &list->items[i];

		outline_first(o, PAGE_PLAIN, "%2" PRId64 "%s", device->number,
			      gpu_is_fed(device) ? " *" : "");
		outline_more(o, UNITS_SHARE(device->busy_ns / device->step_ns),
			     UNITS_SHARE(device->idle_wait_ns / device->step_ns),
			     device->h2d_bytes > 0 ? UNITS_BYTES(device->h2d_bytes) : "-",
			     device->peer_bytes > 0 ? UNITS_BYTES(device->peer_bytes) : "-",
			     device->name);
	}
}

/* Writes a kernel's name without parameters and without template arguments deeper than `depth`. */
static void put_kernel(const char *name, int depth, char *ret, size_t size)
{
	static const char unnamed[] = "(anonymous namespace)";
	size_t length = 0;
	int level = 0;

	for (; *name && length + 4 < size; name++) {
		bool is_unnamed = strncmp(name, unnamed, sizeof(unnamed) - 1) == 0;

		if (*name == '(' && level == 0 && !is_unnamed)
			break;
		if (*name == '>' && level > 0)
			level--;
		if (level <= depth)
			ret[length++] = *name;
		if (*name == '<' && level++ == depth)
			length += (size_t)snprintf(ret + length, size - length, "...");
		for (size_t i = 1; is_unnamed && i < sizeof(unnamed) - 1 && length + 4 < size;
		     i++) {
			name++;
			if (level <= depth)
				ret[length++] = *name;
		}
	}
	ret[length] = '\0';
}

static const char *kernel_words(const char *name, char ret[KERNEL_BYTES])
{
	int depth = KERNEL_DEPTH;

	if (strncmp(name, "void ", 5) == 0)
		name += 5;
	do
		put_kernel(name, depth, ret, KERNEL_BYTES);
	while (strlen(ret) > KERNEL_MOST && depth-- > 0);
	return ret;
}

static void add_kernels(const struct report *report, struct outline *o)
{
	const struct tally_list *kernels = &report->gpu.kernels;
	char words[KERNEL_BYTES];

	outline_table(o, "gpu", "#Time", "#Launches", "#Each", "Kernel");
	outline_title(o, "Kernels with most time, of the whole run");
	for (size_t i = 0; i < kernels->count && i < MOST_KERNELS; i++) {
		const struct tally *kernel = &kernels->items[i];

		/* A time is not shown if more than half of it may belong to other kernels. */
		if (kernel->ns <= 0 || kernel->error_ns > kernel->ns / 2)
			break;
		outline_cells(o, UNITS_TIME((double)kernel->ns), UNITS_COUNT(kernel->count),
			      UNITS_TIME((double)kernel->ns / (double)kernel->count),
			      kernel_words(gpu_kernel_name(&report->gpu, i), words));
	}
}

void gpu_outline(const struct report *report, struct outline *o)
{
	if (!report->gpu_use.is_known && !report->gpu.kernels.count)
		return;
	add_time(report, o);
	add_parts(report, o);
	add_work(report, o);
	add_devices(report, o);
	add_kernels(report, o);
}

const char *gpu_clock(const struct report *report)
{
	return report->finding.by_gpu ? "gpu" : "host";
}

static void add_clock(const struct report *report, struct outline *o)
{
	const struct finding *f = &report->finding;
	struct text text = TEXT_OF(320);

	text_add(&text, "%s", verdict_clocks[f->by_gpu].meaning);
	if (f->by_gpu && f->unseen_count)
		text_add(&text, ", known in %s of the batches; %zu are left out",
			 UNITS_SHARE(f->gpu_share), f->unseen_count);
	else if (!f->by_gpu)
		text_add(&text, ", " VERDICT_BOUND " for the GPU%s",
			 report->gpu.mode || f->gpu_share > 0 ? "" : " where there is one");
	if (!f->by_gpu && f->gpu_share > 0)
		text_add(&text, ", whose times are known for too few batches: %s",
			 UNITS_SHARE(f->gpu_share));
	outline_item(o, "Clock", "%s", text.words);
}

/* Returns true if the program was seen to launch kernels, or to copy to the GPU. */
static bool has_calls(const struct gpu_sums *sums)
{
	return sums->kernel_count > 0 || sums->graph_count > 0 || sums->h2d_bytes > 0;
}

void gpu_outline_coverage(const struct report *report, struct outline *o)
{
	const struct gpu_info *info = &report->gpu;

	add_clock(report, o);
	if (info->mode && strcmp(info->mode, "cupti") == 0)
		outline_item(o, "GPU", "CUPTI %" PRId64 " gave %s records%s", info->cupti_version,
			     UNITS_COUNT(info->record_count > 0 ? info->record_count : 0),
			     info->cupti_version >= CUPTI_SECOND_INTERFACE
				     ? "; with a driver of CUDA 13.3 or newer jax.profiler may "
				       "find CUPTI taken: set DLPROF_CUDA=off in runs in which it "
				       "has to see the GPU"
				     : "");
	else if (info->mode)
		outline_item(o, "GPU", "%s%s%s",
			     strcmp(info->mode, "off") == 0 ? "not recorded"
			     : has_calls(&report->gpu_sums)
				     ? "only the host's calls were recorded, not the GPU's own "
				       "times"
				     : "no launch and no copy to it was seen: without CUPTI, calls "
				       "of CUDA's runtime are, but JAX, TensorFlow and CuPy call "
				       "the driver",
			     info->reason ? ": " : "", info->reason ? info->reason : "");
	if (info->level_reason)
		outline_item(o, "GPU", "recorded at the level %s: %s",
			     info->level ? info->level : "default", info->level_reason);
	if (info->shared)
		outline_item(o, "GPU",
			     "shared with %s, by NVML: programs take turns on a GPU, so kernels "
			     "and waits take longer, and idle time may be the other's turn",
			     info->shared);
	if (info->gap_count > 0)
		outline_item(o, "GPU", "no records for %s in %s gap%s%s%s",
			     UNITS_TIME(info->gap_ns), UNITS_COUNT(info->gap_count),
			     info->gap_count == 1 ? "" : "s", info->gap_why[0] ? ": " : "",
			     info->gap_why);
	if (info->bad_count > 0)
		outline_item(o, "GPU",
			     "%s of %s records had impossible times or sizes and are left out",
			     UNITS_COUNT(info->bad_count), UNITS_COUNT(info->record_count));
	if (info->dropped_count > 0 || info->own_drop_count > 0)
		outline_item(o, "GPU", "%s records were dropped by CUPTI, %s by dlprof",
			     UNITS_COUNT(info->dropped_count > 0 ? info->dropped_count : 0),
			     UNITS_COUNT(info->own_drop_count > 0 ? info->own_drop_count : 0));
}
