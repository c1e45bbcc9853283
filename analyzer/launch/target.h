/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - which program a command will run in the end, read from its files, and whether a
 * library can be preloaded into it.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum target_problem {
	TARGET_FINE,
	TARGET_NO_PROGRAM, /* neither ELF nor a script */
	TARGET_OTHER_CLASS,
	TARGET_OTHER_MACHINE,
	TARGET_STATIC,
	TARGET_MUSL,
	TARGET_SECURE, /* setuid, setgid or file capabilities: ld.so drops LD_PRELOAD */
	TARGET_PROBLEM_MAX
};

struct target {
	char path[PATH_MAX];   /* of the ELF file that is run in the end */
	char script[PATH_MAX]; /* what was named, where that is a script; else "" */
	char loader[256];      /* its dynamic linker; "": none */
	char asan[64];         /* the AddressSanitizer runtime that it needs; "": none */
	uint8_t elf_class;     /* 0: no ELF file */
	uint16_t machine;
	bool is_secure;
	char libpython[64]; /* the library of the interpreter that it needs; "": none */
};

/*
 * Finds `name` as execvp() would and follows what scripts name in their first line. 0, -ENOENT,
 * -EACCES (not executable), -ELOOP, or what reading it gave.
 */
int target_find(const char *name, struct target *ret);

/* Reads the file at `path`, a program or a library, as it is. */
int target_read(const char *path, struct target *ret);

/* Why the library cannot be preloaded into the program, or TARGET_FINE. */
enum target_problem target_problem(const struct target *program, const struct target *library);

/* "is statically linked"; and what to do about it. */
extern const struct target_words {
	const char *text, *fix;
} target_words[TARGET_PROBLEM_MAX];

/* Why the loaders of a Python cannot be followed, behind its name; NULL: they can, or no Python. */
const char *target_unfollowed(const struct target *program);

/* Does the ELF file define this function for others? */
bool target_exports(const char *path, const char *symbol);
