/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dl.h - dlsym() and dlclose() as the host calls them; dl.S has the entry of the first.
 *
 * dlopen() is not wrapped: it looks at who calls it, for $ORIGIN and the like.
 */
#ifndef DL_H
#define DL_H

#include <stdbool.h>
#include <stdint.h>

/* libc's dlsym(); call it, not dlsym(). Its answers for RTLD_NEXT and RTLD_DEFAULT are ours. */
extern void *(*dl_real)(void *handle, const char *name);

/* What the host would call without us: libc's, or another library's that takes it as we do. */
extern void *(*dl_next)(void *handle, const char *name);

/*
 * Looks for another library behind us that takes it. From the constructor: sanitizers wrap what
 * this calls, and call dlsym() before that is ready.
 */
void dl_look_behind(void);

/* Finds it. Done by the first of: our constructor, a call of dlsym(). */
void dl_resolve(void);

/* Calls of dlclose() that have returned, and those that have not. */
extern volatile uint32_t dl_closes, dl_closing;

#endif
