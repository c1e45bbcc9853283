/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - finds the program that a command runs in the end, by its files, and whether a library
 * can be preloaded into it.
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
	TARGET_SECURE, /* setuid, setgid or file capabilities, so that ld.so ignores LD_PRELOAD */
	TARGET_PROBLEM_MAX
};

struct target {
	char path[PATH_MAX];   /* path of the ELF file that is run in the end */
	char script[PATH_MAX]; /* path of the script that the command names; "": none */
	char loader[256];      /* the program's dynamic linker; "": none */
	char asan[64];         /* runtime of AddressSanitizer that the program needs; "": none */
	uint8_t elf_class;     /* 0: the file is not ELF */
	uint16_t machine;
	bool is_secure;
	char libpython[64]; /* library of the Python interpreter that the program needs; "": none */
};

/*
 * Finds `name` as execvp() does, and follows the first lines of scripts. Returns 0, -ENOENT,
 * -EACCES (not executable), -ELOOP, or an error of reading.
 */
int target_find(const char *name, struct target *ret);

/* Reads the file at `path`, a program or a library, but does not follow a script. */
int target_read(const char *path, struct target *ret);

/* Returns why the library cannot be preloaded into the program, or TARGET_FINE. */
enum target_problem target_problem(const struct target *program, const struct target *library);

/* Words for each problem, as "is statically linked", and what to do. */
extern const struct target_words {
	const char *text, *fix;
} target_words[TARGET_PROBLEM_MAX];

/*
 * Returns why loaders of a Python cannot be followed, to print after its name. NULL: they can be.
 */
const char *target_unfollowed(const struct target *program);

/* Returns true if the ELF file exports this function. */
bool target_exports(const char *path, const char *symbol);
