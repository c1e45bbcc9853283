/* SPDX-License-Identifier: Apache-2.0 */
/* newest.h - find the newest run in a folder, for commands that name none. */
#pragma once

/*
 * The dlprof *.db in the folder that was written last, as a name to be freed. 0, -ENOMEM, or
 * -ENOENT: there is none.
 */
int newest_find(const char *folder, char **ret_name);
