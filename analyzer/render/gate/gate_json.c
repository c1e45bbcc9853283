/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_json.c - the gate as `dlprof.gate/2`. Keys are added, never removed and never given another
 * meaning. Shares and increases are 0-1, times seconds, null is what is not known.
 */
#include <string.h>

#include "render/form/jsonw.h"
#include "render/gate/gate.h"

static const char *const RULES[] = {[GATE_BOUND] = "bound", [GATE_SEPARATION] = "separation"};

static double in_base_units(enum gate_metric metric, double value)
{
	return gate_metrics[metric].unit == GATE_TIME ? value / NS_PER_S : value;
}

static void add_run(struct jsonw *json, const struct gate_run *run, bool is_baseline)
{
	const struct gate_sample *sample = &run->sample;

	jsonw_open(json, NULL, '{');
	jsonw_string(json, "path", run->name);
	jsonw_string(json, "id", run->info.id);
	jsonw_int(json, "rank", run->info.rank);
	jsonw_string(json, "host", run->info.host);
	jsonw_ns(json, "start_unix_s", run->info.start_unix_ns);
	jsonw_number(json, "stall_ratio", sample->value[GATE_STALL_RATIO]);
	jsonw_number(json, "stall_ratio_low99", sample->low99);
	jsonw_number(json, "stall_ratio_error", sample->error);
	jsonw_number(json, "batches", sample->value[GATE_BATCHES]);
	jsonw_int(json, "batches_needed", (int64_t)sample->needed_count);
	jsonw_number(json, "lost_share", sample->value[GATE_LOST_SHARE]);
	jsonw_number(json, "load_mean_s", sample->load_ns / NS_PER_S);
	jsonw_number(json, "compute_mean_s", sample->compute_ns / NS_PER_S);
	jsonw_number(json, "collectives_alone_share", sample->value[GATE_COLLECTIVES_ALONE]);
	jsonw_string(json, "cause", cause_names[sample->cause]);
	jsonw_string(json, "unfit", gate_unfit_ids[sample->unfit]);
	if (is_baseline) {
		jsonw_bool(json, "used", run->used);
		jsonw_string(json, "refused", *run->refused ? run->refused : NULL);
	}
	jsonw_close(json, '}');
}

static void add_runs(struct jsonw *json, const char *key, const struct gate_run *runs, size_t count,
		     bool are_baselines)
{
	jsonw_open(json, key, '[');
	for (size_t i = 0; i < count; i++)
		add_run(json, &runs[i], are_baselines);
	jsonw_close(json, ']');
}

static void add_item(struct jsonw *json, const struct gate_report *report,
		     const struct gate_item *item)
{
	const struct gate_result *result = &item->result;
	enum gate_metric metric = item->limit.metric;
	char text[GATE_WORDS];

	jsonw_open(json, NULL, '{');
	jsonw_string(json, "level", item->is_error ? "error" : "warn");
	jsonw_string(json, "assertion", item->text);
	jsonw_string(json, "metric", gate_metrics[metric].name);
	jsonw_string(json, "relation", gate_metrics[metric].is_least ? ">=" : "<=");
	jsonw_number(json, "limit", in_base_units(metric, item->limit.value));
	jsonw_string(json, "outcome", gate_outcome_ids[result->outcome]);
	jsonw_number(json, "found", in_base_units(metric, result->found));
	/* For a limit, the value compared with it; for an increase, the most that is allowed. */
	jsonw_number(json, "edge", in_base_units(metric, result->edge));
	jsonw_string(json, "reason_id", gate_why_ids[result->why]);
	gate_reason_words(report, item, text);
	jsonw_string(json, "reason", *text ? text : NULL);
	jsonw_string(json, "run",
		     result->run < report->run_count ? report->runs[result->run].name : NULL);
	jsonw_null(json, "line"); /* formerly a line of a policy */
	jsonw_null(json, "column");
	if (metric == GATE_STALL_INCREASE) {
		jsonw_string(json, "rule", RULES[item->limit.rule]);
		jsonw_int(json, "baselines", (int64_t)result->baseline_count);
		jsonw_int(json, "baselines_needed", GATE_FEWEST_BASELINES);
		jsonw_number(json, "baseline_mean", result->before);
		jsonw_number(json, "baseline_sd", result->spread);
	}
	jsonw_close(json, '}');
}

