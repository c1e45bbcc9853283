/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/options.h"

#define MOST 12

static struct options options;

/* Parses a command line without its program's name, such as "batches --json x.db". */
static int parse(const char *line)
{
	static char copy[200];
	static char *argv[MOST + 1]; /* static, since options.runs points into it */
	char *word, *state;
	int argc = 1;

	memset(argv, 0, sizeof(argv));
	argv[0] = "dlprof-report";

	snprintf(copy, sizeof(copy), "%s", line);
	for (word = strtok_r(copy, " ", &state); word && argc < MOST;
	     word = strtok_r(NULL, " ", &state))
		argv[argc++] = word;
	return options_parse(&options, argc, argv);
}

static void refused(const char *line, const char *why)
{
	cr_assert_eq(parse(line), -EINVAL, "%s", line);
	cr_assert_not_null(strstr(options.line.problem, why), "%s: %s", line, options.line.problem);
}

Test(options, defaults)
{
	cr_assert_eq(parse("x.db"), 0);
	cr_assert_eq(options.verb, VERB_REPORT);
	cr_assert_str_eq(options.run, "x.db");
	cr_assert_null(options.output);
	cr_assert_eq(options.color, TERMINAL_AUTO);
	cr_assert_eq(options.epoch, -1);
	cr_assert_eq(options.first, -1);
	cr_assert_eq(options.last, -1);
}

Test(options, stand_anywhere)
{
	cr_assert_eq(parse("--csv batches -o y --epoch 2 x.db -fq --color never --loader=3"), 0);
	cr_assert_eq(options.verb, VERB_BATCHES);
	cr_assert(options.csv && options.force && options.quiet);
	cr_assert_str_eq(options.output, "y");
	cr_assert_eq(options.epoch, 2);
	cr_assert_eq(options.loader, 3);
	cr_assert_eq(options.color, TERMINAL_NEVER);
	cr_assert_eq(parse("-o - x.db"), 0);
	cr_assert_null(options.output);
	cr_assert_eq(parse("x.db --json y.db -q"), 0);
	cr_assert(options.verb == VERB_REPORT && options.run_count == 2 && options.json);
	cr_assert_str_eq(options.runs[1], "y.db");
	cr_assert_eq(parse("-o compare --json compare a.db -q b.db"), 0);
	cr_assert(options.verb == VERB_COMPARE && options.run_count == 2 && options.quiet);
	cr_assert_str_eq(options.output, "compare");
	cr_assert_eq(parse("--json -- -x.db -q"), 0);
	cr_assert(options.run_count == 2 && !options.quiet);
	cr_assert_str_eq(options.run, "-x.db");
}

Test(options, ranges)
{
	cr_assert_eq(parse("--batches 3:9 x.db"), 0);
	cr_assert(options.first == 3 && options.last == 9);
	cr_assert_eq(parse("--batches 3: x.db"), 0);
	cr_assert(options.first == 3 && options.last == -1);
	cr_assert_eq(parse("--batches :9 x.db"), 0);
	cr_assert(options.first == -1 && options.last == 9);
	cr_assert_eq(parse("--batches 4 x.db"), 0);
	cr_assert(options.first == 4 && options.last == 4);
	refused("--batches 9:3 x.db", "is not A:B");
	refused("--batches a:b x.db", "is not A:B");
	refused("--batches -1:3 x.db", "is not A:B");
	refused("--batches 99999999999999999999 x.db", "is not A:B");
}

Test(options, import_and_explain)
{
	cr_assert_eq(parse("import - -o x.db --meta a=1 --meta=b=2"), 0);
	cr_assert_eq(options.verb, VERB_IMPORT);
	cr_assert_str_eq(options.run, "-");
	cr_assert_eq(options.meta_count, 2);
	cr_assert_str_eq(options.meta[1], "b=2");
	cr_assert_eq(parse("--explain eta"), 0);
	cr_assert_str_eq(options.explain, "eta");
	refused("import", "SERIES.csv");
	refused("import x.csv --json -o y", "--json does not go with dlprof-report import; it goes "
					    "with: dlprof-report, dlprof-report batches");
	refused("x.db --meta a=1",
		"--meta does not go with dlprof-report; it goes with: dlprof-report import");
	refused("-", "standard input");
	refused("import x --meta a", "is not KEY=VALUE");
}

