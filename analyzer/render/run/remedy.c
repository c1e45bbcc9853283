/* SPDX-License-Identifier: Apache-2.0 */
/* remedy.c - writes a remedy, and how to apply it, in a sentence each with the run's figures. */
#include "render/run/parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cause/grounds.h"
#include "analysis/cause/removed.h"
#include "render/form/units.h"
#include "render/run/code.h"
#include "render/run/explain.h"
#include "render/run/format.h"

/* With a smaller share of a batch's bytes, a server's answers bring no data. */
#define LITTLE_RECEIVED 0.05
#define FEW_FILES  0.1 /* files that take a smaller share of loads do not make them long */
#define ONE_FILE   0.5 /* the least share of all openings that makes one file worth naming */
#define MOST       0.5 /* the least share of the loads' time that is "most of it" */
#define READING    0.2 /* the least share of the loads' time in which reading may be what grows */

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
	static const char *const ends[] = {".csv", ".tsv", ".txt", ".json", ".jsonl", ".xml",
					   ".yaml", ".yml", ".pkl", ".pickle"};
	const char *end = strrchr(name, '.');

	for (size_t i = 0; end && i < ARRAY_COUNT(ends); i++)
		if (strcmp(end, ends[i]) == 0)
			return true;
	return false;
}

static bool splits_files(const struct grounds *r)
{
	return r->is_opened_by_all && !r->is_decoded_by_all;
}

static int32_t prefetch_factor(const struct report *report)
{
	return report->diagnosis.whatif.setups[WHATIF_PREFETCH_X4].prefetch_factor;
}


static bool is_kind(const struct report *report, const char *kind)
{
	return report->loader && strcmp(report->loader->kind, kind) == 0;
}

static int32_t workers_of(const struct report *report, const struct advice *advice)
{
	const struct whatif *whatif = &report->diagnosis.whatif;

	switch (advice->id) {
	case ADVICE_MORE_LOADER_CAPACITY:
		return whatif->more_workers;
	case ADVICE_USE_WORKERS:
		return whatif->use_workers;
	case ADVICE_USE_FEWER_WORKERS:
		return whatif->fewer_workers;
	default:
		return 0;
	}
}

static bool is_made_anew(const struct report *report)
{
	return report->finding.epoch_count == report->finding.batch_count;
}

/* Returns true if workers should persist, but the program makes a new loader for each epoch. */
static bool is_loader_anew(const struct report *report)
{
	return report->loader && report->loader->persistent == 1 &&
	       report->series.persistent == 0;
}

/* Returns true if a batch has more descriptors than tensors: a tensor may have several. */
static bool by_fetches(const struct grounds *r)
{
	return r->facts && r->facts->tensors < r->tensors;
}

/* Returns true if each step joins several batches, so that larger batches save hand-overs. */
static bool is_gathered(const struct report *report, const struct advice *advice)
{
	return advice->id == ADVICE_REDUCE_DELIVERY_COST && report->diagnosis.gathered > 0;
}

