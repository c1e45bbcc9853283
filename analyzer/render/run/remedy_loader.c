/* SPDX-License-Identifier: Apache-2.0 */
/* remedy_loader.c - says what to change in the loader's settings, and in what it hands over. */
#include "render/run/remedy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/cause/grounds.h"

static bool is_kind(const struct report *report, const char *kind)
{
	return report->loader && strcmp(report->loader->kind, kind) == 0;
}

static int32_t workers_of(const struct report *report, const struct advice *advice)
{
	const struct whatif *whatif = &report->diagnosis.whatif;

	return advice->id == ADVICE_MORE_LOADER_CAPACITY ? whatif->more_workers
	       : advice->id == ADVICE_USE_WORKERS        ? whatif->use_workers
							 : whatif->fewer_workers;
}

/* Returns true if the Trainer of Hugging Face runs the loop, as samples of stacks show. */
static bool is_trainer(const struct report *report)
{
	for (size_t i = 0; i < report->samples.frame_count; i++)
		if (strstr(report->samples.frames[i].file, "transformers/trainer.py"))
			return true;
	return false;
}

/* Returns a remark on the advised number of workers, to follow "num_workers=4". */
static const char *beside_workers(const struct report *report, const struct advice *advice)
{
	const struct whatif *whatif = &report->diagnosis.whatif;
	const bool is_first = advice->id == ADVICE_USE_WORKERS;

	if (is_first && whatif->is_iterable)
		return "; each yields all samples, unless __iter__ deals them out by "
		       "get_worker_info()";
	if (is_first && dialect_of(report->loader)->is_torch && report->finding.epoch_count > 1)
		return ", persistent_workers=True: they start once, not in each epoch";
	if (advice->id == ADVICE_MORE_LOADER_CAPACITY && whatif->is_iterable)
		return "; no gain if the dataset has no more shards for them";
	/* A first worker helps even if loads share a limit: its loads run beside the steps. */
	if (advice->id != ADVICE_USE_FEWER_WORKERS && advice->whatif >= 0 &&
	    whatif->setups[WHATIF_BASELINE].workers > 0 && whatif->outside_share >= WHATIF_OUTSIDE)
		return "; no gain if what loads wait for is shared";
	return is_trainer(report) ? "; a Trainer's is dataloader_num_workers" : "";
}

void remedy_workers(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const int32_t workers = workers_of(report, advice);
	const bool is_first = advice->id == ADVICE_USE_WORKERS;
	const bool has_workers = dialect_of(report->loader)->has_workers;
	const char *plural = workers == 1 ? "" : "s";

	if (is_first && !has_workers)
		ret->line = "Load beside the training, in threads or processes.";
	if (workers <= 0)
		return;
	if (is_first && has_workers)
		remedy_line(ret, "Use %" PRId32 " worker%s, so that loading happens beside the "
			    "training.", workers, plural);
	else if (!is_first)
		remedy_line(ret, "Use %s workers, %" PRId32 " in all.",
			    advice->id == ADVICE_USE_FEWER_WORKERS ? "fewer" : "more", workers);
	if (has_workers)
		remedy_how(ret, "num_workers=%" PRId32 "%s.", workers,
			   beside_workers(report, advice));
	else
		remedy_how(ret, "In all, %" PRId32 " worker%s.", workers, plural);
	if (is_first && dialect_of(report->loader)->is_torch &&
	    report->diagnosis.grounds.starts_programs)
		remedy_how(ret, " A worker cannot start processes by multiprocessing (Pool): if "
			   "the dataset does, let it do that work in the worker itself.");
}

void remedy_no_workers(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	remedy_how(
		ret,
		"DataLoader(..., num_workers=0). A batch takes %s to load, and receiving it from "
		"a worker makes the training wait %s.",
		UNITS_TIME(report->finding.load_mean_ns),
		UNITS_TIME(report->finding.account.part_ns[ACCOUNT_RECEIVING] /
			   (double)report->finding.account.count));
}

void remedy_marks(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	if (is_kind(report, "marks"))
		ret->line = "Make the loader faster; mark its loads (dlprof.h) to see how.";
	if (is_kind(report, "batch_fn") && report->loader_count == 1)
		ret->how = "Let it load beside the training, in threads or processes. In a PyTorch "
			   "DataLoader dlprof would see the loads, too.";
}

void remedy_ahead(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const int32_t factor = report->diagnosis.whatif.setups[WHATIF_PREFETCH_X4].prefetch_factor;

	if (advice->whatif == WHATIF_IN_ORDER_FALSE) {
		ret->line = "Hand out finished batches out of order: in_order=False.";
		ret->how = "DataLoader(..., in_order=False), since PyTorch 2.6, hands out whatever "
			   "is finished.";
	} else if (advice->whatif == WHATIF_PREFETCH_X4) {
		remedy_line(ret, "Load further ahead: prefetch_factor=%" PRId32 ".", factor);
		remedy_how(ret, "DataLoader(..., prefetch_factor=%" PRId32 ") keeps %" PRId32
			   " batches a worker ready; the default is 2.", factor, factor);
	}
}

/* Returns true if workers should persist, but the program makes a new loader for each epoch. */
static bool is_loader_anew(const struct report *report)
{
	return report->loader && report->loader->persistent == 1 && report->series.persistent == 0;
}

