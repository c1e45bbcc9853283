/* SPDX-License-Identifier: Apache-2.0 */
/* gate_runs.c - reads and judges a gate's runs, which are files or folders of files. */
#include "report/gate/gate.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/statistics/array.h"
#include "report/names.h"
#include "report/run/judge.h"
#include "store/database/copy.h"
#include "store/database/redact.h"

#define MOST_NAMES 1000 /* names to try for runs that began in the same second */

static struct gate_run *add(struct gate_runs *runs, const char *path)
{
	struct gate_run *run;

	if (!ARRAY_GROW(runs->list, runs->count))
		return NULL;
	run = &runs->list[runs->count];
	*run = (struct gate_run){.path = strdup(path)};
	if (!run->path)
		return NULL;
	run->name = redact(REDACT_RUN, run->path);
	runs->count++;
	return run;
}

static void take(struct report *report, struct gate_run *ret)
{
	const struct load_totals *totals = &report->totals;
	const struct load_times times = batch_totals_times(totals);

	gate_take(&report->series, &report->finding, &report->diagnosis, &times,
		  totals->load_count > 0 ? (double)totals->load_count : NAN, report->live,
		  &ret->sample);
	if (report->finding.is_doubtful &&
	    (ret->sample.unfit == GATE_FIT || ret->sample.unfit == GATE_FEW))
		ret->sample.unfit = GATE_DOUBT;
	/* In CUDA graphs, neither idle time nor collectives are observed, so both stay unknown. */
	if (report->finding.by_gpu && !report->gpu.is_upper_bound) {
		ret->sample.value[GATE_GPU_IDLE] = report->gpu_use.idle_share;
		ret->sample.value[GATE_COLLECTIVES_ALONE] = report->gpu_use.alone_share;
	}
	for (int part = 0; part < STEP_PART_MAX; part++)
		ret->sample.value[GATE_STEP_BEFORE + part] = step_parts_share(&report->step, part);
	judge_fingerprint(report, &ret->fingerprint);
	ret->info = report->run;
	ret->loaders = report->loaders;
	report->run = (struct run_info){0};
	report->loaders = NULL;
	ret->has_loader = report->loader != NULL;
	ret->is_one_of_several = report->finding.account.count > report->finding.own.count;
}

static int read_run(const struct options *options, const char *path, struct gate_runs *runs)
{
	struct gate_run *run = add(runs, path);
	struct report report;
	int status;

	if (!run)
		return cmd_fail("%s", strerror(ENOMEM));
	status = judge_run(options, path, false, &report);
	if (!status)
		take(&report, run);
	judge_done(&report);
	return status;
}

static int refuse(const char *path, const char *why, struct gate_runs *runs)
{
	struct gate_run *run = add(runs, path);

	if (!run)
		return cmd_fail("%s", strerror(ENOMEM));
	snprintf(run->refused, sizeof(run->refused), "%s", why);
	return 0;
}

static int read_folder(const struct options *options, const char *folder, bool may_lack,
		       struct gate_runs *runs)
{
	struct names names;
	int r = names_list(folder, NAMES_RUN, &names), status = 0;

	if (r < 0)
		status = cmd_fail("cannot open '%s': %s", folder, db_error(r));
	else if (!names.count && may_lack)
		status = refuse(folder, "the folder holds no *" NAMES_RUN, runs);
	else if (!names.count)
		status = cmd_fail("'%s' holds no *" NAMES_RUN, folder);
	for (size_t i = 0; !status && i < names.count; i++)
		status = read_run(options, names.list[i], runs);
	names_done(&names);
	return status;
}

static int read_word(const struct options *options, const char *word, bool may_lack,
		     struct gate_runs *runs)
{
	struct stat st;

	if (stat(word, &st) == 0)
		return S_ISDIR(st.st_mode) ? read_folder(options, word, may_lack, runs)
					   : read_run(options, word, runs);
	if (may_lack && errno == ENOENT)
		return refuse(word, "there is no such file or folder", runs);
	return cmd_fail("cannot open '%s': %s", word, db_error(-errno));
}

int gate_runs_read(const struct options *options, const char *const *words, size_t word_count,
		   bool may_lack, struct gate_runs *ret)
{
	int status = 0;

	*ret = (struct gate_runs){0};
	for (size_t i = 0; !status && i < word_count; i++)
		status = read_word(options, words[i], may_lack, ret);
	return status;
}

static void run_done(struct gate_run *run)
{
	run_info_done(&run->info);
	free(run->loaders);
	free(run->path);
}

void gate_runs_done(struct gate_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		run_done(&runs->list[i]);
	free(runs->list);
	*runs = (struct gate_runs){0};
}

static int by_start(const void *a, const void *b)
{
	const struct gate_run *left = a, *right = b;

	if (left->info.start_unix_ns != right->info.start_unix_ns)
		return left->info.start_unix_ns < right->info.start_unix_ns ? -1 : 1;
	return strcmp(left->path, right->path);
}

void gate_runs_leave_out(struct gate_runs *runs, size_t i)
{
	run_done(&runs->list[i]);
	runs->count--;
	memmove(&runs->list[i], &runs->list[i + 1], (runs->count - i) * sizeof(*runs->list));
}

