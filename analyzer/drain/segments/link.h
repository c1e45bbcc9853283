/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - "DATABASE-segments", which leads to the folder of a run that is not finished.
 */
#pragma once

#include <stddef.h>

/* Where it leads. -ENOENT: there is none. -EPERM: it is somebody else's. */
int link_find(const char *database, char *path, size_t size);

/* Removes it if it leads to `path`. */
void link_remove(const char *database, const char *path);
