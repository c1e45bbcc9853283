/* SPDX-License-Identifier: Apache-2.0 */
/* gate_policy.c - what the gate asserts: from the policy file and the command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/gate.h"
#include "store/redact.h"

#define MOST_POLICY (1 << 20)

static char *read_text(const char *path, int *ret_error)
{
	char *text = malloc(MOST_POLICY + 1);
	FILE *file = fopen(path, "re");
	size_t length = 0;

	*ret_error = text ? 0 : ENOMEM;
	if (!file)
		*ret_error = errno;
	else if (text) {
		errno = 0;
		length = fread(text, 1, MOST_POLICY + 1, file);
		if (ferror(file))
			*ret_error = errno ? errno : EIO;
		else if (length > MOST_POLICY)
			*ret_error = EFBIG;
		/* Assertions after a NUL would be ignored. */
		else if (memchr(text, '\0', length))
			*ret_error = EILSEQ;
	}
	if (file)
		fclose(file);
	if (*ret_error) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

/* GitHub wants it relative to the top of the repository. */
static void name_policy(struct gate *gate, const char *path)
{
	const char *top = getenv("GITHUB_WORKSPACE");
	char whole[PATH_MAX], real_top[PATH_MAX];
	size_t length;

	snprintf(gate->policy_path, sizeof(gate->policy_path), "%s", path);
	gate->report.policy = gate->policy_path;
	if (redact_is_on()) {
		gate->report.policy = redact(REDACT_FILE, path);
		return;
	}
	if (!top || !realpath(top, real_top) || !realpath(path, whole))
		return;
	length = strlen(real_top);
	if (strncmp(whole, real_top, length) == 0 && whole[length] == '/')
		snprintf(gate->policy_path, sizeof(gate->policy_path), "%s", whole + length + 1);
}

static int read_policy_file(struct gate *gate, const char *path)
{
	struct policy_problem problem;
	int error, r;
	char *text = read_text(path, &error);

	if (!text)
		return cmd_fail("cannot read '%s': %s", path,
				error == EILSEQ ? "not a text" : strerror(error));
	r = policy_read(&gate->policy, text, &problem);
	free(text);
	if (r == -EINVAL)
		return cmd_fail("%s:%zu:%zu: %s", path, problem.line, problem.column, problem.text);
	if (r < 0)
		return cmd_fail("%s", strerror(-r));
	name_policy(gate, path);
	return 0;
}

static int add_line(struct gate *gate, enum gate_metric metric, double value)
{
	static const char *const units[] = {[GATE_SHARE] = "%", [GATE_POINTS] = "pp"};
	struct gate_item line = {
		.limit = {.metric = metric,
			  .value = value,
			  .rule = gate->options->separation ? GATE_SEPARATION : GATE_BOUND,
			  .baseline_needed = GATE_FEWEST_BASELINES,
			  .run_needed = GATE_SEPARATE_RUNS},
		.is_error = true,
	};

	snprintf(line.text, sizeof(line.text), "%s <= %.6g%s", gate_metrics[metric].name,
		 value * 100, units[gate_metrics[metric].unit]);
	return policy_add(&gate->policy, &line) < 0 ? cmd_fail("%s", strerror(ENOMEM)) : 0;
}

const struct gate_item *gate_find_increase(const struct policy *policy)
{
	for (size_t i = 0; i < policy->count; i++)
		if (policy->lines[i].limit.metric == GATE_STALL_INCREASE)
			return &policy->lines[i];
	return NULL;
}

/* The policy file, then what the command line says; without either, the default. */
int gate_read_policy(struct gate *gate)
{
	const struct options *options = gate->options;
	double limit = GATE_DEFAULT_LIMIT, effect = GATE_LEAST_INCREASE;
	const struct gate_item *increase;
	bool wants_increase;
	int status = options->policy ? read_policy_file(gate, options->policy) : 0;

	if (status)
		return status;
	increase = gate_find_increase(&gate->policy);
	wants_increase = options->baseline_count || options->min_effect || options->separation ||
			 options->calibrate;
	if (options->max_stall_ratio && !policy_value(options->max_stall_ratio, GATE_SHARE, &limit))
		return cmd_fail("--max-stall-ratio: '%s' is not %s", options->max_stall_ratio,
				policy_unit_words(GATE_SHARE));
	if (options->min_effect && !policy_value(options->min_effect, GATE_POINTS, &effect))
		return cmd_fail("--min-effect: '%s' is not %s", options->min_effect,
				policy_unit_words(GATE_POINTS));
	if (increase && (options->min_effect || options->separation))
		return cmd_fail("%s:%zu:%zu: the policy sets the increase and its rule already; "
				"leave out --min-effect and --rule",
				options->policy, increase->line, increase->column);
	if (!increase && wants_increase)
		status = add_line(gate, GATE_STALL_INCREASE, effect);
	if (!status && (options->max_stall_ratio || !gate->policy.count))
		status = add_line(gate, GATE_STALL_RATIO, limit);
	return status;
}
