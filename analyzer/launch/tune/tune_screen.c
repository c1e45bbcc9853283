/* SPDX-License-Identifier: Apache-2.0 */
/* tune_screen.c - shows which settings were tried, what is proven, and what to change. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "dlprof/units.h"
#include "launch/tune/tune.h"
#include "render/form/facts.h"
#include "render/form/units.h"

static const struct tune_trial *find_best(const struct tune *tune)
{
	const struct tune_trial *best = NULL;
	double most = 0;

	for (size_t i = 0; i < tune->trial_count; i++) {
		const struct tune_trial *trial = &tune->trials[i];
		struct tune_interval gain =
			tune_interval(trial->gains, trial->count, tune->trial_count, 0);

		if (trial->verdict != TUNE_PROVEN || gain.mean <= most)
			continue;
		best = trial;
		most = gain.mean;
	}
	return best;
}

static struct tune_interval gain_of(const struct tune *tune, const struct tune_trial *trial)
{
	return tune_interval(trial->gains, trial->count, tune->trial_count,
			     (size_t)tune->options->rounds);
}

#define SETTING(c) tune_setting(c, (char[TUNE_SETTING]){0}, TUNE_SETTING)

/* Writes a setting as it is written in the program: False, True, or a string in quotes. */
static const char *code(const struct tune_candidate *c, char *buffer, size_t size)
{
	const struct dlprof_set_row *row = &dlprof_set_rows[c->key];
	bool is_flag = strcmp(row->words, "false|true") == 0;
	char value[32];

	tune_value(c, value, sizeof(value));
	if (is_flag)
		value[0] = (char)(value[0] - 'a' + 'A');
	snprintf(buffer, size, "%s%s%s%s%s", row->before, row->quoted ? "'" : "", value,
		 row->quoted ? "'" : "", row->after);
	return buffer;
}

#define CODE(c) code(c, (char[TUNE_SETTING]){0}, TUNE_SETTING)

static enum same same_of(const struct tune *tune, const struct tune_candidate *c)
{
	return same_after(c->key, c->before, c->value, tune->is_iterable);
}

static const char *predicted(const struct tune_candidate *c, char *buffer, size_t size)
{
	if (isnan(c->gain))
		return "";
	snprintf(buffer, size, "%s (%s to %s)", UNITS_FACTOR(1 + c->gain), UNITS_FACTOR(1 + c->low),
		 UNITS_FACTOR(1 + c->high));
	return buffer;
}

#define PREDICTED(c) predicted(c, (char[3 * UNITS_MAX]){0}, 3 * UNITS_MAX)

static const char *real_gain(const struct tune *tune, const struct tune_trial *trial, char *buffer,
			     size_t size)
{
	struct tune_interval gain = gain_of(tune, trial);

	if (!trial->count)
		return "-";
	if (isnan(gain.low))
		snprintf(buffer, size, "%s, one round", UNITS_FACTOR(exp(gain.mean)));
	else
		snprintf(buffer, size, "%s (%s to %s)", UNITS_FACTOR(exp(gain.mean)),
			 UNITS_FACTOR(exp(gain.low)), UNITS_FACTOR(exp(gain.high)));
	return buffer;
}

#define REAL(tune, trial) real_gain(tune, trial, (char[3 * UNITS_MAX]){0}, 3 * UNITS_MAX)

static double base_rate(const struct tune *tune)
{
	double sum = 0;

	for (size_t i = 0; i <= tune->round_count; i++)
		sum += log(tune->base_per_s[i]);
	return tune->round_count ? exp(sum / (double)(tune->round_count + 1)) : NAN;
}

static void add_head(const struct tune *tune, struct outline *o)
{
	outline_items(o, OUTLINE_HEAD);
	outline_item(o, "tune", "%zu run%s of %zu batches in %s, %zu round%s", tune->run_count,
		     tune->run_count == 1 ? "" : "s", tune->stop_after,
		     UNITS_TIME(tune->seconds * 1e9), tune->round_count,
		     tune->round_count == 1 ? "" : "s");
	outline_cell(o, "%s", tune->folder);
}

