/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/account/step_parts.h"

#include <math.h>

const char *const step_part_names[STEP_PART_MAX] = {
	[STEP_BEFORE] = "before",       [STEP_BACKWARD] = "backward",
	[STEP_BETWEEN] = "between",     [STEP_OPTIMIZER] = "optimizer",
	[STEP_SAVE] = "save",           [STEP_LOOPS] = "other_loops",
	[STEP_AFTER] = "after",
};

void step_parts_add(struct step_parts *parts, const struct step_sums *sums)
{
	const bool trains = sums->ns[STEP_BACKWARD] > 0 || sums->ns[STEP_OPTIMIZER] > 0;

	parts->is_split |= trains;
	parts->has_optimizer |= sums->ns[STEP_OPTIMIZER] > 0;
	/* A loop that does not train is all STEP_LOOPS, even its saves. */
	if (!trains)
		parts->ns[STEP_LOOPS] += fmax(sums->compute_ns, 0);
	else
		parts->within_ns += fmax(sums->compute_ns, 0);
	for (int part = 0; trains && part < STEP_TOLD_MAX; part++)
		parts->ns[part] += fmax(sums->ns[part], 0);
	parts->ns[STEP_SAVE] += fmax(sums->save_ns, 0);
	parts->within_ns += fmax(sums->save_ns, 0);
}

void step_parts_close(struct step_parts *parts, double whole_ns)
{
	double known_ns = 0, rest_ns;

	if (!parts->has_optimizer)
		parts->ns[STEP_BETWEEN] = parts->ns[STEP_OPTIMIZER] = 0;
	for (int part = 0; part < STEP_TOLD_MAX; part++)
		known_ns += parts->ns[part];
	/* If each step takes a batch of every loader, all loaders count the same steps. */
	if (parts->ns[STEP_LOOPS] > STEP_OVERLAP * fmax(whole_ns - known_ns, 0))
		parts->ns[STEP_LOOPS] = 0;
	known_ns += parts->ns[STEP_LOOPS];
	parts->whole_ns = fmax(whole_ns, known_ns);
	parts->ns[STEP_AFTER] = parts->whole_ns - known_ns;
	rest_ns = parts->whole_ns - parts->ns[STEP_LOOPS];
	/* The steps of several loaders overlap if they take longer than there is time for. */
	parts->between_epochs_ns = STEP_OVERLAP * rest_ns < parts->within_ns
					   ? NAN
					   : fmin(fmax(rest_ns - parts->within_ns, 0),
						  parts->ns[STEP_AFTER]);
	parts->within_ns = rest_ns - fmax(parts->between_epochs_ns, 0);
	if (!parts->has_optimizer)
		parts->ns[STEP_BETWEEN] = parts->ns[STEP_OPTIMIZER] = NAN;
	parts->is_split &= parts->whole_ns > 0;
}

double step_parts_share(const struct step_parts *parts, enum step_part part)
{
	return parts->is_split ? parts->ns[part] / parts->whole_ns : NAN;
}
