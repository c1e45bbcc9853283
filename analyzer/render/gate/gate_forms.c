/* SPDX-License-Identifier: Apache-2.0 */
/* gate_forms.c - writes the gate for programs: GitHub's workflow commands, JUnit, JSON. */
#include <assert.h>
#include <string.h>

#include "render/form/escape.h"
#include "render/form/facts.h"
#include "render/form/units.h"
#include "render/gate/gate.h"

enum grade { GRADE_HOLDS, GRADE_LET_PASS, GRADE_WARNS, GRADE_OPEN, GRADE_FAILS };

static enum grade grade_of(const struct gate_item *item)
{
	bool warns = !item->is_error;

	switch (item->result.outcome) {
	case GATE_PASSED:
		return GRADE_HOLDS;
	case GATE_FAILED:
		return warns ? GRADE_WARNS : GRADE_FAILS;
	case GATE_INCONCLUSIVE:
		break;
	}
	if (item->on_inconclusive == GATE_ACTION_PASS)
		return GRADE_LET_PASS;
	return warns || item->on_inconclusive == GATE_ACTION_WARN ? GRADE_WARNS : GRADE_OPEN;
}

/* Writes an assertion's message. That of the gravest assertion explains the gate's outcome. */
static const char *message(const struct gate_report *report, const struct gate_item *item,
			   char *text)
{
	char found[GATE_WORDS];

	if (item == gate_first_item(report))
		return gate_why_words(report, text);
	if (item->result.outcome == GATE_INCONCLUSIVE)
		return gate_reason_words(report, item, text);
	snprintf(text, GATE_WORDS, "%s: %s", item->text, gate_found_words(item, found));
	return text;
}

static void annotate(const struct gate_report *report, const struct gate_item *item, FILE *out)
{
	static const char *const commands[] = {
		[GRADE_LET_PASS] = "notice",
		[GRADE_WARNS] = "warning",
		[GRADE_OPEN] = "error",
		[GRADE_FAILS] = "error",
	};
	char text[GATE_WORDS];

	fprintf(out, "::%s title=", commands[grade_of(item)]);
	snprintf(text, sizeof(text), "dlprof: %s", item->text);
	escape_put(out, ESCAPE_GITHUB_PROPERTY, text);
	fputs("::", out);
	escape_put(out, ESCAPE_GITHUB_DATA, message(report, item, text));
	fputc('\n', out);
}

void gate_github(const struct gate_report *report, FILE *out)
{
	size_t told = 0, kept = 0, most = GATE_MOST_ANNOTATIONS, i;

	for (i = 0; i < report->item_count; i++)
		kept += grade_of(&report->items[i]) != GRADE_HOLDS;
	if (kept > most)
		most--;
	kept = 0;
	for (int grade = GRADE_FAILS; grade > GRADE_HOLDS; grade--) {
		for (i = 0; i < report->item_count; i++) {
			if ((int)grade_of(&report->items[i]) != grade)
				continue;
			if (told < most) {
				annotate(report, &report->items[i], out);
				told++;
			} else {
				kept++;
			}
		}
	}
	if (kept)
		fprintf(out, "::notice title=dlprof::%zu more in the step summary\n", kept);
}

void gate_github_output(const struct gate_report *report, FILE *out)
{
	fprintf(out, "outcome=%s\n", gate_outcome_ids[report->outcome]);
	if (report->run_count)
		fprintf(out, "stall_ratio=%s\n",
			UNITS_NUMBER(report->runs[0].sample.value[GATE_STALL_RATIO]));
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	escape_put(out, ESCAPE_XML, value);
	fputc('"', out);
}