static bool has_choice(const struct tune *tune, enum tune_choice choice)
{
	for (size_t i = 0; i < tune->candidate_count; i++)
		if (tune->candidates[i].choice == choice)
			return true;
	return false;
}

static void add_verdict(const struct tune *tune, struct outline *o)
{
	const struct tune_trial *best = find_best(tune);
	double base = base_rate(tune);

	outline_items(o, OUTLINE_VERDICT);
	outline_row(o, best ? PAGE_GREEN : PAGE_BOLD);
	if (best) {
		struct tune_interval gain = gain_of(tune, best);

		outline_cell(o, "PROVEN");
		outline_cell(o, "%s is %s as fast (%s to %s): %.3g -> %.3g batches/s",
			     SETTING(best->candidate), UNITS_FACTOR(exp(gain.mean)),
			     UNITS_FACTOR(exp(gain.low)), UNITS_FACTOR(exp(gain.high)), base,
			     base * exp(gain.mean));
	} else if (tune->trial_count) {
		outline_cell(o, "NOTHING PROVEN");
		outline_cell(o, "no setting was shown to make this training faster");
	} else {
		outline_cell(o, "NOTHING TO TRY");
		if (tune->gap)
			outline_cell(o, "nothing is predicted: %s", tune->gap);
		else if (has_choice(tune, TUNE_NO_MEMORY) || has_choice(tune, TUNE_NO_SHM))
			outline_cell(o, "what is predicted to gain would not fit into memory");
		else if (has_choice(tune, TUNE_NO_SETTING))
			outline_cell(o, "the loader lacks the setting that is predicted to gain "
					"(PyTorch's has it since 2.6)");
		else
			outline_cell(o,
				     "no setting is predicted to gain anything, at %s of waiting",
				     UNITS_SHARE(tune->stall_ratio));
	}
	if (*tune->cut)
		outline_cell(o, "The search ended early: %s.", tune->cut);
}

static const char *verdict_words(const struct tune_trial *trial)
{
	static const char *const words[TUNE_UNCHANGED + 1] = {
		[TUNE_PROVEN] = "proven",
		[TUNE_NO_WORTH] = "no gain",
		[TUNE_DIED] = "died",
		[TUNE_UNCHANGED] = "not set",
	};

	return words[trial->verdict] ? words[trial->verdict] : "not proven";
}

static void add_tried(const struct tune *tune, struct outline *o)
{
	outline_table(o, "tried", "tried", "", "real gain, 95 %", "predicted");
	for (size_t i = 0; i < tune->trial_count; i++) {
		const struct tune_trial *trial = &tune->trials[i];

		outline_row(o, trial->verdict == TUNE_PROVEN ? PAGE_GREEN
			       : trial->verdict == TUNE_DIED ? PAGE_RED
							     : PAGE_PLAIN);
		outline_more(o, SETTING(trial->candidate), verdict_words(trial), REAL(tune, trial),
			     PREDICTED(trial->candidate));
	}
}

