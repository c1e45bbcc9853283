/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "analysis/statistics/clamp.h"
#include "render/form/units.h"
#include "render/form/verdict.h"
#include "render/run/code.h"
#include "render/run/ended.h"

#define STARTUP      0.02 /* start-up is mentioned above this share of the time */
#define LOSS_SERIOUS 0.01 /* lost records are mentioned above this share of all records */
#define ALONE        0.20 /* collectives are mentioned if nothing else ran in this share of steps */
#define UNLOADED     0.05 /* loads without a record are mentioned above this share of all loads */
#define NOTE_MOST    60

void screen_program(const char *command, char *ret, size_t size)
{
	const char *best = command, *at = command, *slash;
	size_t length = strcspn(command, " "), best_length = length;

	for (; *at; at += length + (at[length] == ' ')) {
		length = strcspn(at, " ");
		if (length > 3 && strncmp(at + length - 3, ".py", 3) == 0) {
			best = at;
			best_length = length;
			break;
		}
		if (length == 2 && strncmp(at, "-m", 2) == 0 && at[2]) {
			best = at + 3;
			best_length = strcspn(best, " ");
			break;
		}
	}
	slash = memrchr(best, '/', best_length);
	if (slash)
		best_length -= (size_t)(slash + 1 - best);
	snprintf(ret, size, "%.*s", (int)best_length, slash ? slash + 1 : best);
}

/* Returns how many batches the account covers: those of one loader, or of the loader's thread. */
static int64_t batch_count(const struct report *report)
{
	const struct finding *f = &report->finding;

	return f->account.count <= f->batch_count ? (int64_t)f->batch_count
						  : ended_batch_count(report);
}

/* Returns true if the user selected one loader of a thread that has several. */
static bool is_one_of_several(const struct report *report)
{
	const struct finding *f = &report->finding;

	return report->loader && f->account.count <= f->batch_count &&
	       ended_batch_count(report) > report->loader->batch_count;
}

static void add_head(const struct report *report, struct outline *o)
{
	const struct finding *f = &report->finding;
	struct text text = TEXT_OF(256);
	char program[64];
	double ns = report_duration_ns(report);

	screen_program(report->run.command ? report->run.command : "", program, sizeof(program));
	if (batch_count(report) > (int64_t)f->batch_count)
		text_add(&text, "%s batches of several loaders", UNITS_COUNT(batch_count(report)));
	else
		text_add(&text, "%s batch%s in %s epoch%s", UNITS_COUNT((int64_t)f->batch_count),
			 f->batch_count == 1 ? "" : "es", UNITS_COUNT((int64_t)f->epoch_count),
			 f->epoch_count == 1 ? "" : "s");
	if (!isnan(ns))
		text_add(&text, ", %s", UNITS_TIME(ns));
	if (report->run.rank > 0)
		text_add(&text, ", rank %" PRId64, report->run.rank);
	if (report->live)
		text_add(&text, ", still recording");
	outline_items(o, OUTLINE_HEAD);
	outline_item(o, program, "%s", text.words);
	outline_cell(o, "%s", report->name);
}

