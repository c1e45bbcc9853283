/* SPDX-License-Identifier: Apache-2.0 */
/* gate_limits.c - reads the limits from the gate's options. Without any, takes the default. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "line/near.h"
#include "report/gate/gate.h"
#include "store/database/redact.h"

static const struct suffix {
	enum gate_unit unit;
	const char *text;
	double factor;
} SUFFIXES[] = {
	{GATE_SHARE, "%", 0.01}, {GATE_SHARE, "", 1},    {GATE_POINTS, "pp", 0.01},
	{GATE_TIME, "s", 1e9},   {GATE_TIME, "ms", 1e6}, {GATE_TIME, "us", 1e3},
	{GATE_COUNT, "", 1},
};

/* Reads a number with a suffix of `unit`. Times are converted to nanoseconds. */
static bool read_value(const char *text, enum gate_unit unit, double *ret)
{
	const struct suffix *suffix;
	char *end;

	/* Refuses signs, "inf" and hexadecimal numbers, which strtod() accepts. */
	if (!isdigit((unsigned char)*text) || text[strspn(text, "0123456789.")] == 'x')
		return false;
	*ret = strtod(text, &end);
	while (*end == ' ')
		end++;
	for (suffix = SUFFIXES; suffix < SUFFIXES + ARRAY_COUNT(SUFFIXES); suffix++)
		if (suffix->unit == unit && strcmp(suffix->text, end) == 0)
			break;
	if (suffix == SUFFIXES + ARRAY_COUNT(SUFFIXES))
		return false;
	*ret *= suffix->factor;
	return isfinite(*ret) && (*ret <= 1 || (unit != GATE_SHARE && unit != GATE_POINTS));
}

static int take_value(const char *option, const char *text, enum gate_unit unit, double *ret)
{
	static const char *const words[] = {
		[GATE_SHARE] = "a share such as 10% or 0.1",
		[GATE_POINTS] = "percentage points such as 3pp",
		[GATE_TIME] = "a time such as 250ms or 2s",
		[GATE_COUNT] = "a number",
	};

	if (!text || read_value(text, unit, ret))
		return 0;
	return cmd_fail("--%s: '%s' is not %s", option, text, words[unit]);
}

static int refuse_metric(const char *option, const char *text, size_t length)
{
	struct near near = {text, length};
	char words[NEAR_WORDS];

	for (int i = 0; i < GATE_METRIC_MAX; i++)
		near_try(&near, gate_metrics[i].name);
	near_words(&near, "", words);
	return cmd_fail("--%s: '%.*s' is not a metric%s", option, (int)length, text,
			*words ? words : " (see --explain gate)");
}

static int add_limit(struct gate *gate, const struct option_limit *given)
{
	const char *option = given->is_error ? "limit" : "warn", *at = given->text, *relation;
	size_t length = strcspn(at, " <>=");
	struct gate_item *item = &gate->items[gate->item_count];
	const struct gate_metric_row *metric;
	int status;

	item->limit.metric = gate_metric_find(at, length);
	if (item->limit.metric == GATE_METRIC_MAX)
		return refuse_metric(option, at, length);
	metric = &gate_metrics[item->limit.metric];
	relation = metric->is_least ? ">=" : "<=";
	at += length + strspn(at + length, " ");
	if (strncmp(at, relation, 2) != 0)
		return cmd_fail("--%s: %s is followed by %s", option, metric->name, relation);
	at += 2 + strspn(at + 2, " ");
	status = take_value(option, at, metric->unit, &item->limit.value);
	item->is_error = given->is_error;
	snprintf(item->text, sizeof(item->text), "%s %s %s", metric->name, relation, at);
	gate->item_count++;
	return status;
}

static int add_value(struct gate *gate, enum gate_metric metric, const char *option,
		     const char *given, double value)
{
	const bool are_points = gate_metrics[metric].unit == GATE_POINTS;
	struct gate_item *item = &gate->items[gate->item_count++];
	int status = take_value(option, given, gate_metrics[metric].unit, &value);

	*item = (struct gate_item){.limit = {metric, value}, .is_error = true};
	snprintf(item->text, sizeof(item->text), "%s <= %.6g%s", gate_metrics[metric].name,
		 value * 100, are_points ? "pp" : "%");
	return status;
}

const struct gate_item *gate_find_increase(const struct gate *gate)
{
	for (size_t i = 0; i < gate->item_count; i++)
		if (gate->items[i].limit.metric == GATE_STALL_INCREASE)
			return &gate->items[i];
	return NULL;
}

int gate_read_limits(struct gate *gate)
{
	const struct options *options = gate->options;
	const bool wants_increase = options->baseline_count || options->min_effect ||
				    options->rule == GATE_SEPARATION || options->calibrate;
	int status = 0;

	gate->report.options = redact(REDACT_FILE, options->option_file);
	for (size_t i = 0; !status && i < options->limit_count; i++)
		status = add_limit(gate, &options->limits[i]);
	if (!status && gate_find_increase(gate) && options->min_effect)
		status = cmd_fail("--min-effect and a limit on stall.ratio.increase are the same; "
				  "leave one out");
	if (!status && !gate_find_increase(gate) && wants_increase)
		status = add_value(gate, GATE_STALL_INCREASE, "min-effect", options->min_effect,
				   GATE_LEAST_INCREASE);
	if (!status && (options->max_stall_ratio || !gate->item_count))
		status = add_value(gate, GATE_STALL_RATIO, "max-stall-ratio",
				   options->max_stall_ratio, GATE_DEFAULT_LIMIT);
	for (size_t i = 0; i < gate->item_count; i++)
		gate->items[i].limit.rule = options->rule;
	return status;
}
