/* SPDX-License-Identifier: Apache-2.0 */
/*
 * next.h - answers dlsym(RTLD_NEXT) without calling dlsym() for each name: those calls took most of
 * the constructor's time, in every process of the host.
 */
#pragma once

#include <stdint.h>

#include "slots/elf.h"

#define NEXT_MODULE_MAX 32

/* The modules behind this one, in the order in which ld.so searches them. */
struct next_scope {
	struct elf_module modules[NEXT_MODULE_MAX];
	uint32_t count;		/* number of modules; 0: unknown */
};

/* Lists the modules up to that of `last`, a function of libc, which has all names that we need. */
void next_open(struct next_scope *scope, const void *last);

/* Returns a function, or NULL if the caller must ask dlsym(), which may still find it. */
void *next_function(const struct next_scope *scope, const char *name);