static void add_verdict(const struct report *report, struct outline *o)
{
	const struct finding *f = &report->finding;
	const struct verdict *verdict = verdict_of(f->verdict);
	enum verdict_clock clock = f->by_gpu ? VERDICT_GPU : VERDICT_HOST;
	char sentence[VERDICT_SENTENCE];
	struct text below = TEXT_OF(160);
	bool is_loop = is_one_of_several(report);

	if (is_loop && clock == VERDICT_HOST)
		clock = VERDICT_LOADER;
	outline_items(o, OUTLINE_VERDICT);
	outline_first(o, verdict->tone, "%s", verdict->words);
	if (f->verdict == STALL_VERDICT_IN_DOUBT) {
		outline_cell(o, "%s", VERDICT_DOUBT);
		if (report->note_count)
			outline_cell(o, "%s", report->notes[0]);
		return;
	}
	if (f->verdict != STALL_VERDICT_INCOMPLETE) {
		outline_cell(o, "%s", verdict_sentence(sentence, clock, f->stall_ratio));
		/* The words fit one line: a second line would push other rows off the screen. */
		if (f->starved && f->gain_alone > f->gain_max)
			text_add(&below, "With ideal input it would run %s to %s as fast",
				 UNITS_FACTOR(f->gain_max), UNITS_FACTOR(f->gain_alone));
		else if (f->starved && !isnan(f->gain_max))
			text_add(&below, "With ideal input this %s would run %s as fast",
				 is_loop ? "loop" : "training", UNITS_FACTOR(f->gain_max));
		/* No share of the time includes the start-up, so name it if it is long. */
		if (f->account.startup_ns > STARTUP * f->account.time_ns)
			text_add(&below, "%s %s, %s", *below.words ? "; start-up" : "Start-up took",
				 UNITS_TIME(f->account.startup_ns),
				 f->account.life_count > 1 ? "in all" : "once");
		if (*below.words)
			outline_cell(o, "%s.", below.words);
		return;
	}
	outline_cell(o, "%s", verdict_gaps[f->gap].reason);
	if (f->gap == STALL_GAP_NO_BATCHES && report->live)
		outline_cell(o, "It still records: batches of the last second may be missing.");
	else if (f->gap == STALL_GAP_FEW_BATCHES)
		outline_cell(o,
			     "%s batch%s seen; %zu count%s, as the first and those without a whole "
			     "step do not. A verdict needs %d. %s",
			     UNITS_COUNT(batch_count(report)),
			     batch_count(report) == 1 ? " was" : "es were", f->account.count,
			     f->account.count == 1 ? "s" : "", STALL_FEWEST,
			     verdict_gaps[f->gap].remedy);
	else if (f->gap == STALL_GAP_LOSS)
		outline_cell(o, "At least %s of the records are missing. %s",
			     UNITS_SHARE(f->lost_share), verdict_gaps[f->gap].remedy);
	else
		outline_cell(o, "%s", verdict_gaps[f->gap].remedy);
}

static void add_account(const struct report *report, struct outline *o)
{
	const struct account *a = &report->finding.account;
	struct share_part parts[SHARES_MOST];
	size_t count, i;
	int64_t whole;

	if (isnan(a->ratio) || !(a->time_ns > 0))
		return;
	outline_table(o, SCREEN_ACCOUNT, "part", "#share", "#time");
	count = shares_divide(a, parts, &whole);
	for (i = 0; i < count; i++) {
		if (!parts[i].units)
			continue;
		outline_row(o, share_looks[parts[i].part].tone);
		outline_share(o, parts[i].ns / a->time_ns, parts[i].part);
		outline_more(o, parts[i].label, shares_words(parts[i].units, whole, UNITS_BUFFER),
			     UNITS_TIME(parts[i].ns));
	}
}

static void add_which(const struct report *report, struct outline *o)
{
	const struct loader_info *loader = report->loader;
	const struct finding *f = &report->finding;
	struct text text = TEXT_OF(300);

	if (!loader || report->loader_count < 2)
		return;
	text_add(&text, "loader %" PRId64 " of %zu", loader->loader_id, report->loader_count);
	if (loader->place[0] || loader->kind[0])
		text_add(&text, " (%s)", loader->place[0] ? loader->place : loader->kind);
	if (f->account.time_ns > 0 && f->own.wait_ns <= f->account.wait_ns &&
	    !is_one_of_several(report))
		text_add(&text, ": its waits are %s of the time",
			 UNITS_SHARE(f->own.wait_ns / f->account.time_ns));
	outline_item(o, "Which", "%s", text.words);
}

static void add_only(const struct report *report, struct outline *o)
{
	const struct batch_filter *filter = &report->filter;
	struct text text = TEXT_OF(160);

	if (filter->epoch >= 0)
		text_add(&text, "epoch %" PRId64 " ", filter->epoch);
	if (filter->first >= 0 && filter->last >= 0)
		text_add(&text, "batches %" PRId64 " to %" PRId64 " ", filter->first, filter->last);
	else if (filter->first >= 0)
		text_add(&text, "batches from %" PRId64 " ", filter->first);
	else if (filter->last >= 0)
		text_add(&text, "batches up to %" PRId64 " ", filter->last);
	if (*text.words)
		outline_item(o, "Only", "%sof loader %" PRId64, text.words, filter->loader_id);
}

