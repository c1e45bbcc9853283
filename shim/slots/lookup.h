/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.h - the dlsym() that is behind ours, and what is closed meanwhile. */
#pragma once

#include <stdint.h>

#include "base/sys.h"

/* libc's dlsym(); call it, not dlsym(). Its answers for RTLD_NEXT and RTLD_DEFAULT are ours. */
extern void *(*lookup_real)(void *handle, const char *name);

/* What the host would call without us: libc's, or another library's that takes it as we do. */
extern void *(*lookup_next)(void *handle, const char *name);

/* NULL, or what dlsym() answers instead of `found` for names that begin with cupti. */
extern HIDDEN void *(*lookup_answer)(const char *name, void *found);

/*
 * Looks for another library behind us that takes it. From the constructor: sanitizers wrap what
 * this calls, and call dlsym() before that is ready.
 */
void lookup_look_behind(void);

/* Finds it. Done by the first of: our constructor, a call of dlsym(). */
void lookup_resolve(void);

/* Calls of dlclose() that have returned, and those that have not. */
extern volatile uint32_t lookup_closes, lookup_closing;
