/* SPDX-License-Identifier: Apache-2.0 */
/* preload.h - find libdlprof.so and its programs, and make the environment that loads it. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "dlprof/trust.h"
#include "launch/target.h"

struct preload {
	char library[PATH_MAX];
	enum trust trust;    /* the reason not to load it */
	struct target image; /* the library's file */
};

/*
 * Finds the library for this program, or takes `given` if that is not NULL. 0, or -errno: the
 * library at ret->library cannot be used. -EINVAL: LD_PRELOAD cannot hold its path, which has a
 * blank or a colon in it. -ENOEXEC: it is no library. -EPERM: ret->library, or a folder of it, is
 * not to be trusted.
 */
int preload_find(const char *given, struct preload *ret);

/* Sets LD_PRELOAD, and CUDA_INJECTION64_PATH unless it is taken. 0 or -errno. */
int preload_set(const struct preload *preload, const struct target *program);

/* Whether the library takes part in CUDA's injection, and the settings let it. */
bool preload_injects(const struct preload *preload);

/*
 * Finds the dlprof-drain that the library would start, and the dlprof-report for this program. 0:
 * at ret->path; -ENOENT; -EPERM: that is not trusted, see ret->trust; -EACCES: not executable.
 */
int preload_find_drain(const struct preload *preload, struct trust_search *ret);
int preload_find_report(struct trust_search *ret);

/* A text for people on what is wrong with the library. */
const char *preload_error(const struct preload *preload, int error);