static void add_load(const struct report *report, struct outline *o)
{
	const struct finding *f = &report->finding;
	struct line_named named;
	struct text text = TEXT_OF(512);

	outline_items(o, SCREEN_LOAD);
	if (f->verdict == STALL_VERDICT_INCOMPLETE)
		return;
	stages_outline_line(report, o);
	if (f->load_mean_ns > 0)
		inside_add_words(&report->inside, report->diagnosis.grounds.facts, &text);
	if (*text.words)
		/* Transforms, decoders and waits are counted for all loaders together. */
		outline_item(o, "Load", "%s%s %s",
			     UNITS_TIME(report_load_mean(report, report->totals.load_ns)),
			     report->loader_count > 1 ? "; of all loaders:" : ":", text.words);
	*text.words = '\0';
	if (step_add_words(report, &text))
		outline_item(o, "Step", "%s: %s",
			     UNITS_TIME(f->compute_all_ns / (double)f->batch_count), text.words);
	*text.words = '\0';
	if (f->stall_ratio < STALL_HIGH && f->demand_mean_ns > 0 &&
	    !(lines_name(&report->lines, f, &report->diagnosis, &named) &&
	      named.group == LINE_STEPS) &&
	    code_add_lead(report, LINE_STEPS, &text)) {
		if (report->step.is_split)
			outline_item(o, "In it", "%s", text.words);
		else
			outline_item(o, "Step", "%s: %s", UNITS_TIME(f->demand_mean_ns),
				     text.words);
	}
}

enum same screen_set_same(const struct report *report)
{
	const bool is_iterable = report->loader && strstr(report->loader->kind, "(iterable)");
	enum same most = SAME_ALL;

	for (size_t i = 0; i < report->set_count; i++) {
		enum same same = same_after_changes(report->set_done[i], is_iterable);

		most = same > most ? same : most;
	}
	return most;
}

static void add_set(const struct report *report, struct outline *o)
{
	struct text text = TEXT_OF(512);

	if (!report->run.set || !*report->run.set)
		return;
	for (size_t i = 0; i < report->set_count; i++)
		text_add(&text, "%s%s", i ? "; " : "", report->set_done[i]);
	if (*text.words)
		outline_item(o, "Set", "%s (by --set): %s", text.words,
			     same_words[screen_set_same(report)]);
	else
		outline_item(o, "Set", "%s was asked for, and changed nothing", report->run.set);
}

/* If the first advice is a cheaper step, but the cause is about waiting, says what steps take. */
static void add_steps(const struct report *report, struct text *text)
{
	const struct advice_list *advice = &report->diagnosis.advice;
	const struct finding *f = &report->finding;

	if (advice->count && advice->steps[0].id == ADVICE_CHEAPER_STEP && f->starved &&
	    !lines_is_pause(report->diagnosis.cause))
		text_add(text, "Steps take %s of the time. ", UNITS_SHARE(1 - f->stall_ratio));
}

static void add_why(const struct report *report, struct outline *o)
{
	const char *cause = cause_names[report->diagnosis.cause];
	struct text text = TEXT_OF(1024);

	outline_items(o, SCREEN_WHY);
	/* The loader must be named before its cause. */
	add_only(report, o);
	add_which(report, o);
	add_set(report, o);
	if (!cause)
		return;
	add_steps(report, &text);
	if (report->diagnosis.cause != CAUSE_NONE || !evidence_add_step(report, &text))
		evidence_add_line(report, &text);
	evidence_add(report, &text);
	if (report->diagnosis.cause != CAUSE_NONE)
		evidence_add_step(report, &text);
	outline_item(o, "Why", "%s", text.words);
	outline_items(o, SCREEN_LINE);
	*text.words = '\0';
	if (code_add_named(report, &text) ||
	    (report->diagnosis.cause == CAUSE_EPOCH_START && evidence_firsts_lead(report) &&
	     code_add_lead(report, LINE_LOADS, &text)))
		outline_item(o, "Line", "%s", text.words);
}

