/* SPDX-License-Identifier: Apache-2.0 */
/* next.h - answers dlsym(RTLD_NEXT) faster: its calls took most of the constructor's time. */
#pragma once

#include <stdint.h>

#include "slots/elf.h"

#define NEXT_MODULE_MAX 32

/* The modules behind this one, in ld.so's order. */
struct next_scope {
	struct elf_module modules[NEXT_MODULE_MAX];
	uint32_t count;		/* 0: unknown */
};

/* Lists the modules up to the one of `last`, a function of libc. */
void next_open(struct next_scope *scope, const void *last);

/* Returns the function of the next library that has it, or NULL if only dlsym() may know it. */
void *next_function(const struct next_scope *scope, const char *name);
