/* SPDX-License-Identifier: Apache-2.0 */
/* remedy_training.c - says what to change in what the training's own thread does. */
#include "render/run/remedy.h"

#include <string.h>

#include "analysis/cause/grounds.h"

#define STATEFUL "torchdata.StatefulDataLoader"

/* Returns true if the waits are mostly for a sampler that calls the dataset's __getitem__(). */
static bool sampler_loads(const struct report *report)
{
	const struct line_share *line = lines_leading(&report->lines, LINE_WAITS);

	return line && report->samples.frames[line->frame].does & LINE_GETS_ITEM;
}

void remedy_sampler(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	if (sampler_loads(report))
		ret->how = "The sampler asks the dataset for samples. What it needs of them "
			   "(lengths, labels) can be found once, in __init__.";
	else
		remedy_lead(report, LINE_WAITS, ret);
}

/* Says what takes the time when a batch is received, as far as that is known. */
static void add_receiving(const struct report *report, struct remedy *ret)
{
	const struct grounds *r = &report->diagnosis.grounds;

	if (r->fetch.count > 0 && r->fetch.share > 0)
		remedy_how(ret, "%s of it is asking workers for descriptors of tensors' memory "
			   "(%.2g a batch, %s each), which torch.multiprocessing's "
			   "set_sharing_strategy('file_system') saves; the rest is the pipe, "
			   "unpickling and mapping.", UNITS_SHARE(r->fetch.share), r->fetch.count,
			   UNITS_TIME(r->fetch.each_ns));
	if (report->loader && strncmp(report->loader->kind, STATEFUL, strlen(STATEFUL)) == 0)
		remedy_how(ret, " With each batch comes the state of its worker's dataset: keep "
				"buffers out of state_dict(), or send it less often "
				"(snapshot_every_n_steps).");
}

void remedy_receiving(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	if (!remedy_lead(report, LINE_WAITS, ret))
		add_receiving(report, ret);
}

void remedy_pauses(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	if (report->diagnosis.cause != CAUSE_LOGGING)
		return;
	/* A constructor of the user's that takes the pauses makes something anew. */
	if (code_is_leader_maker(report, LINE_AFTERS)) {
		ret->line = "Make that object once, before the loop, not again and again.";
		ret->how = "What the constructor (__init__) reads or computes can be kept between "
			   "epochs. Lightning makes loaders and datasets anew with "
			   "reload_dataloaders_every_n_epochs.";
	} else if (lines_lead_in_gaps(&report->lines)) {
		ret->line = "Do what lies between epochs faster, or less often.";
		ret->how = "Work on whole arrays, not on elements; keep what stays as it is; or do "
			   "it in another process while the epoch runs.";
	} else {
		ret->line = "Do what follows the optimizer less often, or faster.";
		ret->how = "Log every hundredth step, average weights every tenth, validate on "
			   "fewer batches.";
	}
}

void remedy_other_thread(const struct report *report, const struct advice *advice,
			 struct remedy *ret)
{
	if (report->diagnosis.cause == CAUSE_STEPS_HELD)
		ret->how = "If the thread loads batches (a background generator around a "
			   "DataLoader), give that DataLoader num_workers; else use "
			   "multiprocessing.Process instead of threading.Thread.";
}

/* Adds what else is known of long steps: they grow, wait for other ranks, or compile. */
static void add_step(const struct report *report, struct remedy *ret)
{
	const struct grounds *r = &report->diagnosis.grounds;

	/* Steps may also become longer because other programs have come to run. */
	if (r->step_growth.is_lasting && !series_has_others(&report->series)) {
		remedy_how(ret, " Steps become longer: ");
		evidence_add_growth(&r->step_growth, &(struct text){ret->how_buffer, REMEDY_WORDS});
		remedy_how(ret, ".");
	}
	if (report->facts.ranks > 1)
		remedy_how(ret, " The step may wait for other ranks: dlprof-report of the job's "
			   "folder compares all %.0f.", report->facts.ranks);
	if (r->compiling_share > 0)
		remedy_how(ret, " torch.compile() compiles in %s of the time before the backward "
			   "pass, and not only at first. Pad inputs to a few shapes, or use "
			   "dynamic=True.", UNITS_SHARE(r->compiling_share));
}

void remedy_step(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const char *how = "The framework's own profiler (torch.profiler, say) names the operators "
			  "in the step.";

	if (code_named(report, LINE_STEPS))
		how = "Begin with the line of code that takes most of it.";
	if (!remedy_lead(report, LINE_STEPS, ret))
		remedy_how(ret, "%s", how);
	add_step(report, ret);
}

void remedy_copies(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const struct gpu_use *use = &report->gpu_use;

	/* Without times of copies, as in a run that CUPTI did not see, keep the usual words. */
	if (isnan(use->exposed_share) || !(report->gpu_sums.seen_count > 0))
		return;
	remedy_how(ret, "The GPU only receives for %s of the time: %s a step, %s/s, %s from pinned "
		   "memory. %s", UNITS_SHARE(use->exposed_share),
		   UNITS_BYTES(report->gpu_sums.h2d_bytes / report->gpu_sums.seen_count),
		   UNITS_BYTES(use->h2d_bytes_per_s), UNITS_SHARE(1 - use->pageable_share),
		   ret->how);
}
