/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c - facts about loads beside their times: waits, batches, processes. */
#include <math.h>
#include <string.h>

#include "render/form/page.h"
#include "render/form/units.h"
#include "render/run/parts.h"
#include "render/run/report.h"
#include "store/run/facts.h"

#define WORTH_SAYING 0.005 /* share of the loads' time that is shown as 1 % or more */
#define MOST_SHOWN   4

/* The share of a sum of waits, which may include loads that were never handed out. */
static double share_of(const struct load_facts *facts, double ns)
{
	const double share = ns / facts->load_ns;

	return facts->load_ns > 0 && !isnan(share) ? fmin(share, 1) : NAN;
}

static void add_waits(const struct load_facts *facts, struct outline *o)
{
	char text[256] = "";

	for (int kind = 0; kind < LOAD_WAIT_MAX; kind++) {
		const double share = share_of(facts, facts->wait_ns[kind]);

		if (share >= WORTH_SAYING)
			page_append(text, sizeof(text), "%s%s %s", *text ? ", " : "",
				    load_wait_name((enum load_wait_kind)kind), UNITS_SHARE(share));
	}
	if (share_of(facts, facts->no_core_ns) >= WORTH_SAYING)
		page_append(text, sizeof(text), "%sno core %s", *text ? ", " : "",
			    UNITS_SHARE(share_of(facts, facts->no_core_ns)));
	if (*text)
		outline_item(o, "Blocked", "%s of the time of all loads", text);
	for (size_t i = 0; i < facts->peer_count && i < MOST_SHOWN; i++) {
		const struct load_peer *peer = &facts->peers[i];
		const double share = share_of(facts, peer->ns);

		/* A name that is just the kind, as "pipe", adds nothing. */
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
	if (isnan(facts->tensors))
		return;
	outline_item(o, "Batch", "%.4g tensor%s%s%s", facts->tensors,
		     facts->tensors == 1 ? "" : "s", isnan(facts->batch_bytes) ? "" : ", ",
		     isnan(facts->batch_bytes) ? "" : UNITS_BYTES(facts->batch_bytes));
	if (facts->read_per_byte > 0)
		outline_item(o, "Read", "%.3g bytes for each byte of a batch",
			     facts->read_per_byte);
	if (facts->inflated_per_byte > 0)
		outline_item(o, "Unpacked", "%.3g bytes for each byte of a batch",
			     facts->inflated_per_byte);
}

void facts_outline_load(const struct report *report, struct outline *o)
{
	outline_items(o, "life");
	add_waits(&report->facts, o);
	add_batch(&report->facts, o);
}

static void add_memory(const struct load_facts *facts, const char *who, struct outline *o)
{
	if (facts->private_end_bytes >= 0 && facts->private_begin_bytes >= 0) {
		char begin[UNITS_MAX];

		snprintf(begin, sizeof(begin), "%s", UNITS_BYTES(facts->private_begin_bytes));
		outline_item(o, "Memory", "of %s own: %s after its first load, %s at last", who,
			     begin, UNITS_BYTES(facts->private_end_bytes));
	}
	if (facts->swapped_bytes > 0)
		outline_item(o, "Swapped", "%s of the memory of the processes that load",
			     UNITS_BYTES(facts->swapped_bytes));
}

static void add_threads(const struct load_facts *facts, struct outline *o)
{
	char text[256] = "";

	for (size_t i = 0; i < facts->thread_count && i < MOST_SHOWN; i++)
		page_append(text, sizeof(text), "%s%s %s", i ? ", " : "", facts->threads[i].name,
			    UNITS_TIME(facts->threads[i].cpu_ns));
	if (*text)
		outline_item(o, "Threads", "that had most CPU beside the one that trains: %s",
			     text);
}

void facts_outline_processes(const struct report *report, struct outline *o)
{
	const struct load_facts *facts = &report->facts;
	const bool in_main = report->series.workers == 0;

	if (facts->runnable_threads >= 0 && facts->cores_allowed > 0)
		outline_item(o, "At once",
			     "%.3g threads of %s ran or had no core; it may use %.0f core%s",
			     facts->runnable_threads, in_main ? "the training" : "a worker",
			     facts->cores_allowed, facts->cores_allowed == 1 ? "" : "s");
	add_memory(facts, in_main ? "the training's" : "a worker's", o);
	add_threads(facts, o);
}

static void add_peers(const struct load_facts *facts, struct jsonw *json)
{
	jsonw_open(json, "peers", '[');
	for (size_t i = 0; i < facts->peer_count; i++) {
		const struct load_peer *peer = &facts->peers[i];

		jsonw_open(json, NULL, '{');
		jsonw_string(json, "kind", load_wait_name(peer->kind));
		jsonw_string(json, "name", peer->name);
		jsonw_seconds(json, "s", peer->ns);
		jsonw_int(json, "bytes", (int64_t)peer->bytes);
		jsonw_int(json, "count", (int64_t)peer->count);
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
}

void facts_json_load(const struct report *report, struct jsonw *json)
{
	const struct load_facts *facts = &report->facts;
	const struct load_totals *totals = &report->totals;
	const struct grounds_growth *growth = &report->diagnosis.grounds.growth;
	const double load_ns = query_known(totals->load_ns);
	char key[32];

	jsonw_open(json, "load", '{');
	jsonw_seconds(json, "mean_s", report_load_mean(report, totals->load_ns));
	jsonw_number(json, "cpu_share",
		     load_ns > 0 ? query_known(totals->cpu_ns) / load_ns : NAN);
	jsonw_number(json, "storage_share",
		     load_ns > 0 ? (query_known(totals->open_ns) + query_known(totals->read_ns)) /
					   load_ns
				 : NAN);
	for (int kind = 0; kind < LOAD_WAIT_MAX; kind++) {
		snprintf(key, sizeof(key), "%s_share", load_wait_name((enum load_wait_kind)kind));
		jsonw_number(json, key, share_of(facts, facts->wait_ns[kind]));
	}
	jsonw_number(json, "no_core_share", share_of(facts, facts->no_core_ns));
	add_peers(facts, json);
	jsonw_number(json, "tensors", facts->tensors);
	jsonw_number(json, "batch_bytes", facts->batch_bytes);
	jsonw_number(json, "read_per_byte", facts->read_per_byte);
	jsonw_number(json, "inflated_per_byte", facts->inflated_per_byte);
	jsonw_number(json, "opens_per_sample", facts->opens_per_sample);
	inside_json_load(&report->inside, json);
	jsonw_number(json, "trend", growth->last_ns / growth->first_ns);
	jsonw_close(json, '}');
}

void facts_json_processes(const struct report *report, struct jsonw *json)
{
	const struct load_facts *facts = &report->facts;

	jsonw_open(json, "memory", '{');
	jsonw_number(json, "private_begin_bytes", facts->private_begin_bytes);
	jsonw_number(json, "private_end_bytes", facts->private_end_bytes);
	jsonw_number(json, "major_faults", facts->major_faults);
	jsonw_number(json, "swapped_bytes", facts->swapped_bytes);
	jsonw_close(json, '}');
	jsonw_open(json, "threads", '[');
	for (size_t i = 0; i < facts->thread_count; i++) {
		jsonw_open(json, NULL, '{');
		jsonw_string(json, "name", facts->threads[i].name);
		jsonw_seconds(json, "cpu_s", facts->threads[i].cpu_ns);
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
	jsonw_seconds(json, "main_thread_cpu_s", facts->main_cpu_ns);
}
