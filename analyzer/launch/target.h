/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - finds the program that a command finally executes, and if it can be preloaded. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum target_problem {
	TARGET_FINE,
	TARGET_NO_PROGRAM,
	TARGET_OTHER_CLASS,
	TARGET_OTHER_MACHINE,
	TARGET_STATIC,
	TARGET_MUSL,
	TARGET_SECURE, /* setuid, setgid or file capabilities: ld.so ignores LD_PRELOAD */
	TARGET_PROBLEM_MAX
};

struct target {
	char path[PATH_MAX];
	char script[PATH_MAX]; /* script that the program runs; "": none */
	char loader[256];      /* dynamic loader; "": the program is static */
	char asan[64];         /* runtime of AddressSanitizer that the program needs; "": none */
	uint8_t elf_class;     /* 0: the file is not ELF */
	uint16_t machine;
	bool is_secure;
	char libpython[64]; /* Python's library that the program needs; "": none */
};

/*
 * Finds the program that executes `name`; for a script, this is its interpreter. Returns 0,
 * -ENOENT, -EACCES (not executable), -ELOOP, or an error of reading.
 */
int target_find(const char *name, struct target *ret);

/* Reads what a program needs. A script counts as a file that is not ELF. */
int target_read(const char *path, struct target *ret);

enum target_problem target_problem(const struct target *program, const struct target *library);

extern const struct target_words {
	const char *text, *fix;
} target_words[TARGET_PROBLEM_MAX];

/* Returns why the program's loaders are not followed, to print after its name; NULL: they are. */
const char *target_unfollowed(const struct target *program);

bool target_exports(const char *path, const char *symbol);