/* Returns true if loads read their data from files, and wait for a server that sends little. */
static bool asks_beside_files(const struct report *report, const struct advice *advice)
{
	const struct load_facts *facts = report->diagnosis.grounds.facts;

	return advice->id == ADVICE_FEWER_REQUESTS && facts->received_per_byte < LITTLE_RECEIVED &&
	       facts->read_per_byte >= MOST;
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

/* Returns true if loads that grow read much more than they return, as a query with OFFSET does. */
static bool reads_more_and_more(const struct report *report, const struct advice *advice)
{
	const struct grounds *r = &report->diagnosis.grounds;

	return advice->id == ADVICE_STOP_GROWTH && r->storage_share >= READING && r->facts &&
	       r->facts->read_per_byte >= GROUNDS_READ_AGAIN;
}

/* Returns true if loads are long now and then for work of their own, not for opening files. */
static bool spreads_work(const struct report *report, const struct advice *advice)
{
	return advice->id == ADVICE_SMOOTH_SHARD_OPENING &&
	       report->diagnosis.grounds.storage_share < FEW_FILES;
}

/* Returns true if a constructor of the user's takes the pauses after the optimizer. */
static bool makes_anew(const struct report *report, const struct advice *advice)
{
	return advice->id == ADVICE_REDUCE_MAIN_THREAD_EVENT &&
	       report->diagnosis.cause == CAUSE_LOGGING &&
	       code_is_leader_maker(report, LINE_AFTERS);
}

const char *remedy_line(const struct report *report, const struct advice *advice, char *buffer)
{
	const char *line = explain_find(advice_names[advice->id])->line;
	const int32_t workers = workers_of(report, advice);
	const char *file = advice->id == ADVICE_KEEP_OPEN ? reopened_file(report) : NULL;

	*buffer = '\0';
	if (stages_add_line(report, advice->id, buffer, REMEDY_WORDS))
		return buffer;
	if (dialect_add_line(report, advice, buffer, REMEDY_WORDS))
		return buffer;
	if (advice->id == ADVICE_USE_WORKERS && !dialect_of(report->loader)->has_workers)
		return "Load beside the training, in threads or processes.";
	if (advice->id == ADVICE_MARK_LOADS && is_kind(report, "marks"))
		return "Make the loader faster; mark its loads (dlprof.h) to see how.";
	if (advice->whatif == WHATIF_IN_ORDER_FALSE)
		return "Hand out finished batches out of order: in_order=False.";
	if ((advice->id == ADVICE_PERSISTENT_WORKERS || advice->id == ADVICE_CHEAPER_STARTS) &&
	    is_made_anew(report))
		return "Make the iterator once, before the loop.";
	if (advice->id == ADVICE_PERSISTENT_WORKERS && is_loader_anew(report))
		return "Make the loader once, before the loop over epochs.";
	if (advice->id == ADVICE_DECODE_BOUND && format_decode_line(report))
		return format_decode_line(report);
	if (advice->id == ADVICE_SPLIT_FIRST && splits_files(&report->diagnosis.grounds))
		return "Split the files between the workers, if each of them reads all.";
	if (advice->id == ADVICE_WITHOUT_HELPER && report->diagnosis.grounds.takes_turns)
		return "Fill that queue faster, or do in the workers what its other end does.";
	if (advice->id == ADVICE_WITHOUT_HELPER && report->diagnosis.grounds.is_other_end_idle)
		return "Let what the loads wait for begin earlier, or do it once, beforehand.";
	if (asks_beside_files(report, advice))
		return "Ask once, beforehand, and keep the answers, or once a batch.";
	if (spreads_work(report, advice))
		return "Do it bit by bit, or ahead of time, not for many batches at once.";
	if (is_gathered(report, advice)) {
		snprintf(buffer, REMEDY_WORDS,
			 "Let the workers put the %" PRId64 " batches of a step together.",
			 report->diagnosis.gathered);
		return buffer;
	}
	if (makes_anew(report, advice))
		return "Make it once, before the loop, not again and again.";
	if (advice->id == ADVICE_REDUCE_MAIN_THREAD_EVENT &&
	    report->diagnosis.cause == CAUSE_LOGGING)
		return lines_lead_in_gaps(&report->lines)
			       ? "Do what lies between epochs faster, or less often."
			       : "Do what follows the optimizer less often, or faster.";
	if (advice->id == ADVICE_FIND_EVENT && removed_is_shift(&report->diagnosis))
		return "Find out what has become slower there, or who else uses it since then.";
	if (file && is_parsed(file))
		snprintf(buffer, REMEDY_WORDS,
			 "Parse %.60s once in each worker and keep what comes out: each sample "
			 "parses it anew.",
			 file);
	else if (file)
		snprintf(buffer, REMEDY_WORDS,
			 "Open %.60s once in each worker and keep it: each sample opens it anew.",
			 file);
	else if (advice->whatif == WHATIF_PREFETCH_X4)
		snprintf(buffer, REMEDY_WORDS, "Load further ahead: prefetch_factor=%" PRId32 ".",
			 prefetch_factor(report));
	else if (advice->id == ADVICE_REDUCE_CPU_PER_BATCH)
		return advice->is_open ? "Make the loads need half the CPU, or less."
				       : "Make the loads need half the CPU.";
	else if (workers > 0 && advice->id != ADVICE_USE_WORKERS)
		snprintf(buffer, REMEDY_WORDS, "Use %s workers, %" PRId32 " in all.",
			 advice->id == ADVICE_USE_FEWER_WORKERS ? "fewer" : "more", workers);
	else if (workers > 0)
		snprintf(buffer, REMEDY_WORDS,
			 "Use %" PRId32 " worker%s, so that loading happens beside the training.",
			 workers, workers == 1 ? "" : "s");
	else
		return line;
	return buffer;
}

/* Names the line that takes most of a group's time. False: there is none, or "Why" names it. */
static bool add_line(const struct report *report, enum line_group group, char *buffer)
{
	*buffer = '\0';
	if (code_named(report, group) || !code_add_lead(report, group, buffer, REMEDY_WORDS))
		return false;
	page_append(buffer, REMEDY_WORDS, ".");
	return true;
}

/* Returns true if loads compute, mostly in one line: then files do not explain their time. */
static bool computes_in_line(const struct report *report)
{
	const struct line_share *line = lines_leading(&report->lines, LINE_LOADS);
	const struct grounds *r = &report->diagnosis.grounds;

	return line && line->share - line->error >= MOST && r->cpu_share >= MOST;
}

/* Names the two largest parts of loads: observed transforms and decoders, else kinds of work. */
static void loads_words(const struct report *report, char *buffer)
{
	const struct load_totals *totals = &report->totals;
	const struct inside_largest columns[] = {
		{"opening files", totals->open_ns},
		{"reading", totals->read_ns},
		{"decoding", totals->decode_ns},
		{"collating", totals->collate_ns},
		{"the dataset's own code", totals->other_ns},
	};
	struct inside_largest top[2] = {{"", 0}, {"", 0}};
	double all_ns = (double)report->inside.loads.load_ns;

	if (!inside_find_largest(&report->inside, &report->facts, top)) {
		all_ns = (double)totals->load_ns;
		for (size_t i = 0; i < ARRAY_COUNT(columns); i++)
			inside_take_largest(top, &columns[i]);
	}
	if (top[1].ns <= 0 || !(all_ns > 0))
		return;
	snprintf(buffer, REMEDY_WORDS,
		 "Their largest parts are %.80s (%s) and %.80s (%s); %s.", top[0].name,
		 UNITS_SHARE((double)top[0].ns / all_ns), top[1].name,
		 UNITS_SHARE((double)top[1].ns / all_ns),
		 computes_in_line(report) ? "begin with the line of code that takes most of them"
					  : "dlprof-report -v names files and samples");
}

/* Returns true if the Trainer of Hugging Face runs the loop, as samples of stacks show. */
static bool is_trainer(const struct report *report)
{
	for (size_t i = 0; i < report->samples.frame_count; i++)
		if (strstr(report->samples.frames[i].file, "transformers/trainer.py"))
			return true;
	return false;
}

static void workers_words(const struct report *report, const struct advice *advice, char *buffer)
{
	const int32_t workers = workers_of(report, advice);
	const struct whatif *whatif = &report->diagnosis.whatif;
	/* A first worker helps even if loads wait for something shared: they run beside steps. */
	const bool may_be_shared = advice->id != ADVICE_USE_FEWER_WORKERS && advice->whatif >= 0 &&
				   whatif->setups[WHATIF_BASELINE].workers > 0 &&
				   whatif->outside_share >= WHATIF_OUTSIDE;
	const bool deals = advice->id == ADVICE_MORE_LOADER_CAPACITY && whatif->is_iterable;
	const struct dialect *dialect = dialect_of(report->loader);
	const bool persists = advice->id == ADVICE_USE_WORKERS && dialect->is_torch &&
			      report->finding.epoch_count > 1;

	if (dialect->has_workers)
		snprintf(buffer, REMEDY_WORDS, "num_workers=%" PRId32 "%s.", workers,
			 advice->id == ADVICE_USE_WORKERS && whatif->is_iterable
				 ? "; each yields all samples, unless __iter__ deals them out by "
				   "get_worker_info()"
			 : persists
				 ? ", persistent_workers=True: they start once, not in each epoch"
			 : deals  ? "; no gain if the dataset has no more shards for them"
			 : may_be_shared      ? "; no gain if what loads wait for is shared"
			 : is_trainer(report) ? "; a Trainer's is dataloader_num_workers"
					      : "");
	else
		snprintf(buffer, REMEDY_WORDS, "In all, %" PRId32 " worker%s.", workers,
			 workers == 1 ? "" : "s");
}

/* Names the transforms if none of them is random, and they take half of the loads or more. */
static bool add_fixed(const struct report *report, const struct inside_parts *parts, char *buffer)
{
	const double share = report->diagnosis.grounds.fixed_share;
	size_t count = 0;

	if (!(share >= MOST))
		return false;
	page_append(buffer, REMEDY_WORDS, "Transforms take %s of a load, and none is random (",
		    UNITS_SHARE(share));
	for (size_t i = 0; i < parts->count && count < 2; i++)
		if (strcmp(parts->items[i].what, "transform") == 0)
			page_append(buffer, REMEDY_WORDS, "%s%.40s", count++ ? ", " : "",
				    parts->items[i].name);
	page_append(buffer, REMEDY_WORDS,
		    "): if what they get is the same in every epoch, apply them once, beforehand.");
	return true;
}

/* Names a transform that takes half of the loads or more. Returns false if there is none. */
static bool add_transform(const struct report *report, char *buffer)
{
	const struct inside_parts parts = inside_parts(&report->inside);
	const double load_ns = fmax((double)report->inside.loads.load_ns, 0);
	const bool is_long = parts.count && strcmp(parts.items[0].what, "transform") == 0 &&
			     2 * (double)parts.items[0].ns >= load_ns;

	if (add_fixed(report, &parts, buffer)) {
		free(parts.items);
		return true;
	}
	if (is_long)
		page_append(buffer, REMEDY_WORDS,
			    "%.80s takes %s of a load: choose a cheaper setting or another "
			    "library's, or do it for whole batches on the GPU. What is random "
			    "cannot be done beforehand.",
			    parts.items[0].name,
			    UNITS_SHARE((double)parts.items[0].ns / load_ns));
	free(parts.items);
	return is_long;
}

/* Says with which of the user's functions or lines to begin. */
static void leader_words(const struct report *report, char *buffer)
{
	const char *how = explain_find(advice_names[ADVICE_REDUCE_CPU_PER_BATCH])->how;
	const struct line_share *leading = lines_leading(&report->lines, LINE_LOADS);
	const struct grounds *r = &report->diagnosis.grounds;
	size_t at;

	if (r->facts && r->read_again >= GROUNDS_READ_AGAIN)
		page_append(buffer, REMEDY_WORDS,
			    "%s bytes are read for each byte of a batch: take only the columns "
			    "and rows that are used, or parse once. ",
			    UNITS_RATE(r->read_again));
	at = strlen(buffer);
	page_append(buffer, REMEDY_WORDS, "Begin with ");
	if (code_add_leader(report, LINE_LOADS, false, buffer, REMEDY_WORDS)) {
		/* Each epoch collates other batches, so none of the results can be kept. */
		if (leading && leading->is_collating)
			how = "Stack whole arrays (numpy.stack, torch.from_numpy), not lists of "
			      "arrays or numbers.";
		page_append(buffer, REMEDY_WORDS, ": %c%s", tolower(*how), how + 1);
	} else {
		buffer[at] = '\0';
	}
}

/* Returns true if waits mostly are the sampler's, in the dataset's __getitem__(). */
static bool sampler_loads(const struct report *report)
{
	const struct line_share *line = lines_leading(&report->lines, LINE_WAITS);

	return line && report->samples.frames[line->frame].does & LINE_GETS_ITEM;
}

/* If workers' first loads in epochs are long, but not for files, says what to look for. */
static void add_firsts(const struct report *report, char *buffer)
{
	const struct load_totals *totals = &report->totals;
	size_t count;
	const double ns = evidence_first_loads(report, &count);

	if (report->series.iterable != 1 || isnan(ns) ||
	    (double)(totals->open_ns + totals->read_ns) > FEW_FILES * ns * (double)count)
		return;
	page_append(buffer, REMEDY_WORDS,
		    "If it fills a shuffle buffer, make that smaller, fill it bit by bit, or "
		    "shuffle before decoding; else move imports out of a worker's first load.");
}

static void split_words(const struct report *report, char *buffer)
{
	const struct load_facts *facts = report->diagnosis.grounds.facts;

	snprintf(buffer, REMEDY_WORDS,
		 "Each of %.0f files is opened %" PRId32 " times in each epoch, as often as there "
		 "are workers, and %s of it are read. If each worker reads all files: "
		 "files[info.id::info.num_workers], by get_worker_info().",
		 facts->files.count, series_busy_workers(&report->series),
		 UNITS_BYTES(facts->files.bytes));
}

static void shift_words(const struct report *report, char *buffer)
{
	const struct shift *shift = &report->diagnosis.shift;
	const struct batch_series *s = &report->series;
	double ns = 0;

	for (size_t i = 0; i < shift->at && s->wait_ns && s->compute_ns; i++)
		ns += fmax(0, (double)s->wait_ns[i]) + fmax(0, (double)s->compute_ns[i]);
	snprintf(buffer, REMEDY_WORDS,
		 "Since batch %zu (%s after the first) loads take %s times as long. If they ask "
		 "for as much as before, the loader is not why.",
		 shift->at, UNITS_TIME(ns), UNITS_RATE(shift->after_ns / shift->before_ns));
}

static void samples_words(const struct report *report, char *buffer)
{
	const struct tally_list *samples = &report->inside.samples;

	for (size_t i = 0; i < samples->count && i < 3; i++)
		page_append(buffer, REMEDY_WORDS, "%s%.40s[%" PRId64 "] %s%s%.60s", i ? ", " : "",
			    samples->items[i].detail, samples->items[i].class,
			    UNITS_TIME((double)samples->items[i].ns),
			    samples->items[i].name[0] ? " " : "", samples->items[i].name);
	if (samples->count)
		page_append(buffer, REMEDY_WORDS, "; dlprof-report -v lists them.");
}

const char *remedy_how(const struct report *report, const struct advice *advice, char *buffer)
{
	const char *file = advice->id == ADVICE_KEEP_OPEN ? reopened_file(report) : NULL;
	const struct line_frame *call =
		advice->id == ADVICE_FEWER_REQUESTS ? connecting_call(report) : NULL;

	*buffer = '\0';
	if (dialect_add_how(report, advice, buffer, REMEDY_WORDS))
		return buffer;
	switch (advice->id) {
	case ADVICE_MORE_LOADER_CAPACITY:
	case ADVICE_USE_WORKERS:
	case ADVICE_USE_FEWER_WORKERS:
		if (workers_of(report, advice) > 0)
			workers_words(report, advice, buffer);
		break;
	case ADVICE_USE_NO_WORKERS:
		snprintf(buffer, REMEDY_WORDS,
			 "DataLoader(..., num_workers=0). A batch takes %s to load, and receiving "
			 "it from a worker makes the training wait %s.",
			 UNITS_TIME(report->finding.load_mean_ns),
			 UNITS_TIME(report->finding.account.part_ns[ACCOUNT_RECEIVING] /
				    (double)report->finding.account.count));
		break;
	case ADVICE_MARK_LOADS:
		if (is_kind(report, "batch_fn") && report->loader_count == 1)
			return "Let it load beside the training, in threads or processes; of a "
			       "PyTorch DataLoader dlprof sees the loads, too.";
		break;
	case ADVICE_PREFETCH_OR_IN_ORDER_FALSE:
		if (advice->whatif == WHATIF_IN_ORDER_FALSE)
			return "DataLoader(..., in_order=False), since PyTorch 2.6, hands out "
			       "whatever is finished.";
		if (advice->whatif == WHATIF_PREFETCH_X4)
			snprintf(buffer, REMEDY_WORDS,
				 "DataLoader(..., prefetch_factor=%" PRId32 ") keeps %" PRId32
				 " batches a worker ready; the default is 2.",
				 prefetch_factor(report), prefetch_factor(report));
		break;
	case ADVICE_PERSISTENT_WORKERS:
	case ADVICE_CHEAPER_STARTS:
		if (is_made_anew(report))
			return "Call iter(loader) once, before the loop, and next() in it: here "
			       "each batch has an iterator of its own.";
		if (advice->id == ADVICE_PERSISTENT_WORKERS && is_loader_anew(report))
			return "persistent_workers=True keeps workers only as long as their "
			       "loader, and here each epoch has a loader of its own. What differs "
			       "between epochs can be chosen by a sampler.";
		if (advice->id == ADVICE_CHEAPER_STARTS)
			add_firsts(report, buffer);
		break;
	case ADVICE_STOP_GROWTH:
		if (reads_more_and_more(report, advice)) {
			format_growing_reads(report, buffer);
			break;
		}
		/* fall through */
	case ADVICE_REDUCE_CPU_PER_BATCH:
	case ADVICE_SHORTEN_LOCK:
		if (advice->id == ADVICE_REDUCE_CPU_PER_BATCH && add_transform(report, buffer))
			break;
		if (!add_line(report, LINE_LOADS, buffer) &&
		    advice->id == ADVICE_REDUCE_CPU_PER_BATCH)
			leader_words(report, buffer);
		break;
	case ADVICE_FEWER_REQUESTS:
		if (asks_beside_files(report, advice))
			return "The data comes from files, and next to nothing from the server. "
			       "huggingface_hub asks if its cache is up to date: "
			       "local_files_only=True, or HF_HUB_OFFLINE=1.";
		if (call)
			snprintf(buffer, REMEDY_WORDS,
				 "In one request or, if there is none, at the same time by threads "
				 "(__getitems__). %s%.40s() connects anew each time: keep a "
				 "requests.Session() in each worker.",
				 strstr(call->file, "/requests/") ? "requests." : "",
				 call->function);
		break;
	case ADVICE_SMOOTH_SHARD_OPENING:
		if (spreads_work(report, advice))
			return "If it fills a buffer or a window, make that smaller or fill it as "
			       "it empties; if it opens a shard, do so in a thread. A much larger "
			       "prefetch_factor bridges it.";
		break;
	case ADVICE_WITHOUT_HELPER:
		if (report->diagnosis.grounds.takes_turns)
			return "Start more processes that fill it, if they share nothing; more "
			       "workers only wait for it, too.";
		if (report->diagnosis.grounds.is_other_end_idle)
			return "The process at the other end of the pipe is not seen to compute, "
			       "so it waits, too. Begin several at once: more workers, or threads.";
		break;
	case ADVICE_INSPECT_LOADS:
		if (!add_line(report, LINE_LOADS, buffer))
			loads_words(report, buffer);
		break;
	case ADVICE_VECTORISE_SAMPLER:
		if (sampler_loads(report))
			return "The sampler asks the dataset for samples. What it needs of them "
			       "(lengths, labels) can be found once, in __init__.";
		/* fall through */
	case ADVICE_INSPECT_WAITS:
		if (!add_line(report, LINE_WAITS, buffer) && advice->id == ADVICE_INSPECT_WAITS)
			facts_receiving(report, buffer);
		break;
	case ADVICE_REDUCE_MAIN_THREAD_EVENT:
		if (makes_anew(report, advice))
			return "What the constructor (__init__) reads or computes can be kept "
			       "between epochs. Lightning makes loaders and datasets anew with "
			       "reload_dataloaders_every_n_epochs.";
		if (report->diagnosis.cause == CAUSE_LOGGING && lines_lead_in_gaps(&report->lines))
			return "Work on whole arrays, not on elements; keep what stays as it is; "
			       "or do it in another process while the epoch runs.";
		if (report->diagnosis.cause == CAUSE_LOGGING)
			return "Log every hundredth step, average weights every tenth, validate on "
			       "fewer batches.";
		break;
	case ADVICE_MOVE_OUT_OF_PROCESS:
		if (report->diagnosis.cause == CAUSE_STEPS_HELD)
			return "If it loads batches (a background generator around a DataLoader), "
			       "give that DataLoader num_workers; else use "
			       "multiprocessing.Process instead of threading.Thread.";
		break;
	case ADVICE_CHEAPER_STEP:
		if (!add_line(report, LINE_STEPS, buffer) && code_named(report, LINE_STEPS))
			page_append(buffer, REMEDY_WORDS,
				    "Begin with the line of code that takes most of it.");
		else if (!*buffer)
			page_append(buffer, REMEDY_WORDS,
				    "The framework's own profiler (torch.profiler, say) names the "
				    "operators in it.");
		/* Steps may also become longer because other programs have come to run. */
		if (report->diagnosis.grounds.step_growth.is_lasting &&
		    !series_has_others(&report->series)) {
			page_append(buffer, REMEDY_WORDS, "%sSteps become longer: ",
				    *buffer ? " " : "");
			evidence_add_growth(&report->diagnosis.grounds.step_growth, buffer,
					    REMEDY_WORDS);
			page_append(buffer, REMEDY_WORDS, ".");
		}
		if (report->facts.ranks > 1)
			page_append(buffer, REMEDY_WORDS,
				    "%sIt may wait there for other ranks: dlprof-report of their "
				    "folder compares all %.0f.",
				    *buffer ? " " : "", report->facts.ranks);
		if (report->diagnosis.grounds.compiling_share > 0)
			page_append(buffer, REMEDY_WORDS,
				    "%storch.compile() compiles in %s of the time before the "
				    "backward pass, and not only at first. Pad inputs to a few "
				    "shapes, or use dynamic=True.",
				    *buffer ? " " : "",
				    UNITS_SHARE(report->diagnosis.grounds.compiling_share));
		break;
	case ADVICE_READ_LESS:
		format_reading(report, buffer);
		break;
	case ADVICE_REDUCE_DELIVERY_COST:
		if (is_gathered(report, advice))
			return "Pass batch_size to the DataLoader: now each of them is handed over "
			       "by itself.";
		snprintf(buffer, REMEDY_WORDS, "A batch %s %.0f %s. %s",
			 by_fetches(&report->diagnosis.grounds) ? "asks workers for" : "has",
			 report->diagnosis.grounds.tensors,
			 by_fetches(&report->diagnosis.grounds) ? "descriptors" : "tensors",
			 explain_find(advice_names[ADVICE_REDUCE_DELIVERY_COST])->how);
		break;
	case ADVICE_DECODE_FEWER:
		snprintf(buffer, REMEDY_WORDS, "%s images are decoded for each sample. %s",
			 UNITS_RATE(report->diagnosis.grounds.drawn),
			 explain_find(advice_names[ADVICE_DECODE_FEWER])->how);
		break;
	case ADVICE_SPLIT_FIRST:
		if (splits_files(&report->diagnosis.grounds))
			split_words(report, buffer);
		break;
	case ADVICE_FIND_EVENT:
		if (removed_is_shift(&report->diagnosis))
			shift_words(report, buffer);
		break;
	case ADVICE_KEEP_OPEN:
		if (file && is_parsed(file))
			return "Parse it in the dataset's __init__, or once, beforehand, into an "
			       "array (numpy.save) that workers map (mmap_mode='r').";
		if (file)
			return "Open it for the first sample (if self.file is None: ...), or in "
			       "worker_init_fn, and use it for all.";
		break;
	case ADVICE_SEND_LESS:
		snprintf(buffer, REMEDY_WORDS, "A batch has %s. %s",
			 UNITS_BYTES(report->diagnosis.grounds.facts->batch_bytes),
			 report->diagnosis.grounds.facts->images_per_sample > 0
				 ? "Send uint8 instead of float32 or float64, and crop before."
				 : "Send smaller types (float16, int32), only what is used, and "
				   "of zeros or repeated values a sparse form: the training "
				   "expands it.");
		break;
	case ADVICE_SHRINK_BATCH:
		snprintf(buffer, REMEDY_WORDS, "A batch has %s, its decoded images %s. %s",
			 UNITS_BYTES(report->diagnosis.grounds.facts->batch_bytes),
			 UNITS_BYTES(report->diagnosis.grounds.facts->batch_bytes /
				     report->diagnosis.grounds.blown_up),
			 explain_find(advice_names[ADVICE_SHRINK_BATCH])->how);
		break;
	case ADVICE_INDEX_AT_ONCE:
		snprintf(buffer, REMEDY_WORDS, "Each of %s samples of a batch takes %s. %s",
			 UNITS_COUNT((int64_t)report->diagnosis.grounds.small.count),
			 UNITS_TIME(report->diagnosis.grounds.small.each_ns),
			 explain_find(advice_names[ADVICE_INDEX_AT_ONCE])->how);
		break;
	case ADVICE_RETURN_TENSORS:
		if (report->diagnosis.grounds.facts->objects >= LOAD_FACTS_OBJECTS)
			return "A batch has 16,384 Python objects or more. Put its numbers into a "
			       "few tensors (torch.tensor) in collate_fn.";
		break;
	case ADVICE_OWN_CORES:
		snprintf(buffer, REMEDY_WORDS,
			 "Other programs took %.2g of the %.3g cores: pin the training to cores "
			 "that they may not use (taskset, cpusets).",
			 report->series.other_cores, report->series.cores);
		break;
	case ADVICE_FIX_SAMPLES:
		samples_words(report, buffer);
		break;
	case ADVICE_DECODE_BOUND:
		format_decoding(report, buffer);
		break;
	case ADVICE_FIX_SLOW_WORKER:
		facts_slow_worker(report, buffer);
		break;
	default:
		stages_add_how(report, advice->id, buffer, REMEDY_WORDS);
		break;
	}
	return *buffer ? buffer : explain_find(advice_names[advice->id])->how;
}
