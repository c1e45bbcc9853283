/* SPDX-License-Identifier: Apache-2.0 */
/* newest.h - finds the newest run in a folder, for commands without a RUN. */
#pragma once

/*
 * Finds the dlprof database *.db in the folder that was written last. Returns 0, -ENOMEM, or
 * -ENOENT if there is none; the caller frees *ret_name.
 */
int newest_find(const char *folder, char **ret_name);