static void add_warning(const struct report *report, struct outline *o)
{
	const struct finding *f = &report->finding;
	/* Share of loads that dlprof did not see; 0 if it saw no load: the cause says that. */
	double unseen = f->batch_count && report->totals.load_count > 0
				? 1 - (double)report->totals.load_count / (double)f->batch_count
				: 0;
	const char *missing = report->run.patch_missing;
	size_t said = f->is_doubtful; /* number of notes that the verdict has said already */
	struct text text = TEXT_OF(400);

	if (f->lost_share > LOSS_SERIOUS)
		text_add(&text, "; at least %s of the records are lost",
			 UNITS_SHARE(f->lost_share));
	if (missing && *missing)
		text_add(&text, "; not followed: %s", missing);
	if (unseen > UNLOADED && report->series.workers != 0)
		text_add(&text, "; %s of the loads were not seen", UNITS_SHARE(unseen));
	if (report->gpu_use.alone_share >= ALONE)
		text_add(&text, "; in collectives alone %s of the time: another rank may be late",
			 UNITS_SHARE(report->gpu_use.alone_share));
	if (report->gpu.shared)
		text_add(&text, "; shared GPU: %s", report->gpu.shared);
	if (report->note_count > said) {
		const char *note = report->notes[said];
		const bool is_whole = !f->starved && !*text.words && report->note_count == said + 1;
		size_t length = strlen(note) > NOTE_MOST && !is_whole ? strcspn(note, ":;")
								      : strlen(note);

		text_add(&text, "; %.*s", (int)length, note);
	}
	if (report->note_count > said + 1)
		text_add(&text, "; and %zu more", report->note_count - said - 1);
	if (*text.words)
		outline_warning(o, "Warn", "%s", text.words + 2);
}

static void add_end(const struct report *report, struct outline *o)
{
	char text[ENDED_WORDS];

	if (ended_workers(&report->run, text, sizeof(text)))
		outline_warning(o, "End", "%s", text);
	if (ended_program(&report->run, ended_batch_count(report), text, sizeof(text)))
		outline_warning(o, "End", "%s", text);
}

static void add_sure(const struct report *report, struct outline *o)
{
	const struct finding *f = &report->finding;
	int64_t lost = clamp_add(report->run.lost_count, (int64_t)f->missing_count);
	struct text text = TEXT_OF(200);

	outline_items(o, SCREEN_SURE);
	if (f->verdict != STALL_VERDICT_INCOMPLETE) {
		text_add(&text, "%s: %s batches, ", stall_confidence_ids[f->confidence],
			 UNITS_COUNT(batch_count(report)));
		if (lost > 0)
			text_add(&text, "%s records lost", UNITS_COUNT(lost));
		else if (report->live)
			text_add(&text, "those of the last second may be missing");
		else
			text_add(&text, "nothing lost");
		text_add(&text, "; %s%s", verdict_clocks[f->by_gpu].name,
			 !f->by_gpu && report->gpu.mode ? ", " VERDICT_BOUND : "");
		if (f->by_gpu && f->unseen_count)
			text_add(&text, ", in %s of them", UNITS_SHARE(f->gpu_share));
		outline_item(o, "Sure", "%s", text.words);
	}
	code_stuck(report, o);
	add_warning(report, o);
	add_end(report, o);
	outline_items(o, SCREEN_OTHERS);
	if (series_has_others(&report->series))
		outline_item(o, "Others", "took %.2g of the %.3g core%s: other %sprograms",
			     report->series.other_cores, report->series.cores,
			     report->series.cores == 1 ? "" : "s",
			     report->facts.ranks > 1 ? "ranks and " : "");
}

static void add_more(const struct report *report, struct outline *o)
{
	const char *cause = cause_names[report->diagnosis.cause];
	char command[2 * PATH_MAX] = "dlprof-report -v ";

	page_append_word(command, sizeof(command), report->name);
	outline_items(o, OUTLINE_MORE);
	outline_item(o, "More", "%s", command);
	outline_cell(o, "html -o FILE.html");
	if (cause && report->diagnosis.cause != CAUSE_NONE)
		outline_cell(o, "--explain %s", cause);
	outline_cell(o, "batches");
}

int screen_outline(const struct report *report, bool all, struct outline *o)
{
	*o = (struct outline){0};
	add_head(report, o);
	add_verdict(report, o);
	add_account(report, o);
	add_load(report, o);
	add_why(report, o);
	advise_next(report, o);
	outline_items(o, SCREEN_WAITS);
	advise_rhythm(report, o);
	add_sure(report, o);
	add_more(report, o);
	if (all)
		details_outline(report, o);
	return o->failed ? -ENOMEM : 0;
}