/* Verbs that read one run take the newest run if none is named. */
Test(options, a_run_need_not_be_named)
{
	static const char *const lines[] = {"", "batches --csv", "top", "-q"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		cr_assert_eq(parse(lines[i]), 0, "%s", lines[i]);
		cr_assert_eq(options.run_count, 0, "%s", lines[i]);
		cr_assert_null(options.run);
	}
	refused("gate", "something is missing");
	refused("html -o x.html", "something is missing");
	refused("trace -o x.json", "something is missing");
	refused("export -o x", "something is missing");
}

Test(options, settings_to_predict)
{
	const struct whatif_wish *wish = options.wishes;

	cr_assert_eq(parse("x.db --what-if workers=16,prefetch_factor=4 --what-if "
			   "in_order=False,load=0.5"), 0);
	cr_assert_eq(options.wish_count, 2);
	cr_assert_str_eq(wish[0].text, "workers=16,prefetch_factor=4");
	cr_assert(wish[0].workers == 16 && wish[0].prefetch_factor == 4);
	cr_assert(wish[0].in_order == -1 && isnan(wish[0].load_factor));
	cr_assert(wish[1].workers == -1 && wish[1].in_order == 0 && wish[1].load_factor == 0.5);
	cr_assert_eq(parse("x.db --what-if in_order=true,workers=0,load=0"), 0);
	cr_assert(wish[0].in_order == 1 && wish[0].workers == 0 && wish[0].load_factor == 0);
	refused("x.db --what-if workers", "'workers' is not workers=N");
	refused("x.db --what-if workers=", "'workers=' is not workers=N");
	refused("x.db --what-if workers=-1", "is not workers=N");
	refused("x.db --what-if workers=1025", "is not workers=N");
	refused("x.db --what-if workers=2x", "is not workers=N");
	refused("x.db --what-if prefetch_factor=0", "is not prefetch_factor=N");
	refused("x.db --what-if in_order=maybe", "is not in_order=true|false");
	refused("x.db --what-if load=nan", "is not load=FACTOR");
	refused("x.db --what-if load=1e9", "is not load=FACTOR");
	refused("batches x.db --what-if workers=2", "does not go with dlprof-report batches");
}

Test(options, settings_that_there_are_not_name_those_that_there_are)
{
	static const char keys[] = "workers=N, prefetch_factor=N, in_order=true|false, "
		  "persistent=true|false, load=FACTOR";

	refused("x.db --what-if worker=8",
		"--what-if: 'worker' is not one of its settings; did you mean workers?");
	refused("x.db --what-if worker=8", keys);
	refused("x.db --what-if bandwidth=8", keys);
	refused("x.db --what-if workers=2,", keys);
	refused("x.db --what-if ,workers=2", keys);
}

Test(options, what_was_mistyped_is_named)
{
	refused("compre a.db b.db", "neither a verb nor a file; did you mean compare?");
	refused("--jsn x.db", "unknown option --jsn; did you mean --json?");
	refused("--what-fi=workers=8 x.db", "unknown option --what-fi; did you mean --what-if?");
	refused("gate x.db --max_stall_ratio 3%", "did you mean --max-stall-ratio?");
	refused("--json=3 x.db", "--json takes no argument");
	cr_assert_eq(parse("--zzzz x.db"), -EINVAL);
	cr_assert_null(strstr(options.line.problem, "mean"));
}

