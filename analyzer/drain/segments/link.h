/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - the link "DATABASE-segments", which leads to the folder of an unfinished run. */
#pragma once

#include <stddef.h>

/* Finds the link's target. -ENOENT: there is no link; -EPERM: another user made it. */
int link_find(const char *database, char *path, size_t size);

void link_remove(const char *database, const char *path);