static void add_state(struct jsonw *json, const char *key, const struct gate_sample *sample)
{
	static const char *const keys[GATE_PART_MAX] = {
		[GATE_PART_OPEN] = "open_s",     [GATE_PART_READ] = "read_s",
		[GATE_PART_DECODE] = "decode_s", [GATE_PART_COLLATE] = "collate_s",
		[GATE_PART_OWN] = "other_cpu_s", [GATE_PART_BLOCKED] = "other_blocked_s",
	};

	jsonw_open(json, key, '{');
	jsonw_string(json, "cause", cause_names[sample->cause]);
	jsonw_number(json, "wait_s", sample->wait_ns / NS_PER_S);
	jsonw_number(json, "compute_s", sample->compute_ns / NS_PER_S);
	jsonw_number(json, "load_s", sample->load_ns / NS_PER_S);
	for (int i = 0; i < GATE_PART_MAX; i++)
		jsonw_number(json, keys[i], sample->part_ns[i] / NS_PER_S);
	jsonw_close(json, '}');
}

/* Writes the means of a batch, before and now. */
static void add_change(struct jsonw *json, const struct gate_report *report)
{
	static const char *const suspects[] = {
		[GATE_SUSPECT_LOAD] = "load",
		[GATE_SUSPECT_COMPUTE] = "compute",
		[GATE_SUSPECT_OTHER] = "other",
	};

	if (!report->has_change) {
		jsonw_null(json, "change");
		return;
	}
	jsonw_open(json, "change", '{');
	jsonw_string(json, "suspect", suspects[report->change.suspect]);
	add_state(json, "before", &report->change.before);
	add_state(json, "now", &report->change.now);
	jsonw_close(json, '}');
}

void gate_json(const struct gate_report *report, FILE *out)
{
	struct jsonw json;
	char why[GATE_WORDS];

	jsonw_begin(&json, out, "dlprof.gate/2");
	jsonw_string(&json, "outcome", gate_outcome_ids[report->outcome]);
	jsonw_int(&json, "exit_status", report->status);
	jsonw_string(&json, "why", gate_why_words(report, why));
	jsonw_string(&json, "policy", report->options);
	jsonw_open(&json, "assertions", '[');
	for (size_t i = 0; i < report->item_count; i++)
		add_item(&json, report, &report->items[i]);
	jsonw_close(&json, ']');
	add_change(&json, report);
	add_runs(&json, "runs", report->runs, report->run_count, false);
	add_runs(&json, "baselines", report->baselines, report->baseline_count, true);
	jsonw_null(&json, "calibration");
	jsonw_close(&json, '}');
}

void gate_calibration_json(const struct gate_limit *limit,
			   const struct gate_calibration *calibration, FILE *out)
{
	struct jsonw json;

	jsonw_begin(&json, out, "dlprof.gate/2");
	jsonw_open(&json, "calibration", '{');
	jsonw_string(&json, "rule", RULES[limit->rule]);
	jsonw_number(&json, "min_effect", limit->value);
	jsonw_int(&json, "runs", (int64_t)calibration->run_count);
	jsonw_int(&json, "baselines", GATE_FEWEST_BASELINES);
	jsonw_int(&json, "gates", (int64_t)calibration->draw_count);
	jsonw_int(&json, "false_alarms", (int64_t)calibration->alarm_count);
	jsonw_number(&json, "false_alarm_rate",
		     (double)calibration->alarm_count / (double)calibration->draw_count);
	jsonw_int(&json, "runs_that_failed", (int64_t)calibration->alarm_run_count);
	jsonw_number(&json, "detectable50", calibration->detect50);
	jsonw_number(&json, "detectable95", calibration->detect95);
	jsonw_close(&json, '}');
	jsonw_close(&json, '}');
}
