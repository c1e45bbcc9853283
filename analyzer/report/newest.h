/* SPDX-License-Identifier: Apache-2.0 */
/* newest.h - finds the newest run in a folder, for commands without a run. */
#pragma once

/*
 * Finds the dlprof *.db in the folder that was written last; the caller frees *ret_name. 0,
 * -ENOMEM, or -ENOENT: there is none.
 */
int newest_find(const char *folder, char **ret_name);