static void add_samples(const struct tune *tune, struct outline *o)
{
	const char *label = "Samples";

	outline_items(o, "samples");
	for (int same = 0; same < SAME_MAX; same++) {
		char text[300] = "";

		for (size_t i = 0; i < tune->trial_count; i++)
			if (same_of(tune, tune->trials[i].candidate) == (enum same)same)
				page_append(text, sizeof(text), "%s%s", *text ? ", " : "",
					    SETTING(tune->trials[i].candidate));
		if (!*text)
			continue;
		outline_item(o, label, "%s: %s", text, same_words[same]);
		label = "";
	}
	for (size_t i = 0; i < tune->trial_count; i++)
		if (*tune->trials[i].shared)
			outline_item(o, "Shared", "%s", tune->trials[i].shared);
	for (size_t i = 0; i < tune->trial_count; i++)
		if (*tune->trials[i].died)
			outline_item(o, "Died", "%s: %s", SETTING(tune->trials[i].candidate),
				     tune->trials[i].died);
	if (tune->world_size > 1)
		outline_item(o, "Rank",
			     "%" PRId64 " of %" PRId64
			     " waits most: gains are predicted and measured for it",
			     tune->rank, tune->world_size);
	if (*tune->resumed)
		outline_item(o, "Resumed",
			     "runs read files of earlier runs (%s), and wrote them again: if runs "
			     "resume from these, they are not alike, and gains are in doubt",
			     tune->resumed);
	if (tune->other_cores > 0)
		outline_item(o, "Others",
			     "other programs took %.2g of the %.3g cores in the first run; without "
			     "these programs, gains may differ",
			     tune->other_cores, tune->cores);
}

static void add_not_tried(const struct tune *tune, struct outline *o)
{
	static const char *const reasons[] = {
		[TUNE_NO_GAIN] = "no gain is predicted",
		[TUNE_NO_MEMORY] = "memory would not hold it",
		[TUNE_NO_SHM] = "/dev/shm would not hold it",
		[TUNE_NO_SETTING] = "the loader lacks it (PyTorch's has it since 2.6)",
		[TUNE_NO_TIME] = "others promise more",
	};

	outline_items(o, "no");
	for (size_t choice = TUNE_TRY + 1; choice < ARRAY_COUNT(reasons); choice++) {
		char text[400] = "";

		for (size_t i = 0; i < tune->candidate_count; i++) {
			const struct tune_candidate *c = &tune->candidates[i];

			if (c->choice != choice)
				continue;
			page_append(text, sizeof(text), "%s%s", *text ? ", " : "", SETTING(c));
			if (choice == TUNE_NO_MEMORY || choice == TUNE_NO_SHM)
				page_append(text, sizeof(text), " (%s)",
					    UNITS_BYTES(c->need_bytes));
			else
				page_append(text, sizeof(text), " %s", PREDICTED(c));
		}
		if (*text)
			outline_item(o, "No", "not tried, as %s: %s", reasons[choice], text);
	}
}

static void add_write(const struct tune *tune, struct outline *o)
{
	const struct tune_trial *best = find_best(tune);

	outline_items(o, "next");
	if (!best)
		return;
	outline_item(o, "Write", "%s%s%s", tune->place, *tune->place ? "  " : "",
		     CODE(best->candidate));
	outline_items(o, "wrote");
	if (*tune->wrote)
		outline_item(o, "Wrote", "each run wrote %s", tune->wrote);
}

static void add_more(const struct tune *tune, struct outline *o)
{
	const struct tune_trial *best = find_best(tune);

	outline_items(o, OUTLINE_MORE);
	if (best)
		outline_item(o, "More", "dlprof-report compare %s/%s %s/%s", tune->folder,
			     basename(tune->database), tune->folder, basename(best->database));
	else
		outline_item(o, "More", "dlprof-report %s/%s", tune->folder, basename(tune->first));
}

int tune_show(const struct tune *tune)
{
	struct page page = launch_page(tune->options);
	struct outline outline = {0};

	add_head(tune, &outline);
	add_verdict(tune, &outline);
	add_tried(tune, &outline);
	add_samples(tune, &outline);
	add_write(tune, &outline);
	add_not_tried(tune, &outline);
	add_more(tune, &outline);
	return outline_show(&outline, &page, false);
}

void tune_json(const struct tune *tune, FILE *out)
{
	const struct tune_trial *best = find_best(tune);
	struct jsonw writer, *json = &writer;
	char value[32];

	jsonw_begin(json, out, "dlprof.tune/1");
#include "launch/tune/tune.def"
	jsonw_close(json, '}');
}