static void junit_case(const struct gate_report *report, const struct gate_item *item, FILE *out)
{
	static const char *const elements[] = {
		[GRADE_LET_PASS] = "skipped",
		[GRADE_WARNS] = NULL,
		[GRADE_OPEN] = "error",
		[GRADE_FAILS] = "failure",
	};
	const char *element = elements[grade_of(item)];
	char text[GATE_WORDS];

	/* A failure that only warns is a passed case, and has a line below all cases. */
	if (!element && item->result.outcome == GATE_INCONCLUSIVE)
		element = "skipped";
	fputs("    <testcase classname=\"dlprof.gate\"", out);
	put_attribute(out, "name", item->text);
	fputs(" time=\"0\"", out);
	if (!element) {
		fputs("/>\n", out);
		return;
	}
	message(report, item, text);
	fprintf(out, ">\n      <%s", element);
	put_attribute(out, "message", text);
	if (strcmp(element, "skipped") == 0) {
		fputs("/>\n    </testcase>\n", out);
		return;
	}
	put_attribute(out, "type", gate_metrics[item->limit.metric].name);
	fputs(">", out);
	escape_put(out, ESCAPE_XML, gate_found_words(item, text));
	fprintf(out, "</%s>\n    </testcase>\n", element);
}

static void junit_counts(const struct gate_report *report, size_t counts[3])
{
	for (size_t i = 0; i < report->item_count; i++) {
		enum grade grade = grade_of(&report->items[i]);
		bool is_open = report->items[i].result.outcome == GATE_INCONCLUSIVE;

		counts[0] += grade == GRADE_FAILS;
		counts[1] += grade == GRADE_OPEN;
		counts[2] += is_open && grade != GRADE_OPEN;
	}
}

void gate_junit(const struct gate_report *report, FILE *out)
{
	const struct gate_run *run = report->run_count ? &report->runs[0] : NULL;
	int64_t begin_ns = run && run->info.start_unix_ns > 0 ? run->info.start_unix_ns : 0;
	char text[GATE_WORDS];
	size_t counts[3] = {0}, i;

	junit_counts(report, counts);
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		"  <testsuite name=\"dlprof gate\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		"skipped=\"%zu\" time=\"0\" timestamp=\"%s\"",
		report->item_count, counts[0], counts[1], counts[2],
		UNITS_DATE(begin_ns, "%Y-%m-%dT%H:%M:%S"));
	put_attribute(out, "hostname", run && run->info.host ? run->info.host : "unknown");
	fputs(">\n    <properties>\n      <property name=\"outcome\"", out);
	put_attribute(out, "value", gate_outcome_ids[report->outcome]);
	fputs("/>\n    </properties>\n", out);
	for (i = 0; i < report->item_count; i++)
		junit_case(report, &report->items[i], out);
	fputs("    <system-out>", out);
	escape_put(out, ESCAPE_XML, gate_why_words(report, text));
	for (i = 0; i < report->item_count; i++) {
		if (grade_of(&report->items[i]) != GRADE_WARNS)
			continue;
		fputs("\nwarning: ", out);
		escape_put(out, ESCAPE_XML, message(report, &report->items[i], text));
	}
	fputs("</system-out>\n    <system-err></system-err>\n  </testsuite>\n</testsuites>\n", out);
}

static_assert(GATE_PART_MAX == 6, "state.def has a row for each");

static const char *const RULES[] = {[GATE_BOUND] = "bound", [GATE_SEPARATION] = "separation"};

static double in_base_units(enum gate_metric metric, double value)
{
	return gate_metrics[metric].unit == GATE_TIME ? value / NS_PER_S : value;
}

void gate_json(const struct gate_report *report, FILE *out)
{
	static const char *const suspects[] = {
		[GATE_SUSPECT_LOAD] = "load",
		[GATE_SUSPECT_COMPUTE] = "compute",
		[GATE_SUSPECT_OTHER] = "other",
	};
	struct jsonw writer, *json = &writer;
	char text[GATE_WORDS];

	jsonw_begin(json, out, "dlprof.gate/2");
#include "render/gate/gate.def"
	jsonw_close(json, '}');
}

void gate_calibration_json(const struct gate_limit *limit,
			   const struct gate_calibration *calibration, FILE *out)
{
	struct jsonw writer, *json = &writer;

	jsonw_begin(json, out, "dlprof.gate/2");
#include "render/gate/calibration.def"
	jsonw_close(json, '}');
}
