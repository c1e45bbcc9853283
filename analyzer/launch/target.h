/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - find the program that a command will run in the end, by its files, and whether a
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
	TARGET_SECURE, /* setuid, setgid or file capabilities, so ld.so drops LD_PRELOAD */
	TARGET_PROBLEM_MAX
};

struct target {
	char path[PATH_MAX];   /* path of the ELF file that is run in the end */
	char script[PATH_MAX]; /* the script that was named; "": none */
	char loader[256];      /* its dynamic linker; "": none */
	char asan[64];         /* AddressSanitizer's runtime that it needs; "": none */
	uint8_t elf_class;     /* 0: it is no ELF file */
	uint16_t machine;
	bool is_secure;
	char libpython[64]; /* library of the Python interpreter that it needs; "": none */
};

/*
 * Finds `name` as execvp() would, and follows the first lines of scripts. 0, -ENOENT, -EACCES (not
 * executable), -ELOOP, or an error of reading.
 */
int target_find(const char *name, struct target *ret);

/* Reads the file at `path`, a program or a library, without following it. */
int target_read(const char *path, struct target *ret);

/* Why the library cannot be preloaded into the program, or TARGET_FINE. */
enum target_problem target_problem(const struct target *program, const struct target *library);

/* Words for each problem, as "is statically linked", and the remedy. */
extern const struct target_words {
	const char *text, *fix;
} target_words[TARGET_PROBLEM_MAX];

/*
 * Why a Python's loaders cannot be followed, to put after its name; NULL: they can, or no Python.
 */
const char *target_unfollowed(const struct target *program);

/* Whether the ELF file exports this function. */
bool target_exports(const char *path, const char *symbol);
