/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/policy.h"

static struct policy policy;
static struct policy_problem problem;

static void accepted(const char *text, size_t count)
{
	policy_done(&policy);
	cr_assert_eq(policy_read(&policy, text, &problem), 0, "%s: %s", text, problem.text);
	cr_assert_eq(policy.count, count, "%s", text);
}

static void refused(const char *text, size_t line, size_t column, const char *why)
{
	policy_done(&policy);
	cr_assert_eq(policy_read(&policy, text, &problem), -EINVAL, "%s", text);
	cr_assert_not_null(strstr(problem.text, why), "%s: %s", text, problem.text);
	cr_assert(problem.line == line && problem.column == column, "%s: %zu:%zu", text,
		  problem.line, problem.column);
}

Test(policy, every_metric_and_unit)
{
	accepted("# comment\n\n"
		 "error stall.ratio <= 10%   # MLPerf\r\n"
		 "  warn\tstall.ratio.increase <= 2.5pp rule=separation base=8 runs=2 else=warn\n"
		 "warn stall.wait_p99 <= 250ms\nwarn stall.wait_p50 <= 0.5s\n"
		 "warn workers.load_mean <= 900us else=pass\n"
		 "error stall.batches >= 500\nerror stall.steady_batches >= 300\n"
		 "error loss.share <= 0.001\nerror stall.trimmed_ratio <= 1\n"
		 "error stall.receiving <= 5%\nerror stall.epoch_start <= 5% else=fail\n"
		 "error stall.not_ready <= 5%\nerror stall.epoch_end <= 5%\n"
		 "error gpu.collectives_alone_share <= 5%",
		 14);
	cr_assert(policy.lines[0].is_error);
	cr_assert_eq(policy.lines[0].limit.metric, GATE_STALL_RATIO);
	cr_assert_float_eq(policy.lines[0].limit.value, .1, 1e-12);
	cr_assert_str_eq(policy.lines[0].text, "stall.ratio <= 10%");
	cr_assert(policy.lines[0].line == 3 && policy.lines[0].column == 1);
	cr_assert_eq(policy.lines[0].on_inconclusive, GATE_ACTION_UNSET);
	cr_assert(!policy.lines[1].is_error);
	cr_assert_float_eq(policy.lines[1].limit.value, .025, 1e-12);
	cr_assert_eq(policy.lines[1].limit.rule, GATE_SEPARATION);
	cr_assert_eq(policy.lines[1].limit.baseline_needed, 8);
	cr_assert_eq(policy.lines[1].limit.run_needed, 2);
	cr_assert_eq(policy.lines[1].on_inconclusive, GATE_ACTION_WARN);
	cr_assert_eq(policy.lines[1].column, 3);
	cr_assert_float_eq(policy.lines[2].limit.value, 250e6, 1);
	cr_assert_float_eq(policy.lines[3].limit.value, 5e8, 1);
	cr_assert_float_eq(policy.lines[4].limit.value, 9e5, 1);
	cr_assert_eq(policy.lines[4].on_inconclusive, GATE_ACTION_PASS);
	cr_assert_eq(policy.lines[5].limit.value, 500);
	cr_assert_eq(policy.lines[10].on_inconclusive, GATE_ACTION_FAIL);
	policy_done(&policy);
}

Test(policy, says_where_and_why)
{
	refused("", 1, 1, "asserts nothing");
	refused("# error stall.ratio <= 10%\n", 2, 1, "asserts nothing");
	refused("fail stall.ratio <= 10%", 1, 1, "begins with error or warn, not 'fail'");
	refused("\n  error stall.rati <= 10%", 2, 9, "'stall.rati' is not a metric");
	refused("error", 1, 6, "is not a metric");
	refused("error stall.ratio < 10%", 1, 19, "stall.ratio is followed by <=");
	refused("error stall.ratio >= 10%", 1, 19, "followed by <=");
	refused("error stall.batches <= 5", 1, 21, "followed by >=");
	refused("error stall.ratio<=10%", 1, 7, "is not a metric");
	refused("error stall.ratio <= 10pp", 1, 22, "'10pp' is not a share");
	refused("error stall.ratio <= 110%", 1, 22, "is not a share");
	refused("error stall.ratio <= -1%", 1, 22, "is not a share");
	refused("error stall.ratio <= nan", 1, 22, "is not a share");
	refused("error stall.ratio <= 0x1", 1, 22, "is not a share");
	refused("error stall.ratio <=", 1, 21, "is not a share");
	refused("error stall.ratio <= # 10%", 1, 22, "is not a share");
	refused("error stall.ratio.increase <= 3%", 1, 31, "is not percentage points");
	refused("error stall.wait_p99 <= 5", 1, 25, "is not a time");
	refused("error stall.batches >= 5e999", 1, 24, "is not a number");
	refused("error stall.ratio <= 10% else=maybe", 1, 31, "else is fail, warn or pass");
	refused("error stall.ratio <= 10% whatever", 1, 26, "not OPTION=VALUE");
	refused("error stall.ratio <= 10% p=0.1", 1, 26, "'p' is none of");
	refused("error stall.ratio <= 10% base=6", 1, 26,
		"base goes with stall.ratio.increase only");
	refused("error stall.ratio.increase <= 3pp base=4", 1, 40, "from 5 to");
	refused("error stall.ratio.increase <= 3pp base=5x", 1, 40, "from 5 to");
	refused("error stall.ratio.increase <= 3pp rule=t", 1, 40, "bound or separation");
	refused("error stall.ratio.increase <= 3pp runs=0", 1, 40, "from 1 to");
}

Test(policy, long_lines)
{
	char text[3000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	refused(text, 1, 1, "too long");
	text[500] = '\0';
	refused(text, 1, 1, "begins with error or warn");
}
