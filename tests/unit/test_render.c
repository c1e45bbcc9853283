/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how numbers and strings are written, for people and for programs. */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/account/series.h"
#include "analysis/cause/advice.h"
#include "analysis/cause/cause.h"
#include "render/form/jsonw.h"
#include "render/form/page.h"
#include "render/form/units.h"
#include "render/form/utf8.h"
#include "render/form/verdict.h"
#include "render/run/ended.h"
#include "render/run/explain.h"
#include "render/run/parts.h"
#include "render/run/report.h"

#define ASSERT_TEXT(call, expected)                                                                \
	do {                                                                                       \
		char buffer[UNITS_MAX];                                                            \
		cr_assert_str_eq(call, expected);                                                  \
	} while (0)

Test(page, says_what_it_cuts)
{
	char text[16] = "", umlauts[16] = "";

	page_append(text, sizeof(text), "%s", "fifteen letters");
	cr_expect_str_eq(text, "fifteen letters", "all of it fits");
	page_append(text, sizeof(text), "!");
	cr_expect_str_eq(text, "fifteen lett...");
	page_append(text, sizeof(text), "more");
	cr_expect_str_eq(text, "fifteen lett...");
	for (int i = 0; i < 10; i++)
		page_append(umlauts, sizeof(umlauts), "\u00e4");
	cr_expect_str_eq(umlauts, "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4...", "no half of a letter");
}

Test(units, times_have_three_digits)
{
	ASSERT_TEXT(units_time(buffer, 0), "0 s");
	ASSERT_TEXT(units_time(buffer, 12), "12 ns");
	ASSERT_TEXT(units_time(buffer, 999.6), "1.00 us");
	ASSERT_TEXT(units_time(buffer, 1900), "1.90 us");
	ASSERT_TEXT(units_time(buffer, 99.96e6), "100 ms");
	ASSERT_TEXT(units_time(buffer, 104.4e6), "104 ms");
	ASSERT_TEXT(units_time(buffer, 20.14e9), "20.1 s");
	ASSERT_TEXT(units_time(buffer, 599e9), "599 s");
	ASSERT_TEXT(units_time(buffer, 754e9), "12 min 34 s");
	ASSERT_TEXT(units_time(buffer, 12000e9), "3 h 20 min");
	ASSERT_TEXT(units_time(buffer, 3 * 86400e9), "3.0 days");
	ASSERT_TEXT(units_time(buffer, NAN), "?");
}

