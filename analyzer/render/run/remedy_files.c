/* SPDX-License-Identifier: Apache-2.0 */
/* remedy_files.c - says what to change where loads wait for files and servers. */
#include "render/run/remedy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/cause/grounds.h"
#include "analysis/cause/removed.h"

/* A server that sends a smaller share of a batch's bytes does not bring the data. */
#define LITTLE_RECEIVED 0.05
#define ONE_FILE        0.5 /* the least share of all openings that makes one file worth naming */
#define MOST_READ       0.5 /* files bring the data if they give this share of a batch's bytes */

/* Returns the name, without folders, of the file that each sample opens anew; NULL: none. */
static const char *reopened_file(const struct report *report)
{
	const struct grounds *r = &report->diagnosis.grounds;
	const struct tally_list *files = &report->inside.files;
	const struct tally *most = NULL;
	const char *slash;

	for (size_t i = 0; i < files->count; i++)
		if (!most || files->items[i].count > most->count)
			most = &files->items[i];
	/* Loads that wait for a server or reopen several files probably make a client anew. */
	if (!most || !(r->facts->reopens_per_sample >= LOAD_FACTS_REOPENED) ||
	    r->facts->reopens_per_sample < ONE_FILE * r->facts->opens_per_sample ||
	    (double)most->count < LOAD_FACTS_REOPENED * report->totals.samples ||
	    r->asked_share >= GROUNDS_OUTSIDE)
		return NULL;
	slash = strrchr(most->name, '/');
	return slash ? slash + 1 : most->name;
}

/* Returns true if a file of this name is parsed as a whole: to keep it open would save nothing. */
static bool is_parsed(const char *name)
{
	static const char *const ends[] = {".csv", ".tsv",  ".txt", ".json", ".jsonl",
					   ".xml", ".yaml", ".yml", ".pkl",  ".pickle"};
	const char *end = strrchr(name, '.');

	for (size_t i = 0; end && i < ARRAY_COUNT(ends); i++)
		if (strcmp(end, ends[i]) == 0)
			return true;
	return false;
}

void remedy_keep_open(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const char *file = reopened_file(report);

	if (!file)
		return;
	if (is_parsed(file)) {
		remedy_line(ret, "Parse %.60s once in each worker and keep the result: each sample "
			    "parses it anew.", file);
		ret->how = "Parse it in the dataset's __init__, or once, beforehand, into an array "
			   "(numpy.save) that workers map (mmap_mode='r').";
	} else {
		remedy_line(ret, "Open %.60s once in each worker and keep it: each sample opens it "
			    "anew.", file);
		ret->how = "Open it for the first sample (if self.file is None: ...), or in "
			   "worker_init_fn, and use it for all.";
	}
}

void remedy_split(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const struct grounds *r = &report->diagnosis.grounds;

	if (!r->is_opened_by_all || r->is_decoded_by_all)
		return;
	ret->line = "Split the files between the workers, if each of them reads all.";
	remedy_how(ret, "Each of %.0f files is opened %" PRId32 " times in each epoch, as often as "
		   "there are workers, and %s of it are read. If each worker reads all files: "
		   "files[info.id::info.num_workers], by get_worker_info().", r->facts->files.count,
		   series_busy_workers(&report->series), UNITS_BYTES(r->facts->files.bytes));
}

/* If loads spend little time on files, opening shards is not what makes some of them long. */
void remedy_shards(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	if (!(report->diagnosis.grounds.storage_share < REMEDY_FEW_FILES))
		return;
	ret->line = "Spread the long load's work over the batches, or do it ahead of time.";
	ret->how = "If it fills a buffer or a window, make that smaller or fill it as it empties; "
		   "if it opens a shard, do so in a thread. A much larger prefetch_factor bridges "
		   "a long load.";
}

void remedy_event(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const struct shift *shift = &report->diagnosis.shift;
	const struct batch_series *s = &report->series;
	double ns = 0;

	if (!removed_is_shift(&report->diagnosis))
		return;
	ret->line = "Find out what became slower at that batch, or who else uses it since then.";
	for (size_t i = 0; i < shift->at && s->wait_ns && s->compute_ns; i++)
		ns += fmax(0, (double)s->wait_ns[i]) + fmax(0, (double)s->compute_ns[i]);
	remedy_how(ret, "Since batch %zu (%s after the first) loads take %s times as long. If they "
		   "ask for no more than before, the reason is not in the loader.", shift->at,
		   UNITS_TIME(ns), UNITS_RATE(shift->after_ns / shift->before_ns));
}

/* Returns true if loads read their data from files, and wait for a server that sends little. */
static bool asks_beside_files(const struct report *report)
{
	const struct load_facts *facts = report->diagnosis.grounds.facts;

	return facts->received_per_byte < LITTLE_RECEIVED && facts->read_per_byte >= MOST_READ;
}

/* Returns the frame in which loads call a library that connects anew at each call; NULL: none. */
static const struct line_frame *connecting_call(const struct report *report)
{
	const struct line_samples *all = &report->samples;
	const struct line_filter own = lines_filter(all, report->filter.loader_id, LINE_LOADS);

	for (size_t i = 0; i < all->stack_count; i++) {
		const struct line_stack *stack = &all->stacks[i];

		for (size_t k = lines_passes(&own, stack) ? stack->depth : 0; k > 0; k--) {
			const struct line_frame *frame = &all->frames[stack->frames[k - 1]];

			if (strstr(frame->file, "/requests/api.py") ||
			    (strstr(frame->file, "/urllib/request.py") &&
			     strcmp(frame->function, "urlopen") == 0))
				return frame;
		}
	}
	return NULL;
}

void remedy_requests(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const struct line_frame *call = connecting_call(report);

	if (asks_beside_files(report)) {
		ret->line = "Ask the server once, and keep the answers, or once a batch.";
		ret->how = "The data comes from files, and next to nothing from the server. "
			   "huggingface_hub asks if its cache is up to date: "
			   "local_files_only=True, or HF_HUB_OFFLINE=1.";
	} else if (call) {
		remedy_how(ret, "Ask for a batch in one request or, if the server has none for "
			   "that, at the same time by threads (__getitems__). %s%.40s() connects "
			   "anew: keep a requests.Session() in each worker.",
			   strstr(call->file, "/requests/") ? "requests." : "", call->function);
	}
}

void remedy_helper(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const struct grounds *r = &report->diagnosis.grounds;

	if (r->takes_turns) {
		ret->line = "Fill that queue faster, or do in the workers what its other end does.";
		ret->how = "Start more processes that fill the queue, if they share nothing; more "
			   "workers only wait, too.";
	} else if (r->is_other_end_idle) {
		ret->line = "Begin earlier what the loads wait for, or do it once, beforehand.";
		ret->how = "The process at the other end of the pipe is not seen to compute, so it "
			   "waits, too. Begin several at once, by threads, before they are needed.";
	}
}
