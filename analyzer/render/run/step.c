/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/parts.h"

#include <string.h>

#include "render/form/units.h"

#define WORTH_SAYING 0.01

static const struct {
	const char *label, *note;
} PARTS[STEP_PART_MAX] = {
	[STEP_BEFORE] = {"before backward", "up to the backward pass: copies to the GPU, forward, "
					    "loss"},
	[STEP_BACKWARD] = {"backward", "the backward pass"},
	[STEP_BETWEEN] = {"between", "from there to the optimizer: clipping, scaling"},
	[STEP_OPTIMIZER] = {"optimizer", "the optimizer's step, without its closure"},
	[STEP_SAVE] = {"saving", "checkpoints"},
	[STEP_LOOPS] = {"other loops", "steps of loaders without a backward pass: validation"},
	[STEP_AFTER] = {"after", "all else: metrics, logging"},
};

/* Returns words for a step's part. If the optimizer was not observed, STEP_AFTER includes it. */
static const char *note_of(const struct step_parts *parts, enum step_part part)
{
	if (part == STEP_AFTER && !parts->has_optimizer)
		return "all else, with the optimizer, which was not observed";
	return PARTS[part].note;
}

const char *step_part_place(const struct step_parts *parts, enum step_part part)
{
	static const char *const places[STEP_PART_MAX] = {
		[STEP_BEFORE] = "before the backward pass",
		[STEP_BACKWARD] = "in the backward pass",
		[STEP_BETWEEN] = "between the backward pass and the optimizer",
		[STEP_OPTIMIZER] = "in the optimizer",
		[STEP_SAVE] = "saving checkpoints",
		[STEP_LOOPS] = "in loops without a backward pass",
		[STEP_AFTER] = "after the optimizer",
	};

	if (part == STEP_AFTER && !parts->has_optimizer)
		return "after the backward pass";
	return places[part];
}

const char *step_place(const struct report *report, enum step_part part)
{
	if (part == STEP_AFTER && lines_lead_in_gaps(&report->lines))
		return "between epochs";
	return step_part_place(&report->step, part);
}

/* Returns a part's time. The time of STEP_AFTER leaves out the time between epochs. */
static double without_gaps_ns(const struct step_parts *parts, enum step_part part)
{
	return parts->ns[part] - (part == STEP_AFTER ? fmax(parts->between_epochs_ns, 0) : 0);
}

bool step_add_words(const struct report *report, struct text *text)
{
	const struct step_parts *parts = &report->step;
	const char *separator = "";

	if (!parts->is_split)
		return false;
	for (int part = 0; part < STEP_PART_MAX; part++) {
		const double share = without_gaps_ns(parts, part) / parts->within_ns;

		if (part == STEP_LOOPS || !(share >= WORTH_SAYING))
			continue;
		text_add(text, "%s%s %s", separator, PARTS[part].label, UNITS_SHARE(share));
		separator = ", ";
	}
	if (parts->ns[STEP_LOOPS] >= WORTH_SAYING * parts->whole_ns)
		text_add(text, "; other loops %s in all", UNITS_TIME(parts->ns[STEP_LOOPS]));
	if (parts->between_epochs_ns >= WORTH_SAYING * parts->whole_ns)
		text_add(text, "; between epochs %s in all", UNITS_TIME(parts->between_epochs_ns));
	if (!parts->has_optimizer)
		text_add(text, " (the optimizer was not observed)");
	if (report_has_gpu(report))
		text_add(text, "; host's clock");
	return true;
}

void step_outline(const struct report *report, struct outline *o)
{
	const struct step_parts *parts = &report->step;

	if (!parts->is_split) {
		outline_items(o, "wait");
		if (report->finding.batch_count && report->series.compute_ns)
			outline_item(o, "Parts",
				     "steps are not split: in the thread that takes the batches no "
				     "backward pass of PyTorch's was seen within an epoch%s",
				     report->run.frameworks &&
						     (strstr(report->run.frameworks, "jax") ||
						      strstr(report->run.frameworks, "tensorflow"))
					     ? "; those of JAX and TensorFlow never are"
					     : "");
		return;
	}
	outline_table(o, "wait", OUTLINE_PARTS);
	outline_title(o, "The steps of %s, by the host's clock%s", UNITS_TIME(parts->whole_ns),
		      report_has_gpu(report)
			      ? ": where it waits for the GPU, that may be for earlier work"
			      : "");
	for (int part = 0; part < STEP_PART_MAX; part++) {
		if (parts->ns[part] == 0 && part >= STEP_SAVE)
			continue;
		outline_part(o, PARTS[part].label, without_gaps_ns(parts, part), parts->whole_ns,
			     "%s", note_of(parts, part));
		outline_share(o, without_gaps_ns(parts, part) / parts->whole_ns, 0);
	}
	if (parts->between_epochs_ns > 0) {
		outline_part(o, "between epochs", parts->between_epochs_ns, parts->whole_ns, "%s",
			     "from one epoch's end to the next one's start");
		outline_share(o, parts->between_epochs_ns / parts->whole_ns, 0);
	}
}
