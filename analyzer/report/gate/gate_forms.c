/* SPDX-License-Identifier: Apache-2.0 */
/* gate_forms.c - writes the gate's results in each form that is wanted, each to its own file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/gate/gate.h"
#include "report/run/judge.h"

static const struct form_name {
	const char *name;
	enum gate_form form;
	bool needs_file;
} FORMS[] = {
	{"text", GATE_FORM_TEXT, false},         {"json", GATE_FORM_JSON, false},
	{"github", GATE_FORM_GITHUB, false},     {"junit", GATE_FORM_JUNIT, true},
	{"markdown", GATE_FORM_MARKDOWN, true},
};

static int add_wish(struct gate_wishes *wishes, const char *text, size_t length)
{
	const char *equals = memchr(text, '=', length);
	size_t name = equals ? (size_t)(equals - text) : length, path = length - name, i;
	struct gate_wish *wish = &wishes->list[wishes->count];

	for (i = 0; i < ARRAY_COUNT(FORMS); i++)
		if (strlen(FORMS[i].name) == name && strncmp(FORMS[i].name, text, name) == 0)
			break;
	if (i == ARRAY_COUNT(FORMS))
		return cmd_fail("--format: '%.*s' is none of text, github, json, junit=FILE, "
				"markdown=FILE",
				(int)name, text);
	if (FORMS[i].needs_file && path < 2)
		return cmd_fail("--format: %s needs a file: %s=FILE", FORMS[i].name, FORMS[i].name);
	if (wishes->count == GATE_MOST_FORMS || path > sizeof(wish->path))
		return cmd_fail("--format: too many forms, or too long a path");
	wish->form = FORMS[i].form;
	if (path > 1)
		memcpy(wish->path, equals + 1, path - 1);
	wishes->count++;
	return 0;
}

/* Checks that at most one form goes to standard output, apart from GitHub's commands. */
static int check_wishes(const struct gate_wishes *wishes)
{
	bool has_json = false;
	size_t i, count = 0;

	for (i = 0; i < wishes->count; i++) {
		if (*wishes->list[i].path)
			continue;
		count++;
		has_json |= wishes->list[i].form == GATE_FORM_JSON;
	}
	if (has_json && count > 1)
		return cmd_fail("--format: json=FILE, or json alone on standard output");
	return 0;
}

int gate_read_wishes(const struct options *options, struct gate_wishes *ret)
{
	const char *github = getenv("GITHUB_ACTIONS");
	const char *text = options->format;
	int status = 0;

	*ret = (struct gate_wishes){0};
	if (options->json)
		return text ? cmd_fail("--json and --format json mean the same: use one of them")
			    : add_wish(ret, "json", 4);
	if (!text)
		text = github && strcmp(github, "true") == 0 ? "text,github" : "text";
	while (!status && *text) {
		size_t length = strcspn(text, ",");

		status = add_wish(ret, text, length);
		text += length + (text[length] == ',');
	}
	return status ? status : check_wishes(ret);
}

static int print_why(const struct gate *gate, const struct page *page)
{
	const struct gate_item *item = gate_first_item(&gate->report);
	const struct gate_run *run = &gate->runs.list[item ? item->result.run : 0];
	struct report report;
	int status = judge_run(gate->options, run->path, true, &report);

	if (!status) {
		page_break(page);
		if (report_why(&report, page) < 0)
			status = cmd_fail("%s", db_error(-ENOMEM));
	}
	judge_done(&report);
	return status;
}

static int write_outline(const struct gate *gate, enum gate_form form, const struct page *page)
{
	const bool is_text = form == GATE_FORM_TEXT;
	struct outline outline;

	gate_outline(&gate->report, &outline);
	if (outline_show(&outline, page, !is_text) < 0)
		return cmd_fail("%s", db_error(-ENOMEM));
	return is_text && gate->options->why ? print_why(gate, page) : 0;
}

static int write_form(const struct gate *gate, enum gate_form form, struct output *output)
{
	const struct page page = cmd_page(gate->options, output);

	switch (form) {
	case GATE_FORM_TEXT:
	case GATE_FORM_MARKDOWN:
		return write_outline(gate, form, &page);
	case GATE_FORM_JSON:
		gate_json(&gate->report, output->file);
		break;
	case GATE_FORM_GITHUB:
		gate_github(&gate->report, output->file);
		break;
	case GATE_FORM_JUNIT:
		gate_junit(&gate->report, output->file);
		break;
	}
	return 0;
}

/* Appends to a file of GitHub's, to which other steps also write. */
static void append(const struct gate *gate, const char *variable, bool is_summary)
{
	const char *path = getenv(variable);
	struct page page;

	if (!path || !*path)
		return;
	page = (struct page){.out = fopen(path, "ae")};
	if (page.out && is_summary)
		write_outline(gate, GATE_FORM_MARKDOWN, &page);
	else if (page.out)
		gate_github_output(&gate->report, page.out);
	if (!page.out || fclose(page.out) != 0)
		cmd_remark(gate->options, "cannot write $%s: %s", variable, strerror(errno));
}

static int check_target(const struct gate *gate, const char *path)
{
	const struct gate_runs *groups[] = {&gate->runs, &gate->baselines};

	for (size_t g = 0; g < 2; g++)
		for (size_t i = 0; i < groups[g]->count; i++)
			if (cmd_is_same_file(path, groups[g]->list[i].path))
				return cmd_fail("will not write over a run: '%s'", path);
	if (gate->options->option_file && cmd_is_same_file(path, gate->options->option_file))
		return cmd_fail("will not write over the options: '%s'", path);
	return 0;
}

static int write_file(const struct gate *gate, const struct gate_wish *wish)
{
	struct options one = *gate->options;
	struct output output;
	int status = check_target(gate, wish->path);

	one.output = wish->path;
	if (!status)
		status = cmd_open_output(&one, &output);
	if (status)
		return status;
	status = write_form(gate, wish->form, &output);
	return cmd_close_output(&output, status);
}

int gate_write_wishes(const struct gate *gate, const struct gate_wishes *wishes)
{
	struct output output;
	int status = gate->options->output ? check_target(gate, gate->options->output) : 0;
	bool has_github = false;

	if (!status)
		status = cmd_open_output(gate->options, &output);
	if (status)
		return status;
	for (size_t i = 0; !status && i < wishes->count; i++) {
		const struct gate_wish *wish = &wishes->list[i];

		has_github |= wish->form == GATE_FORM_GITHUB;
		status = *wish->path ? write_file(gate, wish)
				     : write_form(gate, wish->form, &output);
	}
	if (has_github) {
		append(gate, "GITHUB_STEP_SUMMARY", true);
		append(gate, "GITHUB_OUTPUT", false);
	}
	return cmd_close_output(&output, status);
}
