/* SPDX-License-Identifier: Apache-2.0 */
/* Totals by name out of a database that may hold anything. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "one_run.h"
#include "store/run/batch.h"
#include "store/run/tally.h"

TestSuite(tally_read, .init = one_run_begin, .fini = one_run_end);

static void expect_sane(const struct tally *tally)
{
	cr_expect_geq(tally->count, 0);
	cr_expect_geq(tally->ns, 0);
	cr_expect_geq(tally->bytes, 0);
	cr_expect_geq(tally->pixels, 0);
	cr_expect_geq(tally->slowest_ns, 0);
	cr_expect_geq(tally->error_ns, 0);
	cr_expect_geq(tally->class, 0);
	cr_expect(memchr(tally->name, '\0', sizeof(tally->name)));
	cr_expect(memchr(tally->detail, '\0', sizeof(tally->detail)));
}

Test(tally_read, the_longest_first_and_how_many_there_are)
{
	struct tally_list list;

	run_sql("INSERT INTO t_total VALUES ('step','a','transform',0,1,10,0,0,10,0),"
		"('step','b','dataset',0,2,30,0,0,20,0), ('step','c','transform',0,3,20,0,0,9,0),"
		"('decode','d','PNG',256,4,99,7,8,9,0);"
		"INSERT INTO t_live VALUES ('s',0,0,'step','a','transform',0,1,15,0,0,15,0)");
	cr_assert_eq(tally_list_read(db, "step", 2, &list), 0);
	cr_expect_eq(list.count, 2);
	cr_expect_eq(list.all_count, 3);
	cr_expect_str_eq(list.items[0].name, "b");
	cr_expect_str_eq(list.items[1].name, "a");
	cr_expect_eq(list.items[1].ns, 25, "what lives and what is over");
	cr_expect_eq(list.items[1].count, 2);
	tally_list_done(&list);
	cr_assert_eq(tally_list_read(db, "decode", 10, &list), 0);
	cr_assert_eq(list.count, 1);
	cr_expect_eq(list.items[0].class, 256);
	cr_expect_eq(list.items[0].pixels, 8);
	cr_expect_eq(list.items[0].bytes, 7);
	cr_expect_str_eq(list.items[0].detail, "PNG");
	tally_list_done(&list);
	cr_assert_eq(tally_list_read(db, "file", 10, &list), 0);
	cr_expect_eq(list.count, 0);
	cr_expect_eq(list.all_count, 0);
	tally_list_done(&list);
}

Test(tally_read, files_are_ranked_by_what_is_certain)
{
	struct tally_list list;

	run_sql("INSERT INTO t_total VALUES ('file','guessed','',0,1,100,0,0,10,99),"
		"('file','certain','',0,1,50,0,0,10,0)");
	cr_assert_eq(tally_list_read(db, "file", 2, &list), 0);
	cr_expect_str_eq(list.items[0].name, "certain");
	tally_list_done(&list);
}

Test(tally_read, odd_content)
{
	struct tally_list list;

	run_sql("INSERT INTO t_total VALUES ('step','text','transform','x','y','z','','','q','w'),"
		"('step','negative','transform',-1,-2,-3,-4,-5,-6,-7),"
		"('step','real','transform',1.5,2.5,1e30,4,5,-1e30,0),"
		"('step','huge','transform',0,9223372036854775807,9223372036854775807,0,0,0,0),"
		"('step','blob',x'ff00ff',0,1,x'00',0,0,0,0), ('step',x'ff','',0,1,1,0,0,0,0),"
		"('step','','',0,0,0,0,0,0,0)");
	run_sql("INSERT INTO t_total SELECT 'step', printf('%.*c', 5000, 'n'), printf('%.*c', 500, "
		"'d'),"
		"0, 1, 1, 0, 0, 0, 0");
	cr_assert_eq(tally_list_read(db, "step", 100, &list), 0);
	cr_expect_eq(list.count, 8, "%zu", list.count);
	for (size_t i = 0; i < list.count; i++)
		expect_sane(&list.items[i]);
	tally_list_done(&list);
}

Test(tally_read, sums_beyond_64_bits_are_an_error_or_a_number)
{
	struct tally_list list;
	int r;

	run_sql("INSERT INTO t_total VALUES ('step','a','',0,1,9223372036854775807,0,0,0,0);"
		"INSERT INTO t_live VALUES "
		"('s',0,0,'step','a','',0,1,9223372036854775807,0,0,0,0)");
	r = tally_list_read(db, "step", 10, &list);
	cr_expect(r == 0 || r == -EBADMSG, "%d", r);
	if (r == 0)
		for (size_t i = 0; i < list.count; i++)
			expect_sane(&list.items[i]);
	tally_list_done(&list);
}

Test(tally_read, tables_that_are_not_there)
{
	struct load_totals loads;
	struct tally_list list;
	int64_t ns = 7;

	run_sql("DROP TABLE t_unlisted; DROP TABLE t_live; DROP TABLE t_batch");
	cr_expect_eq(tally_list_read(db, "step", 10, &list), -EBADMSG);
	cr_expect_eq(list.count, 0);
	tally_list_done(&list);
	cr_expect_eq(tally_unlisted_read(db, "file", &ns), -EBADMSG);
	cr_expect_eq(ns, 0);
	cr_expect_eq(batch_totals_of_run(db, &loads), -EBADMSG);
	cr_expect_eq(loads.load_count, 0);
}

Test(tally_read, loads_of_a_database_without_any)
{
	struct load_totals loads;
	int64_t ns;

	cr_assert_eq(batch_totals_of_run(db, &loads), 0);
	cr_expect_eq(loads.load_count, 0);
	cr_expect_eq(loads.load_ns, UNKNOWN);
	cr_assert_eq(tally_unlisted_read(db, "file", &ns), 0);
	cr_expect_eq(ns, 0);
	run_sql("INSERT INTO t_unlisted VALUES ('file', -5);"
		"INSERT INTO t_batch (loader_id, epoch, task, load_ns, open_ns, read_ns) VALUES "
		"(1, 0, 0, 100, NULL, 7), (1, 0, 1, 50, 3, 'x'), (1, 0, 2, NULL, 3, 3),"
		"(1, 0, 3, 1, -9, 1)");
	cr_assert_eq(batch_totals_of_run(db, &loads), 0);
	cr_expect_eq(loads.load_count, 3);
	cr_expect_eq(loads.load_ns, 151);
	cr_expect_eq(loads.open_ns, UNKNOWN);
	cr_expect_eq(loads.read_ns, 8);
	cr_assert_eq(tally_unlisted_read(db, "file", &ns), 0);
	cr_expect_eq(ns, 0);
}
