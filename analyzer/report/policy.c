/* SPDX-License-Identifier: Apache-2.0 */
#include "report/policy.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "line/near.h"

#define MOST_LINE 1000
#define MOST_RUNS 100

static const struct suffix {
	enum gate_unit unit;
	const char *text;
	double factor;
} SUFFIXES[] = {
	{GATE_SHARE, "%", 0.01}, {GATE_SHARE, "", 1},    {GATE_POINTS, "pp", 0.01},
	{GATE_TIME, "s", 1e9},   {GATE_TIME, "ms", 1e6}, {GATE_TIME, "us", 1e3},
	{GATE_COUNT, "", 1},
};

const char *policy_unit_words(enum gate_unit unit)
{
	static const char *const words[] = {
		[GATE_SHARE] = "a share such as 10% or 0.1",
		[GATE_POINTS] = "percentage points such as 3pp",
		[GATE_TIME] = "a time such as 250ms or 2s",
		[GATE_COUNT] = "a number",
	};

	return words[unit];
}

bool policy_value(const char *text, enum gate_unit unit, double *ret)
{
	const struct suffix *suffix;
	char *end;

	/* No sign, no "inf", no hexadecimal. */
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

/* A line that is taken apart word by word. */
struct words {
	const char *begin, *at;
	size_t line;
	struct policy_problem *problem;
};

__attribute__((format(printf, 3, 4))) static int complain(const struct words *words, const char *at,
							  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	words->problem->line = words->line;
	words->problem->column = (size_t)(at - words->begin) + 1;
	vsnprintf(words->problem->text, sizeof(words->problem->text), format, args);
	va_end(args);
	return -EINVAL;
}

/* The next word and its length; 0: end of line. */
static size_t next_word(struct words *words, const char **ret)
{
	size_t length;

	words->at += strspn(words->at, " \t\r");
	*ret = words->at;
	if (*words->at == '#')
		return 0;
	length = strcspn(words->at, " \t\r");
	words->at += length;
	return length;
}

static bool is_word(const char *word, size_t length, const char *text)
{
	return strlen(text) == length && strncmp(word, text, length) == 0;
}

static bool take_count(const char *text, size_t fewest, size_t most, size_t *ret)
{
	char *end;
	unsigned long value;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*ret = value;
	return !errno && !*end && value >= fewest && value <= most;
}

enum gate_action policy_action(const char *text)
{
	return strcmp(text, "fail") == 0   ? GATE_ACTION_FAIL
	       : strcmp(text, "warn") == 0 ? GATE_ACTION_WARN
	       : strcmp(text, "pass") == 0 ? GATE_ACTION_PASS
					   : GATE_ACTION_UNSET;
}

static int take_option(struct words *words, const char *word, size_t length, struct gate_item *line)
{
	const char *equals = memchr(word, '=', length);
	size_t name = equals ? (size_t)(equals - word) : length;
	bool is_increase = line->limit.metric == GATE_STALL_INCREASE;
	char value[40];

	if (!equals || length - name - 1 >= sizeof(value))
		return complain(words, word, "'%.*s' is not OPTION=VALUE", (int)length, word);
	snprintf(value, sizeof(value), "%.*s", (int)(length - name - 1), equals + 1);
	if (is_word(word, name, "else")) {
		line->on_inconclusive = policy_action(value);
		return line->on_inconclusive
			       ? 0
			       : complain(words, equals + 1, "else is fail, warn or pass, not '%s'",
					  value);
	}
	if (!is_word(word, name, "base") && !is_word(word, name, "rule") &&
	    !is_word(word, name, "runs"))
		return complain(words, word, "'%.*s' is none of else, base, rule, runs", (int)name,
				word);
	if (!is_increase)
		return complain(words, word, "%.*s goes with %s only", (int)name, word,
				gate_metrics[GATE_STALL_INCREASE].name);
	if (is_word(word, name, "rule")) {
		line->limit.rule = strcmp(value, "separation") == 0 ? GATE_SEPARATION : GATE_BOUND;
		return line->limit.rule == GATE_SEPARATION || strcmp(value, "bound") == 0
			       ? 0
			       : complain(words, equals + 1,
					  "rule is bound or separation, not '%s'", value);
	}
	if (is_word(word, name, "base"))
		return take_count(value, GATE_FEWEST_BASELINES, GATE_MOST_BASELINES,
				  &line->limit.baseline_needed)
			       ? 0
			       : complain(words, equals + 1, "base is a number from %d to %d",
					  GATE_FEWEST_BASELINES, GATE_MOST_BASELINES);
	return take_count(value, 1, MOST_RUNS, &line->limit.run_needed)
		       ? 0
		       : complain(words, equals + 1, "runs is a number from 1 to %d", MOST_RUNS);
}

static int refuse_metric(const struct words *words, const char *word, size_t length)
{
	struct near near = near_begin(word, length);
	char text[NEAR_WORDS];

	for (int i = 0; i < GATE_METRIC_MAX; i++)
		near_try(&near, gate_metrics[i].name);
	near_words(&near, "", text, sizeof(text));
	return complain(words, word, "'%.*s' is not a metric%s%s", (int)length, word, text,
			*text ? "" : " (see --explain gate)");
}

/* METRIC <= VALUE */
static int take_limit(struct words *words, struct gate_item *line)
{
	const char *word, *relation;
	enum gate_unit unit;
	char value[40];
	size_t length = next_word(words, &word);

	line->limit.metric = gate_metric_find(word, length);
	if (line->limit.metric == GATE_METRIC_MAX)
		return refuse_metric(words, word, length);
	unit = gate_metrics[line->limit.metric].unit;
	relation = gate_metrics[line->limit.metric].is_least ? ">=" : "<=";
	length = next_word(words, &word);
	if (!is_word(word, length, relation))
		return complain(words, word, "%s is followed by %s",
				gate_metrics[line->limit.metric].name, relation);
	length = next_word(words, &word);
	snprintf(value, sizeof(value), "%.*s", (int)length, word);
	if (!length || length >= sizeof(value) || !policy_value(value, unit, &line->limit.value))
		return complain(words, word, "'%.*s' is not %s", (int)length, word,
				policy_unit_words(unit));
	snprintf(line->text, sizeof(line->text), "%s %s %s", gate_metrics[line->limit.metric].name,
		 relation, value);
	return 0;
}

/* 1: an assertion, 0: an empty line, or -EINVAL. */
static int read_line(struct words *words, struct gate_item *ret)
{
	const char *word;
	size_t length = next_word(words, &word);
	int r;

	*ret = (struct gate_item){
		.limit = {.baseline_needed = GATE_FEWEST_BASELINES,
			  .run_needed = GATE_SEPARATE_RUNS},
		.line = words->line,
		.column = (size_t)(word - words->begin) + 1,
	};
	if (!length)
		return 0;
	ret->is_error = is_word(word, length, "error");
	if (!ret->is_error && !is_word(word, length, "warn"))
		return complain(words, word, "a line begins with error or warn, not '%.*s'",
				(int)length, word);
	r = take_limit(words, ret);
	while (r == 0 && (length = next_word(words, &word)) > 0)
		r = take_option(words, word, length, ret);
	return r < 0 ? r : 1;
}

int policy_add(struct policy *policy, const struct gate_item *line)
{
	struct gate_item *grown = reallocarray(policy->lines, policy->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	policy->lines = grown;
	policy->lines[policy->count++] = *line;
	return 0;
}

int policy_read(struct policy *policy, const char *text, struct policy_problem *problem)
{
	struct words words = {.problem = problem};
	struct gate_item line;
	char copy[MOST_LINE];
	int r;

	for (words.line = 1; *text; words.line++) {
		size_t length = strcspn(text, "\n");

		words.begin = words.at = copy;
		if (length >= sizeof(copy))
			return complain(&words, copy, "the line is too long");
		memcpy(copy, text, length);
		copy[length] = '\0';
		r = read_line(&words, &line);
		if (r == 1)
			r = policy_add(policy, &line);
		if (r < 0)
			return r;
		text += length + (text[length] == '\n');
	}
	words.begin = words.at = copy;
	return policy->count ? 0 : complain(&words, copy, "the policy asserts nothing");
}

void policy_done(struct policy *policy)
{
	free(policy->lines);
	*policy = (struct policy){0};
}
