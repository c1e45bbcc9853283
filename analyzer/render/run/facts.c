/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c - shows facts about loads other than times: what they wait for, batches, processes. */
#include <math.h>
#include <string.h>

#include "render/form/units.h"
#include "render/run/parts.h"
#include "store/run/facts.h"

#define WORTH_SAYING 0.005
#define MOST_SHOWN   4

double facts_share(const struct load_facts *facts, double ns)
{
	const double share = ns / facts->load_ns;

	return facts->load_ns > 0 && !isnan(share) ? fmin(share, 1) : NAN;
}

static void add_waits(const struct load_facts *facts, struct outline *o)
{
	struct text text = TEXT_OF(256);

	for (int kind = 0; kind < LOAD_WAIT_MAX; kind++) {
		const double share = facts_share(facts, facts->wait_ns[kind]);

		if (share >= WORTH_SAYING)
			text_add(&text, "%s%s %s", *text.words ? ", " : "",
				 load_wait_name((enum load_wait_kind)kind), UNITS_SHARE(share));
	}
	if (facts_share(facts, facts->no_core_ns) >= WORTH_SAYING)
		text_add(&text, "%sno core %s", *text.words ? ", " : "",
			 UNITS_SHARE(facts_share(facts, facts->no_core_ns)));
	if (*text.words)
		outline_item(o, "Blocked", "%s of the time of all loads", text.words);
	for (size_t i = 0; i < facts->peer_count && i < MOST_SHOWN; i++) {
		const struct load_peer *peer = &facts->peers[i];
		const double share = facts_share(facts, peer->ns);

		/* A peer that has no name of its own is called after its kind, such as "pipe". */
		const bool is_named = strcmp(peer->name, load_wait_name(peer->kind)) != 0;

		if (!(share >= WORTH_SAYING))
			continue;
		outline_item(o, "Waits for", "%s%s%s: %s of the time, %s wait%s%s%s",
			     is_named ? load_wait_name(peer->kind) : "", is_named ? " " : "",
			     peer->name, UNITS_SHARE(share), UNITS_COUNT((int64_t)peer->count),
			     peer->count == 1 ? "" : "s", peer->bytes > 0 ? ", " : "",
			     peer->bytes > 0 ? UNITS_BYTES(peer->bytes) : "");
	}
}

static void add_batch(const struct load_facts *facts, struct outline *o)
{
	if (facts->objects >= LOAD_FACTS_OBJECTS)
		outline_item(o, "Batch", "16,384 Python objects or more");
	if (isnan(facts->tensors))
		return;
	outline_item(o, "Batch", "%.4g tensor%s%s%s", facts->tensors,
		     facts->tensors == 1 ? "" : "s", isnan(facts->batch_bytes) ? "" : ", ",
		     isnan(facts->batch_bytes) ? "" : UNITS_BYTES(facts->batch_bytes));
	if (facts->read_per_byte > 0)
		outline_item(o, "Read", "%s bytes for each byte of a batch",
			     UNITS_RATE(facts->read_per_byte));
	if (facts->inflated_per_byte > 0)
		outline_item(o, "Unpacked", "%s bytes for each byte of a batch",
			     UNITS_RATE(facts->inflated_per_byte));
	if (facts->received_per_byte > 0)
		outline_item(o, "Received", "%s bytes from sockets for each byte of a batch",
			     UNITS_RATE(facts->received_per_byte));
}

void facts_outline_load(const struct report *report, struct outline *o)
{
	outline_items(o, "life");
	add_waits(&report->facts, o);
	add_batch(&report->facts, o);
}

static void add_memory(const struct load_facts *facts, const char *who, struct outline *o)
{
	if (facts->private_end_bytes >= 0 && facts->private_begin_bytes >= 0)
		outline_item(o, "Memory", "of %s own: %s after its first load, %s at last", who,
			     UNITS_BYTES(facts->private_begin_bytes),
			     UNITS_BYTES(facts->private_end_bytes));
	if (facts->swapped_bytes > 0)
		outline_item(o, "Swapped", "%s of the memory of the processes that load",
			     UNITS_BYTES(facts->swapped_bytes));
}

static void add_threads(const struct load_facts *facts, double time_ns, struct outline *o)
{
	struct text text = TEXT_OF(256);

	for (size_t i = 0; i < facts->thread_count && i < MOST_SHOWN; i++)
		if (facts->threads[i].cpu_ns >= WORTH_SAYING * time_ns)
			text_add(&text, "%s%s %s", *text.words ? ", " : "", facts->threads[i].name,
				 UNITS_TIME(facts->threads[i].cpu_ns));
	if (*text.words)
		outline_item(o, "Threads", "that had most CPU beside the one that trains: %s",
			     text.words);
}

void facts_outline_processes(const struct report *report, struct outline *o)
{
	const struct load_facts *facts = &report->facts;
	const bool in_main = report->series.workers == 0;

	if (facts->runnable_threads >= 0 && facts->cores_allowed > 0)
		outline_item(o, "At once",
			     "%.1f threads of %s ran or had no core; it may use %.0f core%s",
			     facts->runnable_threads, in_main ? "the training" : "a worker",
			     facts->cores_allowed, facts->cores_allowed == 1 ? "" : "s");
	add_memory(facts, in_main ? "the training's" : "a worker's", o);
	add_threads(facts, report->finding.account.time_ns, o);
}