Test(options, refusals_say_why)
{
	refused("compare a.db", "something is missing: dlprof-report compare A.db B.db");
	refused("frobnicate", "neither a verb nor a file");
	refused("batches a.db b.db", "one too many");
	refused("--wrong x.db", "unknown option --wrong");
	refused("-z x.db", "unknown option -z");
	refused("x.db --epoch", "needs an argument");
	refused("x.db --epoch two", "is not a whole number");
	refused("x.db --epoch 2x", "is not a whole number");
	refused("x.db --color blue", "is not auto|always|never");
	refused("--csv x.db", "--csv does not go with dlprof-report;");
	refused("--explain eta --wrong", "unknown option --wrong");
	refused("batches --csv --json x.db", "not both");
	refused("--json=3 x.db", "takes no argument");
}

/* All words from --baseline up to the next option are baselines, before or after the runs. */
Test(options, gate_takes_lists_of_baselines)
{
	cr_assert_eq(parse("gate a.db b.db --baseline x y z --why"), 0);
	cr_assert_eq(options.verb, VERB_GATE);
	cr_assert_eq(options.run_count, 2);
	cr_assert_str_eq(options.runs[1], "b.db");
	cr_assert_eq(options.baseline_count, 3);
	cr_assert_str_eq(options.baselines[2], "z");
	cr_assert(options.why && !options.calibrate && options.rule == GATE_BOUND);
	cr_assert_eq(parse("gate --baseline=x y --rule separation a.db --baseline z"), 0);
	cr_assert_eq(options.baseline_count, 3);
	cr_assert_eq(options.run_count, 1);
	cr_assert_eq(options.rule, GATE_SEPARATION);
	cr_assert_eq(parse("gate --baseline x -- a.db"), 0);
	cr_assert_str_eq(options.run, "a.db");
	refused("gate --baseline x a.db", "something is missing: dlprof-report gate RUN.db");
	refused("gate", "something is missing");
	refused("gate a.db --rule other", "is not bound|separation");
	refused("gate a.db --on-inconclusive ignore", "is not fail|warn|pass");
	refused("gate a.db --update-baseline", "needs --baseline DIR");
	refused("gate a.db --loader 1 --max-stall-ratio 10%",
		"--loader does not go with dlprof-report gate; it goes with: dlprof-report, ");
	refused("a.db --baseline x", "--baseline does not go with dlprof-report;");
	refused("gate a.db --csv", "--csv does not go with");
}

Test(options, help_and_version_need_no_run)
{
	cr_assert_eq(parse("--help"), 0);
	cr_assert(options.line.help);
	cr_assert_eq(parse("batches --version"), 0);
	cr_assert(options.line.version);
}

/* Every option is in the help of each verb that it goes with, and no line is too long. */
Test(options, help_is_narrow_and_complete)
{
	char *text, *line, name[40];
	size_t size, i;
	int verb;

	for (verb = -1; verb < VERB_MAX; verb++) {
		FILE *out = open_memstream(&text, &size);

		line_help(&options_program, verb, out);
		fclose(out);
		for (i = 0; i < options_program.option_count; i++) {
			const struct line_option *row = &options_program.options[i];

			snprintf(name, sizeof(name), "--%s ", row->name);
			if (verb >= 0)
				cr_assert_eq(!strstr(text, name), !(row->verbs & LINE_ON(verb)),
					     "%d: %s", verb, name);
		}
		cr_assert_not_null(strstr(text, "-o, --output FILE"));
		for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			cr_assert(strlen(line) <= 80, "%s", line);
		free(text);
	}
}

/* Beyond the most that there is room for, an option is refused: a gate must not forget a limit. */
Test(options, too_many_of_one_are_refused)
{
	static char *argv[2 * OPTIONS_MOST_LIMITS + 5] = {"dlprof-report", "gate", "x.db"};
	int argc = 3;

	for (int i = 0; i < OPTIONS_MOST_LIMITS; i++) {
		argv[argc++] = "--limit";
		argv[argc++] = "stall<=10%";
	}
	cr_assert_eq(options_parse(&options, argc, argv), 0, "%s", options.line.problem);
	cr_expect_eq(options.limit_count, OPTIONS_MOST_LIMITS);
	argv[argc++] = "--limit";
	argv[argc++] = "stall<=10%";
	cr_expect_eq(options_parse(&options, argc, argv), -EINVAL);
}