void gate_runs_sort(struct gate_runs *runs)
{
	if (runs->count)
		qsort(runs->list, runs->count, sizeof(*runs->list), by_start);
}

void gate_runs_difference(const struct gate_run *one, const struct gate_run *other, char *text,
			  size_t size)
{
	unsigned bits = fingerprint_diff(&one->fingerprint, &other->fingerprint) &
			(fingerprint_mask(FINGERPRINT_WORK) | fingerprint_mask(FINGERPRINT_PLACE) |
			 fingerprint_mask(FINGERPRINT_SETTING));

	*text = '\0';
	for (int field = 0; field < FINGERPRINT_MAX; field++) {
		const char *a = one->fingerprint.text[field], *b = other->fingerprint.text[field];

		if (!(bits & FINGERPRINT_BIT(field)))
			continue;
		page_append(text, size, "%s%s is ", *text ? "; " : "",
			    fingerprint_fields[field].name);
		if (fingerprint_fields[field].kind == FINGERPRINT_TEXT)
			page_append(text, size, "'%.40s' and not '%.40s'", b, a);
		else
			page_append(text, size, "%" PRId64 " and not %" PRId64,
				    other->fingerprint.number[field],
				    one->fingerprint.number[field]);
	}
}

bool gate_runs_are_one(const struct gate_run *a, const struct gate_run *b)
{
	if (cmd_is_same_file(a->path, b->path))
		return true;
	if (a->info.rank != b->info.rank)
		return false;
	if (a->info.id && b->info.id)
		return strcmp(a->info.id, b->info.id) == 0;
	/* Imported runs have no id. But only one run has exactly these times. */
	return !a->info.id && !b->info.id && a->sample.wait_ns == b->sample.wait_ns &&
	       a->sample.compute_ns == b->sample.compute_ns;
}

static void match(const struct gate_runs *runs, struct gate_run *baseline)
{
	const struct gate_run *like = NULL;
	char unfit[GATE_WORDS];

	if (*baseline->refused)
		return;
	for (size_t i = 0; i < runs->count; i++) {
		const struct gate_run *run = &runs->list[i];

		if (gate_runs_are_one(run, baseline)) {
			snprintf(baseline->refused, sizeof(baseline->refused),
				 "it is the run that is judged");
			return;
		}
		if (!like && run->info.rank == baseline->info.rank)
			like = run;
	}
	if (!like)
		snprintf(baseline->refused, sizeof(baseline->refused),
			 "it is of rank %" PRId64 ", which is not judged", baseline->info.rank);
	else if (*gate_unfit_words(baseline, unfit))
		snprintf(baseline->refused, sizeof(baseline->refused), "%.190s", unfit);
	else
		gate_runs_difference(like, baseline, baseline->refused, sizeof(baseline->refused));
	baseline->used = !*baseline->refused;
}

void gate_runs_match(const struct gate_runs *runs, struct gate_runs *baselines)
{
	for (size_t i = 0; i < baselines->count; i++) {
		struct gate_run *baseline = &baselines->list[i];

		/* If one run counted as two baselines, baselines would seem to vary less. */
		for (size_t k = 0; k < i && !*baseline->refused; k++)
			if (gate_runs_are_one(&baselines->list[k], baseline))
				snprintf(baseline->refused, sizeof(baseline->refused),
					 "it is the same run as %.150s", baselines->list[k].name);
		match(runs, baseline);
	}
}

/* Makes a name that begins with the time at which the run began, so that names sort by time. */
static void make_name(const struct gate_run *run, char *name, size_t size)
{
	const char *base = strrchr(run->path, '/');
	time_t seconds = run->info.start_unix_ns / 1000000000;
	struct tm tm;
	char *at;

	*name = '\0';
	if (run->info.start_unix_ns > 0 && gmtime_r(&seconds, &tm))
		strftime(name, size, "%Y%m%dT%H%M%SZ-", &tm);
	page_append(name, size, "%.100s",
		    run->info.id ? run->info.id
		    : base       ? base + 1
				 : run->path);
	at = strrchr(name, '.');
	if (at && strcmp(at, NAMES_RUN) == 0)
		*at = '\0';
	for (at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("-_.+", *at))
			*at = '_';
}

int gate_runs_keep(const struct gate_run *run, const char *folder, char *path, size_t size)
{
	char name[200], part[4096];
	struct stat journal;
	int r, i;

	snprintf(part, sizeof(part), "%s-wal", run->path);
	if (stat(part, &journal) == 0 && journal.st_size > 0)
		return -EBUSY;
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return -errno;
	make_name(run, name, sizeof(name));
	snprintf(path, size, "%s/%s" NAMES_RUN, folder, name);
	if (snprintf(part, sizeof(part), "%s/.%s.%ld", folder, name, (long)getpid()) >=
	    (int)sizeof(part))
		return -ENAMETOOLONG;
	unlink(part);
	r = copy_file(run->path, part);
	/* link() fails if the name exists, while rename() would replace that file. */
	for (i = 2; r == 0 && link(part, path) < 0; i++) {
		if (errno != EEXIST || i > MOST_NAMES)
			r = -errno;
		snprintf(path, size, "%s/%s-%d" NAMES_RUN, folder, name, i);
	}
	unlink(part);
	return r;
}
