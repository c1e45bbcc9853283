/* SPDX-License-Identifier: Apache-2.0 */
#include "report/gate_runs.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "report/judge.h"
#include "report/names.h"
#include "store/copy.h"
#include "store/redact.h"

#define MOST_NAMES 1000 /* of runs that began in the same second */

static int add_path(struct gate_runs *runs, char *path)
{
	char **grown = reallocarray(runs->paths, runs->count + 1, sizeof(*grown));

	if (grown)
		runs->paths = grown;
	if (!grown || !path) {
		free(path);
		return -ENOMEM;
	}
	runs->paths[runs->count++] = path;
	return 0;
}

/* The number of databases in the folder, or -errno. */
static int add_folder(struct gate_runs *runs, const char *folder)
{
	struct names names;
	int r = names_list(folder, NAMES_RUN, &names), count = (int)names.count;

	for (int i = 0; r == 0 && i < count; i++)
		r = add_path(runs, strdup(names.list[i]));
	names_done(&names);
	return r < 0 ? r : count;
}

/* 1: it, or what is in it, is to be read. 0: there is nothing. */
static int add_word(struct gate_runs *runs, const char *word)
{
	struct stat status;

	if (stat(word, &status) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(status.st_mode))
		return add_folder(runs, word);
	return add_path(runs, strdup(word)) < 0 ? -ENOMEM : 1;
}

/* What outlives the report is moved out of it. */
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
	/* As rows of ranks have it. Nobody sees the collectives in a graph that is a whole. */
	if (report->finding.by_gpu && !report->gpu.is_upper_bound)
		ret->sample.value[GATE_COLLECTIVES_ALONE] = report->gpu_use.alone_share;
	judge_fingerprint(report, &ret->fingerprint);
	ret->info = report->run;
	report->run = (struct run_info){0};
	ret->has_loader = report->loader != NULL;
	ret->is_one_of_several = report->finding.account.count > report->finding.own.count;
	if (report->loader) {
		ret->loader = *report->loader;
		if (ret->fingerprint.text[FINGERPRINT_LOADER])
			ret->fingerprint.text[FINGERPRINT_LOADER] = ret->loader.kind;
	}
}

static int read_run(const struct options *options, const char *path, struct gate_run *ret)
{
	struct options bare = *options;
	struct report report;
	int status;

	bare.bare = true;
	status = judge_run(&bare, path, &report);

	*ret = (struct gate_run){.path = path, .name = redact(REDACT_RUN, path)};
	if (!status)
		take(&report, ret);
	judge_done(&report);
	return status;
}

int gate_runs_read(const struct options *options, const char *const *words, size_t word_count,
		   bool may_lack, struct gate_runs *ret)
{
	struct stat st;
	int r, status = 0;

	*ret = (struct gate_runs){0};
	for (size_t i = 0; i < word_count; i++) {
		r = add_word(ret, words[i]);
		if (r == 0 && !may_lack)
			return stat(words[i], &st) < 0
				       ? cmd_fail("cannot open '%s': %s", words[i],
						  db_error(-ENOENT))
				       : cmd_fail("'%s' holds no *" NAMES_RUN, words[i]);
		if (r == 0) /* a baseline that is not there */
			r = add_path(ret, strdup(words[i]));
		if (r < 0)
			return cmd_fail("cannot open '%s': %s", words[i], db_error(r));
	}
	ret->list = calloc(ret->count + 1, sizeof(*ret->list));
	if (!ret->list)
		return cmd_fail("%s", strerror(ENOMEM));
	for (size_t i = 0; !status && i < ret->count; i++) {
		bool is_missing = may_lack && stat(ret->paths[i], &st) < 0 && errno == ENOENT;
		bool is_folder = !is_missing && may_lack && stat(ret->paths[i], &st) == 0 &&
				 S_ISDIR(st.st_mode);

		if (!is_missing && !is_folder) {
			status = read_run(options, ret->paths[i], &ret->list[i]);
			continue;
		}
		ret->list[i].path = ret->paths[i];
		ret->list[i].name = redact(REDACT_RUN, ret->paths[i]);
		snprintf(ret->list[i].refused, sizeof(ret->list[i].refused),
			 is_missing ? "there is no such file or folder"
				    : "the folder holds no *" NAMES_RUN);
	}
	return status;
}

void gate_runs_done(struct gate_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->list)
			run_info_done(&runs->list[i].info);
		free(runs->paths[i]);
	}
	free(runs->list);
	free(runs->paths);
	*runs = (struct gate_runs){0};
}

static int by_start(const void *a, const void *b)
{
	const struct gate_run *left = a, *right = b;

	if (left->info.start_unix_ns != right->info.start_unix_ns)
		return left->info.start_unix_ns < right->info.start_unix_ns ? -1 : 1;
	return strcmp(left->path, right->path);
}

/* Texts that point into the run itself follow it. */
static void settle(struct gate_run *run)
{
	if (run->fingerprint.text[FINGERPRINT_LOADER])
		run->fingerprint.text[FINGERPRINT_LOADER] = run->loader.kind;
}

void gate_runs_leave_out(struct gate_runs *runs, size_t i)
{
	run_info_done(&runs->list[i].info);
	free(runs->paths[i]);
	runs->count--;
	memmove(&runs->list[i], &runs->list[i + 1], (runs->count - i) * sizeof(*runs->list));
	memmove(&runs->paths[i], &runs->paths[i + 1], (runs->count - i) * sizeof(*runs->paths));
	for (; i < runs->count; i++)
		settle(&runs->list[i]);
}

void gate_runs_sort(struct gate_runs *runs)
{
	qsort(runs->list, runs->count, sizeof(*runs->list), by_start);
	for (size_t i = 0; i < runs->count; i++)
		settle(&runs->list[i]);
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
	/* Imported, without an id: no two runs wait for the same nanoseconds. */
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

		/* Named twice, or copied: it would make the others seem closer than they are. */
		for (size_t k = 0; k < i && !*baseline->refused; k++)
			if (gate_runs_are_one(&baselines->list[k], baseline))
				snprintf(baseline->refused, sizeof(baseline->refused),
					 "it is the same run as %.150s", baselines->list[k].name);
		match(runs, baseline);
	}
}

/* When it began, and its id or its file's name: sorts by time. */
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
	/* link() and not rename(): what is there stays. */
	for (i = 2; r == 0 && link(part, path) < 0; i++) {
		if (errno != EEXIST || i > MOST_NAMES)
			r = -errno;
		snprintf(path, size, "%s/%s-%d" NAMES_RUN, folder, name, i);
	}
	unlink(part);
	return r;
}