/* If workers' first loads in epochs are long, but not due to files, says what to look for. */
static void add_firsts(const struct report *report, struct remedy *ret)
{
	const struct load_totals *totals = &report->totals;
	size_t count;
	const double ns = evidence_first_loads(report, &count);

	if (evidence_firsts_lead(report) &&
	    report->diagnosis.grounds.asked_share >= GROUNDS_OUTSIDE) {
		remedy_how(ret, "What a first load asks for in each epoch (a list of files, say), "
			   "ask once, before the loop, and give the answer to the dataset.");
		return;
	}
	if (report->series.iterable != 1 || isnan(ns) ||
	    (double)(totals->open_ns + totals->read_ns) > REMEDY_FEW_FILES * ns * (double)count)
		return;
	remedy_how(ret, "If it fills a shuffle buffer, make that smaller, fill it bit by bit, or "
			"shuffle before decoding; else move imports out of a worker's first load.");
}

void remedy_starts(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const bool is_kept = advice->id == ADVICE_PERSISTENT_WORKERS;

	if (report->finding.epoch_count == report->finding.batch_count) {
		ret->line = "Make the iterator once, before the loop.";
		ret->how = "Call iter(loader) once, before the loop, and next() in it: here each "
			   "batch has an iterator of its own.";
	} else if (is_kept && is_loader_anew(report)) {
		ret->line = "Make the loader once, before the loop over epochs.";
		ret->how = "persistent_workers=True keeps workers only as long as their loader, "
			   "and here each epoch has a loader of its own. What differs between "
			   "epochs can be chosen by a sampler.";
	} else if (!is_kept && report->diagnosis.grounds.is_left_early) {
		ret->line = "Keep one iterator for all epochs, or load less far ahead.";
		remedy_how(ret, "Epochs are left early: %s batches are loaded for each one that is "
			   "taken, and iter() waits for the rest. Call next() of the same iterator "
			   "again, or pass a smaller prefetch_factor.",
			   UNITS_RATE(report->facts.loads_per_batch));
	} else if (!is_kept) {
		add_firsts(report, ret);
	}
}

/* Returns true if loads return fewer tensors than a batch has: the rest come as descriptors. */
static bool by_fetches(const struct grounds *r)
{
	return r->facts && r->facts->tensors < r->tensors;
}

void remedy_delivery(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const struct grounds *r = &report->diagnosis.grounds;

	if (report->diagnosis.gathered > 0) {
		remedy_line(ret, "Let the workers put the %" PRId64 " batches of a step together.",
			    report->diagnosis.gathered);
		ret->how = "Pass batch_size to the DataLoader: now each sample is handed over to "
			   "the training by itself.";
		return;
	}
	remedy_how(ret, "A batch %s %.0f %s. %s", by_fetches(r) ? "asks workers for" : "has",
		   r->tensors, by_fetches(r) ? "descriptors" : "tensors", ret->how);
}

void remedy_return_tensors(const struct report *report, const struct advice *advice,
			   struct remedy *ret)
{
	if (report->diagnosis.grounds.facts->objects >= LOAD_FACTS_OBJECTS)
		ret->how = "A batch has 16,384 Python objects or more. Put its numbers into a few "
			   "tensors (torch.tensor) in collate_fn.";
}

void remedy_send_less(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const struct load_facts *facts = report->diagnosis.grounds.facts;

	remedy_how(
		ret, "A batch has %s. %s", UNITS_BYTES(facts->batch_bytes),
		facts->images_per_sample > 0
			? "Send uint8 instead of float32 or float64, and crop before."
			: "Send smaller types (float16, int32) and only what is used; send zeros "
			  "and repeats in a sparse form, which the training expands.");
}

void remedy_shrink(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const struct grounds *r = &report->diagnosis.grounds;

	remedy_how(ret, "A batch has %s, its decoded images %s. %s",
		   UNITS_BYTES(r->facts->batch_bytes),
		   UNITS_BYTES(r->facts->batch_bytes / r->blown_up), ret->how);
}

void remedy_own_cores(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	if (report->facts.ranks > 1) {
		ret->line = "Give each rank cores of its own.";
		remedy_how(ret, "Other ranks and programs took %.2g of the %.3g cores: run fewer "
			   "of them on this machine, or let the loads of all ranks need less CPU.",
			   report->series.other_cores, report->series.cores);
		return;
	}
	remedy_how(ret, "Other programs took %.2g of the %.3g cores: pin the training to cores "
		   "that they may not use (taskset, cpusets).", report->series.other_cores,
		   report->series.cores);
}

/* If loads mostly wait for one socket or pipe, says to compare what slow workers ask of it. */
void remedy_slow_worker(const struct report *report, const struct advice *advice,
			struct remedy *ret)
{
	const struct load_facts *facts = &report->facts;
	const struct load_peer *peer = facts->peers;
	const double share = facts->peer_count ? facts_share(facts, peer->ns) : 0;

	if (!(share >= REMEDY_MOST))
		return;
	remedy_how(ret, "Loads wait for %s in %s of their time: compare what the slow workers ask "
		   "of it.", peer->name, UNITS_SHARE(share));
	if (advice_has(&report->diagnosis.advice, WHATIF_IN_ORDER_FALSE))
		remedy_how(ret, " Until then, in_order=False: about %s.",
			   UNITS_FACTOR(1 + report->diagnosis.whatif.gain[WHATIF_IN_ORDER_FALSE]));
}
