/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_doctor.c - `dlprof doctor [CMD...]`: says if a program would be recorded, and what to do. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch/cmd.h"
#include "launch/doctor/doctor.h"
#include "launch/runs.h"
#include "render/form/facts.h"

static const struct {
	const char *word;
	enum page_color color;
} STATUS[DOCTOR_STATUS_MAX] = {
	[DOCTOR_OK] = {"ok", PAGE_GREEN},
	[DOCTOR_WARN] = {"warn", PAGE_YELLOW},
	[DOCTOR_FAIL] = {"fail", PAGE_RED},
};

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
	return remove(path);
}

/* Prints what the trial recorded or, with `json`, writes JSON to that path. False: no recording. */
static bool show_run(struct doctor *doctor, char *json)
{
	char *argv[7] = {"dlprof-report", "-q", json ? "--json" : "--coverage", doctor->database};
	struct trust_search program;
	int status;

	if (json) {
		argv[4] = "-o";
		argv[5] = json;
	} else if (doctor->options->ascii) {
		argv[4] = "--ascii";
	}
	if (access(doctor->database, F_OK) < 0)
		return false;
	if (preload_find_report(&program) < 0) {
		launch_fail("dlprof-report is not beside dlprof");
		return false;
	}
	fflush(stdout);
	status = runs_show(&program, argv, json ? STDERR_FILENO : STDOUT_FILENO);
	return status >= 0 && status != LAUNCH_ERROR && status != LAUNCH_NOT_FOUND;
}

static void print_text(struct doctor *doctor, const struct page *page)
{
	for (size_t i = 0; i < doctor->count; i++) {
		const struct doctor_check *check = &doctor->list[i];
		char label[40];

		snprintf(label, sizeof(label), "%-5s %s", STATUS[check->status].word, check->id);
		page_color(page, STATUS[check->status].color);
		page_entry(page, 0, 16, label, "%s%s%s", check->text, *check->fix ? " -> " : "",
			   check->fix);
		page_color(page, PAGE_PLAIN);
	}
	show_run(doctor, NULL);
}

static void print_json(struct doctor *doctor)
{
	char path[PATH_MAX + 16];
	struct jsonw writer, *json = &writer;
	FILE *run = NULL;

	snprintf(path, sizeof(path), "%s/run.json", doctor->folder);
	if (show_run(doctor, path))
		run = fopen(path, "re");
	jsonw_begin(json, stdout, "dlprof.doctor/1");
#include "launch/doctor/doctor.def"
	jsonw_close(json, '}');
	if (run)
		fclose(run);
}

int cmd_doctor(const struct launch_options *options)
{
	const struct page page = launch_page(options);
	struct doctor *doctor = calloc(1, sizeof(*doctor));
	int status = LAUNCH_DONE;

	if (!doctor)
		return launch_fail("out of memory");
	doctor->options = options;
	snprintf(doctor->folder, sizeof(doctor->folder), "%s/doctor-XXXXXX", launch_temporary());
	if (!mkdtemp(doctor->folder))
		doctor->folder[0] = '\0';
	else
		snprintf(doctor->database, sizeof(doctor->database), "%s/run.db", doctor->folder);
	doctor_place(doctor);
	doctor_trial(doctor);
	if (options->json)
		print_json(doctor);
	else
		print_text(doctor, &page);
	if (*doctor->folder)
		nftw(doctor->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	for (size_t i = 0; i < doctor->count; i++)
		if (doctor->list[i].status == DOCTOR_FAIL)
			status = LAUNCH_FOUND;
	free(doctor);
	return launch_close(status);
}
