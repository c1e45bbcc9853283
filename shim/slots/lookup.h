/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.h - finds the dlsym() behind our own, and counts dlclose() calls. */
#pragma once

#include <stdint.h>

#include "base/sys.h"

/* libc's dlsym(). RTLD_NEXT and RTLD_DEFAULT start from this library. */
extern void *(*lookup_real)(void *handle, const char *name);

/* The dlsym() that the host would call if we were not loaded: libc's, or another wrapper. */
extern void *(*lookup_next)(void *handle, const char *name);

/* Replaces results for names that begin with "cupti"; may be NULL. */
extern HIDDEN void *(*lookup_answer)(const char *name, void *found);

/* Finds lookup_next. Call this in our constructor: before, sanitizers are not ready. */
void lookup_look_behind(void);

void lookup_resolve(void);

/* numbers of dlclose() calls that have returned, and that are under way */
extern volatile uint32_t lookup_closes, lookup_closing;
