/* SPDX-License-Identifier: Apache-2.0 */
/*
 * written.h - which files the program opened for writing, where it is to be ended before its own
 * end: what lies there then may be half of something.
 */
#pragma once

#include "base/config.h"

/* A regular path was opened for writing, by any thread. Only where config.stop_after is set. */
void written_add(const char *path);

/* Notes those that are a megabyte or more by now. */
void written_note(void);
