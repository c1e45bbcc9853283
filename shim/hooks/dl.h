/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dl.h - dlsym() and dlclose() as the host calls them; dl.S has the entry of the first.
 *
 * dlopen() is not wrapped: it looks at who calls it, for $ORIGIN and the like.
 */
#ifndef DL_H
#define DL_H

#include <stdint.h>

/* The host's dlsym(); call it, not dlsym(). Its answers for RTLD_NEXT and RTLD_DEFAULT are ours. */
extern void *(*dl_real)(void *handle, const char *name);

/* Finds it. Done by the first of: our constructor, a call of dlsym(). */
void dl_resolve(void);

/* Counts the calls of dlclose(), at begin and end. */
extern volatile uint32_t dl_closes;

#endif
