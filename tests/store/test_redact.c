/* SPDX-License-Identifier: Apache-2.0 */
/* With --redact no name of a file, host or job is printed, and equal names become equal words. */
#include <criterion/criterion.h>

#include "store/database/redact.h"

TestSuite(redact, .init = redact_begin);

static void expect(enum redact_kind kind, const char *text, const char *printed)
{
	cr_expect_str_eq(redact(kind, text), printed, "%s: %s", text, redact(kind, text));
}

Test(redact, nothing_and_words_of_ours_are_printed_as_they_are)
{
	cr_expect(redact_is_on());
	cr_expect_null(redact(REDACT_FILE, NULL));
	expect(REDACT_FILE, "", "");
	expect(REDACT_NOT, "/a/b", "/a/b");
}

Test(redact, equal_names_get_equal_words)
{
	expect(REDACT_FILE, "/data/a", "file-1");
	expect(REDACT_FILE, "/data/b", "file-2");
	expect(REDACT_FILE, "/data/a", "file-1");
	expect(REDACT_FOLDER, "/data/a", "folder-1");
	expect(REDACT_RUN, "/data/a", "run-1");
	expect(REDACT_HOST, "node7", "host-1");
	expect(REDACT_MARK, "epoch of Eve", "mark-1");
	expect(REDACT_ARGUMENTS, "--key=1", "arguments-1");
}

Test(redact, numbers_are_no_names)
{
	expect(REDACT_JOB, "12345", "12345");
	expect(REDACT_JOB, "12345.batch", "job-1");
	expect(REDACT_OTHER, "-1.5", "-1.5");
	expect(REDACT_OTHER, "x1", "value-1");
}

Test(redact, peers_are_paths_or_addresses_or_words_of_ours)
{
	expect(REDACT_PEER, "/run/data.sock", "file-1");
	expect(REDACT_PEER, "@abstract", "file-2");
	expect(REDACT_PEER, "10.0.0.7:443", "host-1");
	expect(REDACT_PEER, "pipe", "pipe");
}

Test(redact, a_command_keeps_the_name_of_its_program)
{
	expect(REDACT_COMMAND, "/usr/bin/python3 train.py --key 1", "python3 arguments-1");
	expect(REDACT_COMMAND, "python3", "python3");
	expect(REDACT_COMMAND, "/usr/bin/python3", "python3");
	expect(REDACT_COMMAND, "/usr/bin/python3 train.py --key 1", "python3 arguments-1");
}

Test(redact, a_place_keeps_its_line)
{
	expect(REDACT_PLACE, "/home/eve/train.py:41 in main", "file-1:41 in main");
	expect(REDACT_PLACE, "/home/eve/train.py:7 in main", "file-1:7 in main");
	expect(REDACT_PLACE, "train.py", "file-2");
}

Test(redact, a_call_keeps_its_name)
{
	expect(REDACT_CALL, "read /home/eve/a file", "read file-1");
	expect(REDACT_CALL, "open  /b", "open file-2");
	expect(REDACT_CALL, "read", "read");
	expect(REDACT_CALL, "/home/eve/a file", "file-1");
}

Test(redact, in_a_text_paths_are_hidden_to_the_end_of_the_line)
{
	expect(REDACT_TEXT, "nothing to hide", "nothing to hide");
	expect(REDACT_TEXT, "cannot open /home/eve/my data: no such file\nand on",
	       "cannot open file-1\nand on");
	expect(REDACT_TEXT, "in ~eve", "in file-2");
	expect(REDACT_TEXT, "C:\\data\\x", "file-3");
	expect(REDACT_TEXT, "a word/word", "a file-4");
}

Test(redact, in_a_text_what_is_quoted_is_hidden)
{
	expect(REDACT_TEXT, "the key 'secret' of \"/a/b\"", "the key 'value-1' of 'file-1'");
	expect(REDACT_TEXT, "the key \"secret\"", "the key 'value-1'");
	expect(REDACT_TEXT, "Eve's loader isn't one", "Eve's loader isn't one");
	expect(REDACT_TEXT, "an 'open quote", "an 'open quote");
	expect(REDACT_TEXT, "two\n'lines\nof it'", "two\n'lines\nof it'");
}

Test(redact, in_a_text_hosts_that_are_known_are_hidden)
{
	expect(REDACT_TEXT, "rank 3 on node7", "rank 3 on node7");
	expect(REDACT_HOST, "node7", "host-1");
	expect(REDACT_TEXT, "rank 3 on node7, not on node71 or mynode7",
	       "rank 3 on host-1, not on node71 or mynode7");
	expect(REDACT_TEXT, "node7: gone", "host-1: gone");
}

Test(redact, each_column_is_of_one_kind)
{
	static const struct {
		const char *view, *column;
		enum redact_kind kind;
	} rows[] = {
		{"process", "command", REDACT_COMMAND},
		{"folder", "path", REDACT_FOLDER},
		{"file", "path", REDACT_FILE},
		{"loader", "place", REDACT_PLACE},
		{"mark", "text", REDACT_MARK},
		{"run", "host", REDACT_HOST},
		{"run", "node", REDACT_HOST},
		{"run", "job_id", REDACT_JOB},
		{"lake", "cause", REDACT_NOT},
		{"lake", "verdict", REDACT_NOT},
		{"lake", "what I call it", REDACT_OTHER},
		{"blocked", "name", REDACT_PEER},
		{"thread", "name", REDACT_OTHER},
		{"frame", "file", REDACT_FILE},
		{"frame", "function", REDACT_OTHER},
		{"slow", "what", REDACT_CALL},
		{"slow", "stack", REDACT_TEXT},
		{"note", "text", REDACT_TEXT},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_expect_eq(redact_kind_of_column(rows[i].view, rows[i].column), rows[i].kind,
			     "%s.%s", rows[i].view, rows[i].column);
}
