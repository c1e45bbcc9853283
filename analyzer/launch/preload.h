/* SPDX-License-Identifier: Apache-2.0 */
/* preload.h - finds libdlprof.so and the programs beside it; sets the variables that load it. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "dlprof/trust.h"
#include "launch/target.h"

struct preload {
	char library[PATH_MAX];
	enum trust trust;    /* why the library is not trusted, if so */
	struct target image; /* facts about the library's file */
};

/*
 * Finds the library for this program, or takes `given` if that is not NULL. Returns 0, or -errno if
 * the library at ret->library cannot be used. -EINVAL: its path contains a blank or a colon, which
 * LD_PRELOAD cannot hold. -ENOEXEC: it is no library. -EPERM: it, or a folder of it, is not
 * trusted.
 */
int preload_find(const char *given, struct preload *ret);

/* Sets LD_PRELOAD, and CUDA_INJECTION64_PATH if it is not set. Returns 0 or -errno. */
int preload_set(const struct preload *preload, const struct target *program);

/* Returns true if the library can be injected by CUDA, and the settings allow it. */
bool preload_injects(const struct preload *preload);

/*
 * Find the dlprof-drain that the library would start, and the dlprof-report for this program.
 * Return 0 with the path in ret->path; -ENOENT; -EPERM if it is not trusted, see ret->trust;
 * -EACCES if it is not executable.
 */
int preload_find_drain(const struct preload *preload, struct trust_search *ret);
int preload_find_report(struct trust_search *ret);

/* Returns a text that tells the user what is wrong with the library. */
const char *preload_error(const struct preload *preload, int error);
