/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - finds the program that a command finally executes, by looking into files, and whether
 * a library can be preloaded into it.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum target_problem {
	TARGET_FINE,
	TARGET_NO_PROGRAM, /* the file is neither ELF nor a script */
	TARGET_OTHER_CLASS,
	TARGET_OTHER_MACHINE,
	TARGET_STATIC,
	TARGET_MUSL,
	TARGET_SECURE, /* setuid, setgid or file capabilities: ld.so ignores LD_PRELOAD */
	TARGET_PROBLEM_MAX
};

struct target {
	char path[PATH_MAX];   /* the ELF file that is finally executed */
	char script[PATH_MAX]; /* the script that the command names; "": none */
	char loader[256];      /* the program's dynamic linker; "": none */
	char asan[64];         /* AddressSanitizer's runtime that the program needs; "": none */
	uint8_t elf_class;     /* 0: the file is not ELF */
	uint16_t machine;
	bool is_secure;
	char libpython[64]; /* the libpython that the program needs; "": none */
};

/*
 * Finds `name` as execvp() does, and then the interpreters of scripts. Returns 0, -ENOENT, -EACCES
 * (not executable), -ELOOP, or a read error.
 */
int target_find(const char *name, struct target *ret);

/* Reads the program or library at `path`, but does not follow scripts. */
int target_read(const char *path, struct target *ret);

/* Returns why the library cannot be preloaded into the program, or TARGET_FINE if it can. */
enum target_problem target_problem(const struct target *program, const struct target *library);

/* For each problem, words like "is statically linked", and what to do. */
extern const struct target_words {
	const char *text, *fix;
} target_words[TARGET_PROBLEM_MAX];

/* Returns why a Python's loaders cannot be followed, as words after its name; NULL if they can. */
const char *target_unfollowed(const struct target *program);

/* Returns true if the ELF file exports this function. */
bool target_exports(const char *path, const char *symbol);