Test(page, words_are_quoted_where_a_shell_would_read_them_as_something_else)
{
	static const char *const words[][2] = {
		{"/tmp/a-1_%b.db", "rm /tmp/a-1_%b.db"}, {"", "rm ''"},
		{"a b", "rm 'a b'"},			 {"$HOME", "rm '$HOME'"},
		{"it's", "rm 'it'\\''s'"},		 {"'", "rm ''\\'''"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		char text[40] = "rm ";

		page_append_word(text, sizeof(text), words[i][0]);
		cr_assert_str_eq(text, words[i][1]);
	}
}

Test(units, shares_factors_counts_bytes)
{
	ASSERT_TEXT(units_share(buffer, 0), "0 %");
	ASSERT_TEXT(units_share(buffer, 0.0001), "< 0.1 %");
	ASSERT_TEXT(units_share(buffer, 0.049), "4.9 %");
	ASSERT_TEXT(units_share(buffer, 0.67), "67 %");
	ASSERT_TEXT(units_share(buffer, NAN), "?");
	ASSERT_TEXT(units_factor(buffer, 3.06), "3.1x");
	ASSERT_TEXT(units_factor(buffer, 1.052), "1.05x");
	ASSERT_TEXT(units_count(buffer, 12410), "12,410");
	ASSERT_TEXT(units_count(buffer, 999), "999");
	ASSERT_TEXT(units_count(buffer, -1234567), "-1,234,567");
	ASSERT_TEXT(units_count(buffer, INT64_MIN), "?");
	ASSERT_TEXT(units_bytes(buffer, 999), "999 B");
	ASSERT_TEXT(units_bytes(buffer, 154e6), "154 MB");
	ASSERT_TEXT(units_rate(buffer, 6.4712), "6.47");
	ASSERT_TEXT(units_rate(buffer, 999), "999");
	ASSERT_TEXT(units_rate(buffer, 64712), "64,700");
	ASSERT_TEXT(units_rate(buffer, NAN), "?");
}

Test(units, seconds_are_exact)
{
	ASSERT_TEXT(units_seconds(buffer, 0), "0.000000000");
	ASSERT_TEXT(units_seconds(buffer, 1000000001), "1.000000001");
	ASSERT_TEXT(units_seconds(buffer, -1), "-0.000000001");
	ASSERT_TEXT(units_seconds(buffer, INT64_MAX), "9223372036.854775807");
	ASSERT_TEXT(units_seconds(buffer, INT64_MIN), "");
	ASSERT_TEXT(units_number(buffer, 0.776300001), "0.776300001");
	ASSERT_TEXT(units_number(buffer, INFINITY), "");
}

/* The longest text that any int64_t or share can give fits its buffer. */
Test(units, nothing_overflows)
{
	char buffer[UNITS_MAX];

	cr_assert(strlen(units_count(buffer, INT64_MAX)) < UNITS_MAX);
	cr_assert(strlen(units_time(buffer, 1e300)) < UNITS_MAX);
	cr_assert(strlen(units_bytes(buffer, 1e300)) < UNITS_MAX);
	cr_assert(strlen(units_factor(buffer, 1e300)) < UNITS_MAX);
	cr_assert(strlen(units_share(buffer, 1e300)) < UNITS_MAX);
	cr_assert(strlen(units_rate(buffer, 1e300)) < UNITS_MAX);
}

static char *json_of(const char *text)
{
	static char buffer[200];
	struct jsonw json;
	FILE *out;

	memset(buffer, 0, sizeof(buffer));
	out = fmemopen(buffer, sizeof(buffer), "w");
	jsonw_init(&json, out);
	jsonw_string(&json, NULL, text);
	fclose(out);
	return buffer;
}

Test(json, strings_are_escaped)
{
	cr_assert_str_eq(json_of("plain"), "\"plain\"");
	cr_assert_str_eq(json_of("a\"b\\c"), "\"a\\\"b\\\\c\"");
	cr_assert_str_eq(json_of("\n\t\x01\x7f"), "\"\\u000a\\u0009\\u0001\\u007f\"");
	cr_assert_str_eq(json_of("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
	/* C1 controls, marks of the direction of text, and code points without a character. */
	cr_assert_str_eq(json_of("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0"),
			 "\"\\u0080\\u009b\\u009f\xc2\xa0\"");
	cr_assert_str_eq(json_of("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90"),
			 "\"\\u061c\\u200e\\u200f\xe2\x80\x90\"");
	cr_assert_str_eq(json_of("\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa"),
			 "\"\\u202a\\u202e\\u2066\\u2069\xe2\x81\xaa\"");
	cr_assert_str_eq(json_of("\xef\xbf\xbf\xf0\x9f\xbf\xbf"),
			 "\"\\uffff\xf0\x9f\xbf\xbf\"");
	cr_assert_str_eq(json_of(NULL), "null");
}

Test(json, invalid_utf8_becomes_the_replacement_character)
{
	cr_assert_str_eq(json_of("\xff"), "\"\\ufffd\"");
	cr_assert_str_eq(json_of("\xc3"), "\"\\ufffd\"");
	cr_assert_str_eq(json_of("\xc0\xaf"), "\"\\ufffd\\ufffd\"");	  /* overlong */
	cr_assert_str_eq(json_of("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\""); /* surrogate */
	cr_assert_str_eq(json_of("\xf4\x90\x80\x80x"),
			 "\"\\ufffd\\ufffd\\ufffd\\ufffdx\""); /* beyond Unicode */
	cr_assert_str_eq(json_of("\xe2\x82x"), "\"\\ufffd\\ufffdx\"");
}

Test(json, what_is_not_known_is_null)
{
	char buffer[400] = "";
	FILE *out = fmemopen(buffer, sizeof(buffer), "w");
	struct jsonw json;

	jsonw_init(&json, out);
	jsonw_open(&json, NULL, '{');
	jsonw_number(&json, "a", NAN);
	jsonw_number(&json, "b", INFINITY);
	jsonw_int(&json, "c", UNKNOWN);
	jsonw_ns(&json, "d", UNKNOWN);
	jsonw_tristate(&json, "e", UNKNOWN);
	jsonw_tristate(&json, "f", 1);
	jsonw_open(&json, "g", '[');
	jsonw_int(&json, NULL, 1);
	jsonw_int(&json, NULL, 2);
	jsonw_close(&json, ']');
	jsonw_ns(&json, "h", 1500000000);
	jsonw_close(&json, '}');
	fclose(out);
	cr_assert_str_eq(buffer,
			 "{\n\"a\":null,\n\"b\":null,\n\"c\":null,\n\"d\":null,\n\"e\":null,\n"
			 "\"f\":true,\n\"g\":[1,2],\n\"h\":1.500000000}\n");
}

static char page_text[2000];
static struct page page;

static void open_page(bool ascii, int width)
{
	memset(page_text, 0, sizeof(page_text));
	page = (struct page){.ascii = ascii, .width = width};
	page.out = fmemopen(page_text, sizeof(page_text), "w");
}

Test(page, text_is_wrapped_beside_its_label)
{
	open_page(true, 40);
	page_entry(&page, 2, 8, "Tag", "%s",
		   "one two three four five six seven 20.1 s and 67 % more");
	fclose(page.out);
	cr_assert_str_eq(page_text, "  Tag   one two three four five six\n"
				    "        seven 20.1 s and 67 % more\n");
}

Test(page, a_word_that_is_too_long_is_broken)
{
	const char *line = page_text;

	open_page(true, 40);
	page_entry(&page, 2, 8, "Tag", "x %0200d y", 7);
	fclose(page.out);
	for (; *line; line = strchr(line, '\n') + 1)
		cr_assert(strcspn(line, "\n") <= 40);
}

Test(page, control_characters_do_not_reach_the_terminal)
{
	open_page(false, 80);
	page_line(&page, "a\033[2Jb\rc\xff" "d\xc2\x9b" "e\xe2\x80\xae" "f");
	fclose(page.out);
	cr_assert_str_eq(page_text, "a?[2Jb?c?d?e?f\n");
}

Test(page, ascii_is_ascii)
{
	open_page(true, 40);
	page_line(&page, "caf\xc3\xa9");
	fclose(page.out);
	cr_assert_str_eq(page_text, "caf?\n");
}

Test(page, long_lines_are_cut_and_wide_characters_counted)
{
	open_page(false, 40);
	page_line(&page, "%050d", 0);
	fclose(page.out);
	cr_assert_str_eq(page_text, "0000000000000000000000000000000000000...\n");

	open_page(false, 40);
	page_line(&page, "%s",
		  "\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8"
		  "\x80"
		  "\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8"
		  "\x80"
		  "\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8\x80\xe4\xb8"
		  "\x80");
	fclose(page.out);
	cr_assert_eq(strlen(page_text), 18 * 3 + 4); /* 18 wide characters, dots, line end */
}

/* Every id in JSON has a page, whose first line is one sentence. */
Test(explain, every_id_has_a_page)
{
	for (int i = CAUSE_UNKNOWN + 1; i < CAUSE_MAX; i++)
		cr_assert_not_null(explain_find(cause_names[i]), "%d", i);
	for (int i = 0; i < ADVICE_MAX; i++) {
		const struct explanation *found = explain_find(advice_names[i]);

		cr_assert_not_null(found, "%d", i);
		cr_assert_eq(found->line[strlen(found->line) - 1], '.');
	}
	cr_assert_null(explain_find("nothing"));
}

Test(ended, what_no_process_ends_with_is_not_known)
{
	static const struct {
		int64_t status, returned;
		int signal;
	} cases[] = {
		{0, 0, 0},
		{7 << 8, 7, 0},
		{SIGKILL, UNKNOWN, SIGKILL},
		{SIGSEGV | 128, UNKNOWN, SIGSEGV},
		{UNKNOWN, UNKNOWN, 0},
		{INT64_MAX, UNKNOWN, 0},
		{1 << 16, UNKNOWN, 0},
		{-SIGKILL, UNKNOWN, 0},
	};
	char text[ENDED_WORDS];

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct run_info run = {.exit_status = cases[i].status,
					     .killed_status = cases[i].status,
					     .killed_count = 2};
		const bool is_well = !cases[i].signal && cases[i].returned <= 0;

		cr_expect_eq(ended_returned(cases[i].status), cases[i].returned, "%zu", i);
		cr_expect_eq(ended_signal(cases[i].status), cases[i].signal, "%zu", i);
		cr_expect_eq(ended_program(&run, 0, text, sizeof(text)), !is_well, "%s", text);
		cr_expect_eq(ended_workers(&run, text, sizeof(text)),
			     cases[i].signal && cases[i].signal != SIGKILL, "%s", text);
	}
}

Test(verdict, the_sentence_names_whose_time_it_is)
{
	char sentence[VERDICT_SENTENCE];

	cr_assert_str_eq(verdict_sentence(sentence, VERDICT_HOST, 0.41),
			 "41 % of the time is spent waiting for data");
	cr_assert_str_eq(verdict_sentence(sentence, VERDICT_GPU, 0.41),
			 "the GPU is idle 41 % of the time, waiting for data");
	cr_assert_str_eq(verdict_of(STALL_VERDICT_HIGHLY)->words, "HIGHLY INPUT-BOUND");
}

Test(verdict, every_gap_has_a_reason_and_a_remedy)
{
	int gap;

	for (gap = 0; gap < STALL_GAP_MAX; gap++) {
		cr_assert_eq(*verdict_gaps[gap].reason != 0, gap != STALL_GAP_NONE, "%d", gap);
		cr_assert_eq(*verdict_gaps[gap].remedy != 0, gap != STALL_GAP_NONE, "%d", gap);
	}
}

/* The verdict changes at 5 and 20 %: shares below a limit are not rounded up to it. */
Test(verdict, a_share_is_not_rounded_into_another_verdict)
{
	static const struct {
		double ratio;
		const char *begin;
	} rows[] = {{0.1985, "19.8 % "}, {0.19999, "19.9 % "}, {0.194, "19 % "}, {0.2, "20 % "},
		    {0.04999, "4.9 % "}, {0.05, "5.0 % "},     {0, "0 % "}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char buffer[VERDICT_SENTENCE];

		verdict_sentence(buffer, VERDICT_HOST, rows[i].ratio);
		cr_expect(strncmp(buffer, rows[i].begin, strlen(rows[i].begin)) == 0, "%g: %s",
			  rows[i].ratio, buffer);
	}
}

static char said[1000];

/* Returns what a report says after the sentence of its cause. */
static const char *evidence(const struct report *report)
{
	*said = '\0';
	evidence_add(report, &(struct text){said, sizeof(said)});
	return said;
}

Test(evidence, workers_that_run_out_of_data)
{
	static struct report report = {.series.workers = 8};
	struct diagnosis *d = &report.diagnosis;

	d->cause = CAUSE_IDLE_WORKERS;
	d->grounds.loading = 2;
	cr_expect_str_eq(evidence(&report), " 2 of 8 workers make all batches.");
	d->cause = CAUSE_UNEVEN_SHARDS;
	d->uneven = (struct uneven){.loading = 1,
				    .share = 0.4,
				    .begin = 300,
				    .batches = 400,
				    .wait_share = 0.9,
				    .list = {3},
				    .named = 1};
	cr_expect_str_eq(
		evidence(&report),
		" Worker 3 makes 40 % of the batches. From about batch 300 of 400 on only 1 of 8 "
		"workers loads; 90 % of the waiting for unfinished batches comes after that.");
	d->uneven = (struct uneven){.loading = 3,
				    .share = 0.6,
				    .begin = 200,
				    .batches = 400,
				    .wait_share = 0.8,
				    .list = {3, 4, 7},
				    .named = 3};
	cr_expect_str_eq(
		evidence(&report),
		" Workers 3, 4 and 7 make 60 % of the batches. From about batch 200 of 400 on only "
		"3 of 8 workers load; 80 % of the waiting for unfinished batches comes after "
		"that.");
	d->uneven.loading = 5;
	d->uneven.named = 0;
	d->uneven.wait_share = 1;
	cr_expect_str_eq(evidence(&report), " In each epoch 5 of 8 workers make 60 % of the "
					    "batches. From about batch 200 of 400 on "
					    "only 5 of 8 workers load; 100 % of the waiting for "
					    "unfinished batches comes after that.");
}

Test(evidence, batches_that_are_thrown_away)
{
	static struct report report = {.finding.batch_count = 400};
	struct diagnosis *d = &report.diagnosis;

	d->cause = CAUSE_SKIPPED_BATCHES;
	d->skipped.count = 40;
	d->causes[0] = (struct cause_cost){CAUSE_SKIPPED_BATCHES, 12.5e9, 0.25};
	d->causes[1] = (struct cause_cost){CAUSE_COLD_CACHE, 5e9, 0.125};
	d->cause_count = 2;
	cr_expect_str_eq(evidence(&report),
			 " 40 of 400 batches are followed by no step. It takes 12.5 s, "
			 "25 % of the time.");
	d->second = CAUSE_COLD_CACHE;
	cr_expect_str_eq(evidence(&report),
			 " 40 of 400 batches are followed by no step. It takes 12.5 s, "
			 "25 % of the time. Also: the first epoch's cold data, 12 % of the "
			 "time.");
}

Test(evidence, workers_that_are_asked_for_their_tensors)
{
	static const struct {
		int64_t gathered;
		const char *which;
	} table[] = {{2, "2nd"},   {3, "3rd"},   {4, "4th"},
		     {11, "11th"}, {21, "21st"}, {113, "113th"}};
	static struct report report;
	struct diagnosis *d = &report.diagnosis;
	char text[200];

	d->cause = CAUSE_WORKER_INTERPRETER;
	d->grounds.fetch.count = 1;
	d->grounds.fetch.each_ns = 2e6;
	d->grounds.fetch.cpu_share = 0.1;
	cr_expect_str_eq(evidence(&report),
			 " Each batch asks its worker for 1 descriptor and waits 2.00 ms for "
			 "each, of which the training's CPU is 10 %.");
	d->grounds.fetch.count = 3;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		d->gathered = table[i].gathered;
		snprintf(text, sizeof(text),
			 " Each batch asks its worker for 3 descriptors and waits 2.00 ms for "
			 "each, of which the training's CPU is 10 %%. Only each %s batch is "
			 "followed by a step.",
			 table[i].which);
		cr_expect_str_eq(evidence(&report), text);
	}
}

Test(evidence, workers_that_load_too_slowly_answer_late)
{
	static struct load_facts facts;
	static struct report report = {.series.workers = 2,
				       .finding = {.rho = 1.5, .taken_mean_ns = 10e6}};
	struct diagnosis *d = &report.diagnosis;
	double *parts = report.finding.account.part_ns;

	facts = load_facts_unknown();
	d->cause = CAUSE_LOADER_CAPACITY;
	d->grounds.facts = &facts;
	d->grounds.fetch.share = 0.6;
	d->grounds.fetch.each_ns = 13e6;
	d->grounds.fetch.cpu_share = 0.1;
	d->grounds.loading_share = 0.9;
	parts[ACCOUNT_RECEIVING] = 2e9;
	parts[ACCOUNT_NOT_READY] = 1e9;
	cr_expect_str_eq(evidence(&report),
			 " 2 workers load 66.7 batches/s, the training would take 100. Receiving "
			 "waits, too, as a worker answers late while it loads: 13.0 ms for each "
			 "descriptor.");
	parts[ACCOUNT_NOT_READY] = 3e9;
	cr_expect_str_eq(evidence(&report),
			 " 2 workers load 66.7 batches/s, the training would take 100.");
}

Test(evidence, steps_that_take_long)
{
	static struct report report;
	struct diagnosis *d = &report.diagnosis;

	d->cause = CAUSE_STEPS_HELD;
	d->grounds.steps_held = (struct steps_held){.share = 0.3, .error = 0.05};
	cr_expect_str_eq(evidence(&report),
			 " That thread runs Python in 30 % (± 5) of the steps' time.");
	report.gpu_use.is_known = true;
	cr_expect_str_eq(evidence(&report), " They wait for it in 30 % (± 5) of the steps' time.");
	d->cause = CAUSE_STEP_LINE;
	d->causes[0] = (struct cause_cost){CAUSE_STEP_LINE, 20e9, 0.2};
	d->causes[1] = (struct cause_cost){CAUSE_EPOCH_START, 8e9, 0.08};
	d->cause_count = 1;
	cr_expect_str_eq(evidence(&report), " At least 20 % of all time is spent in that line.");
	d->cause_count = 2;
	d->causes[0].cause = CAUSE_MAIN_THREAD_PERIODIC;
	cr_expect_str_eq(evidence(&report),
			 " At least 20 % of all time is spent in that line. That is time of steps; "
			 "most of the waiting is starting and ending epochs, 8.0 % of the time.");
}

Test(evidence, cores_and_memory_that_are_short)
{
	static struct load_facts facts = {
		.major_faults = 1200, .private_begin_bytes = 1e9, .private_end_bytes = 3e9};
	static struct report report = {.series = {.workers = 16, .cores = 4},
				       .finding.load_mean_ns = 250e6};
	struct diagnosis *d = &report.diagnosis;

	d->cause = CAUSE_TOO_MANY_WORKERS;
	cr_expect_str_eq(evidence(&report), " 16 workers on 4 cores: a load takes 250 ms.");
	d->grounds.cpu_share = 0.4;
	cr_expect_str_eq(evidence(&report),
			 " 16 workers on 4 cores: a load takes 250 ms, of which it runs for 40 %.");
	d->cause = CAUSE_MEMORY;
	d->grounds.facts = &facts;
	cr_expect_str_eq(evidence(&report),
			 " 1,200 pages were read back from disk. A worker's own memory grew "
			 "from 1.00 GB to 3.00 GB.");
	facts.swapped_bytes = 2e9;
	cr_expect_str_eq(evidence(&report),
			 " 1,200 pages were read back from disk; 2.00 GB of the run were swapped "
			 "out. A worker's own memory grew from 1.00 GB to 3.00 GB.");
	facts.major_faults = 0;
	facts.private_end_bytes = 1e9;
	cr_expect_str_eq(evidence(&report), " 2.00 GB of the run were swapped out.");
}

Test(evidence, operators_and_readers_of_dali)
{
	static struct stage_work list[] = {{.name = "resize", .kind = STAGE_TRANSFORM},
					   {.name = "decode", .kind = STAGE_READ}};
	static struct report report = {.stages = {.list = list, .count = 2},
				       .finding.own = {.wait_ns = 6e9, .count = 300}};
	struct diagnosis *d = &report.diagnosis;
	struct stage_finding *f = &d->stages;
	const struct advice parallel = {.id = ADVICE_PARALLEL_STAGE};
	const struct advice cheaper = {.id = ADVICE_CHEAPER_STAGE};
	struct remedy words;

	d->cause = CAUSE_SLOW_STAGE;
	*f = (struct stage_finding){.maker = STAGES_DALI,
				    .limit = STAGE_LIMIT_WORK,
				    .lead = 1,
				    .lead_share = 0.75,
				    .each_ns = 12.5e6};
	cr_expect_str_eq(evidence(&report),
			 " decode takes 75 % of the executor's time, 12.5 ms a batch; "
			 "operators run one after the other.");
	cr_expect_str_eq(remedy_say(&report, &parallel, &words)->line,
			 "Give the pipeline more threads: num_threads.");
	cr_expect_str_eq(remedy_say(&report, &cheaper, &words)->line,
			 "Make reading (decode) faster.");
	f->lead = 0;
	cr_expect_str_eq(remedy_say(&report, &cheaper, &words)->line,
			 "Make resize need less time.");
	f->limit = STAGE_LIMIT_SERIAL;
	f->wanted = 2;
	cr_expect_str_eq(evidence(&report),
			 " The operators wait for the reader, which has one thread: a file "
			 "takes 12.5 ms.");
	cr_expect_str_eq(remedy_say(&report, &parallel, &words)->line,
			 "Build the pipeline twice: a reader has one thread.");
	f->wanted = 4;
	f->is_reading = true;
	cr_expect_str_eq(evidence(&report),
			 " The operators wait for the readers, of which each has one thread: a "
			 "file takes 12.5 ms, waiting for files.");
	f->callback_share = 0.6;
	cr_expect_str_eq(evidence(&report),
			 " Of the 20.0 ms that a batch is waited for, 60 % is Python of the "
			 "program's own (an external source), which the training's thread calls.");
	cr_expect_str_eq(remedy_say(&report, &parallel, &words)->line,
			 "Call the external source in processes.");
}

/* Fails unless a remedy says how with these words; they end where the words of its page begin. */
static void expect_how(const struct report *report, enum advice_id id, const char *words)
{
	const struct advice advice = {.id = id, .whatif = -1};
	struct remedy remedy;
	const char *how = remedy_say(report, &advice, &remedy)->how;

	cr_expect(strncmp(how, words, strlen(words)) == 0, "%s", how);
}

Test(remedy, how_names_what_the_run_has)
{
	static float waits[] = {2e9f, 1e9f, 5e9f}, steps[] = {3e9f, 4e9f, 5e9f};
	static struct load_facts facts = {.batch_bytes = 40e6,
					  .files = {.count = 12, .bytes = 6e9}};
	static struct loader_info loader = {.kind = "DataLoader"};
	static struct report report = {.loader = &loader,
				       .loaders = &loader,
				       .loader_count = 1,
				       .series = {.workers = 4,
						  .loading = 3,
						  .count = 3,
						  .wait_ns = waits,
						  .compute_ns = steps}};
	struct grounds *r = &report.diagnosis.grounds;

	r->facts = &facts;
	r->is_opened_by_all = true;
	expect_how(&report, ADVICE_SPLIT_FIRST,
		   "Each of 12 files is opened 3 times in each epoch, as often as there are "
		   "workers, and 6.00 GB of it "
		   "are read. ");
	r->blown_up = 8;
	expect_how(&report, ADVICE_SHRINK_BATCH,
		   "A batch has 40.0 MB, its decoded images 5.00 MB. Keep masks ");
	r->small.count = 256;
	r->small.each_ns = 30e3;
	expect_how(&report, ADVICE_INDEX_AT_ONCE,
		   "Each of 256 samples of a batch takes 30.0 us. DataLoader(");
	report.diagnosis.shift = (struct shift){.at = 2, .before_ns = 20e6, .after_ns = 50e6};
	r->asked_share = 0.6;
	expect_how(&report, ADVICE_FIND_EVENT,
		   "Since batch 2 (10.0 s after the first) loads take 2.5 times as long. ");
}

Test(remedy, hidden_copies_name_figures_only_if_these_are_known)
{
	static struct report report = {.gpu_use.exposed_share = NAN};
	const struct advice advice = {.id = ADVICE_HIDE_COPIES, .whatif = -1};
	struct remedy remedy;

	remedy_say(&report, &advice, &remedy);
	cr_expect_eq(strstr(remedy.how, "The GPU only receives"), NULL, "%s", remedy.how);
	report.gpu_use = (struct gpu_use){.exposed_share = 0.5, .h2d_bytes_per_s = 1e9};
	report.gpu_sums.seen_count = 10;
	report.gpu_sums.h2d_bytes = 1e6;
	remedy_say(&report, &advice, &remedy);
	cr_expect_neq(strstr(remedy.how, "The GPU only receives for 50 % of the time: 100 kB a "
		      "step"), NULL, "%s", remedy.how);
}
