/* SPDX-License-Identifier: Apache-2.0 */
/* newest.h - the run that is meant where none is named: the newest one in the folder. */
#pragma once

/*
 * The *.db of dlprof in the folder that was written last, as a name to be freed. 0, -ENOMEM, or
 * -ENOENT: there is none.
 */
int newest_find(const char *folder, char **ret_name);
