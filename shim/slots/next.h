/* SPDX-License-Identifier: Apache-2.0 */
/*
 * next.h - answers dlsym(RTLD_NEXT) without a call for every name: such calls took most of the
 * constructor's time, in every process of the host's tree.
 */
#pragma once

#include <stdint.h>

#include "slots/elf.h"

#define NEXT_MODULE_MAX 32

/* The modules behind this one, in the order in which ld.so searches them. */
struct next_scope {
	struct elf_module modules[NEXT_MODULE_MAX];
	uint32_t count;		/* number of modules; 0: they are not known */
};

/* Lists the modules up to that of `last`: libc has all names, so no module behind it is needed. */
void next_open(struct next_scope *scope, const void *last);

/* Returns a function; NULL: dlsym() may still find it. */
void *next_function(const struct next_scope *scope, const char *name);
