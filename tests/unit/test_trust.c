/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "dlprof/trust.h"

#define FILE_OF	  S_IFREG | 0755
#define FOLDER_OF S_IFDIR | 0755

/* User 1000 runs files that user 500 installed. */
static const struct trust_looker plain = {.user = 1000, .owner = 500, .groups = {-1, -1}};
static const struct trust_looker shared = {.user = 1000, .owner = 1000, .groups = {7, 8}};

Test(trust, root_the_user_and_the_lookers_owner_are_trusted)
{
	cr_assert_eq(trust_judge(&plain, 0, 0, FILE_OF), TRUST_FINE);
	cr_assert_eq(trust_judge(&plain, 1000, 7, FOLDER_OF), TRUST_FINE);
	cr_assert_eq(trust_judge(&plain, 500, 7, FILE_OF), TRUST_FINE);
	cr_assert_eq(trust_judge(&plain, 1001, 7, FILE_OF), TRUST_OWNER);
	cr_assert_eq(trust_judge(&shared, 500, 7, FOLDER_OF), TRUST_OWNER);
}

Test(trust, what_others_can_write_is_not_trusted_whoever_has_it)
{
	cr_assert_eq(trust_judge(&plain, 0, 0, S_IFDIR | S_ISVTX | 0777), TRUST_OTHERS);
	cr_assert_eq(trust_judge(&plain, 1000, 7, S_IFREG | 0702), TRUST_OTHERS);
}

Test(trust, a_group_may_write_only_where_it_can_write_the_looker)
{
	cr_assert_eq(trust_judge(&plain, 1000, 7, S_IFREG | 0775), TRUST_GROUP);
	cr_assert_eq(trust_judge(&plain, 0, 0, S_IFDIR | 0775), TRUST_GROUP);
	cr_assert_eq(trust_judge(&shared, 1000, 7, S_IFREG | 0775), TRUST_FINE);
	cr_assert_eq(trust_judge(&shared, 1000, 8, S_IFDIR | 02775), TRUST_FINE);
	cr_assert_eq(trust_judge(&shared, 1000, 9, S_IFREG | 0775), TRUST_GROUP);
}

Test(trust, links_and_devices_are_no_files)
{
	cr_assert_eq(trust_judge(&plain, 0, 0, S_IFLNK | 0777), TRUST_LINK);
	cr_assert_eq(trust_judge(&plain, 0, 0, S_IFIFO | 0600), TRUST_LINK);
}

Test(trust, the_looker_has_the_groups_that_may_write_it)
{
	const struct stat file = {.st_uid = 5, .st_gid = 6, .st_mode = S_IFREG | 0755};
	const struct stat folder = {.st_uid = 5, .st_gid = 7, .st_mode = S_IFDIR | 0775};
	const struct trust_looker looker = trust_looker(9, &file, &folder);

	cr_assert(looker.user == 9 && looker.owner == 5);
	cr_assert(looker.groups[0] == -1 && looker.groups[1] == 7);
}

static void joined(const char *relative, const char *expected)
{
	char path[32];

	cr_assert(trust_join("/usr/lib/x/a.so", relative, path, sizeof(path)), "%s", relative);
	cr_assert_str_eq(path, expected);
}

Test(trust, paths_are_joined_without_dots)
{
	char path[32];

	joined("drain", "/usr/lib/x/drain");
	joined("../../libexec/drain", "/usr/libexec/drain");
	joined("./..//./b/..c/", "/usr/lib/b/..c");
	joined("../../../../../drain", "/drain");
	joined(".", "/usr/lib/x");
	joined("../../..", "");
	joined("nineteen-characters", "/usr/lib/x/nineteen-characters");
	cr_assert_not(trust_join("/usr/lib/x/a.so", "twenty-one-characters", path, sizeof(path)));
	cr_assert_not(trust_join("/usr/lib/x/a.so", "drain", path, 10));
	cr_assert(trust_join("/a.so", "b", path, sizeof(path)));
	cr_assert_str_eq(path, "/b");
}

/* Compares the paths that are checked, each followed by ':', with `expected`. */
static void checked(const char *looker, const char *path, const char *expected)
{
	char found[64] = "";

	for (size_t at = 0; (at = trust_next(looker, path, at));)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%.*s:", (int)at,
			 path);
	cr_assert_str_eq(found, expected, "%s from %s: %s", path, looker, found);
}

Test(trust, all_below_the_common_folder_is_checked)
{
	checked("/a/lib.so", "/a/drain", "/a/drain:");
	checked("/a/lib/l.so", "/a/bin/d", "/a/bin:/a/bin/d:");
	checked("/a/l/x/l.so", "/a/le/d", "/a/le:/a/le/d:");
	checked("/a/le/l.so", "/a/l/d", "/a/l:/a/l/d:");
	checked("/a/l.so", "/b/d", "/b:/b/d:");
	checked("/a/b/l.so", "/d", "/d:");
	checked("/l.so", "/l.so", "/l.so:");
}
