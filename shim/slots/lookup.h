/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.h - the dlsym() behind ours, and counts of dlclose() calls. */
#pragma once

#include <stdint.h>

#include "base/sys.h"

/* libc's dlsym(): call this, not dlsym(). RTLD_NEXT and RTLD_DEFAULT start from this library. */
extern void *(*lookup_real)(void *handle, const char *name);

/* The dlsym() that the host would call without us: libc's, or another library's wrapper. */
extern void *(*lookup_next)(void *handle, const char *name);

/* NULL, or a function that replaces results for names that begin with "cupti". */
extern HIDDEN void *(*lookup_answer)(const char *name, void *found);

/*
 * Looks for another library behind us that wraps dlsym(). Call it from our constructor, not
 * earlier: sanitizers wrap functions that this calls, and call dlsym() before their wrappers are
 * ready.
 */
void lookup_look_behind(void);

/* Finds libc's dlsym(), in our constructor or at the first call of dlsym(). */
void lookup_resolve(void);

/* Numbers of dlclose() calls that have returned, and that are under way. */
extern volatile uint32_t lookup_closes, lookup_closing;
