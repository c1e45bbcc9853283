/* SPDX-License-Identifier: Apache-2.0 */
/*
 * next.h - what dlsym(RTLD_NEXT) answers, without asking it for every name: that took most of the
 * constructor's time, in every process of the host's tree.
 */
#pragma once

#include <stdint.h>

#include "slots/elf.h"

#define NEXT_MODULE_MAX 32

/* The modules behind this one, in the order in which ld.so searches them. */
struct next_scope {
	struct elf_module modules[NEXT_MODULE_MAX];
	uint32_t count;		/* 0: not known */
};

/* Up to the one that `last` lies in: libc has all names, and what lies behind it is not asked. */
void next_open(struct next_scope *scope, const void *last);

/* NULL: ask dlsym(), it may find it. */
void *next_function(const struct next_scope *scope, const char *name);
