/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dl.h - dlsym() and dlclose() as the host calls them; dl.S has the entries.
 *
 * dlopen() is not wrapped: it looks at who calls it, for $ORIGIN and the like.
 */
#ifndef DL_H
#define DL_H

#include <stdint.h>

/* The host's dlsym(); call it, not dlsym(). Its answers for RTLD_NEXT and RTLD_DEFAULT are ours. */
extern void *(*dl_real)(void *handle, const char *name);

/* Finds it and dlclose(). Done by the first of: our constructor, a call of one of the two. */
void dl_resolve(void);

/* How often dlclose() was called. */
extern volatile uint32_t dl_closes;

#endif
