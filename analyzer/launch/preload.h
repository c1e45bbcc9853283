/* SPDX-License-Identifier: Apache-2.0 */
/* preload.h - where libdlprof.so and what belongs to it are, and the environment that loads it. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "dlprof/trust.h"
#include "launch/target.h"

struct preload {
	char library[PATH_MAX];
	enum trust trust;    /* why not to load it */
	struct target image; /* of the library */
};

/*
 * Finds the library that belongs to this program, or takes `given` if that is not NULL. 0, or
 * -errno: the library at ret->library cannot be used. -EINVAL: LD_PRELOAD cannot hold its path,
 * which has a blank or a colon in it. -ENOEXEC: it is no library. -EPERM: ret->library, or a folder
 * of it, is not to be trusted.
 */
int preload_find(const char *given, struct preload *ret);

/* Sets LD_PRELOAD, and CUDA_INJECTION64_PATH unless it is taken. 0 or -errno. */
int preload_set(const struct preload *preload, const struct target *program);

/* Does the library take part in CUDA's injection, and do the settings let it? */
bool preload_injects(const struct preload *preload);

/*
 * The dlprof-drain that the library would start, and the dlprof-report that belongs to this
 * program. 0: at ret->path; -ENOENT; -EPERM: that is not trusted, see ret->trust; -EACCES: not
 * executable.
 */
int preload_find_drain(const struct preload *preload, struct trust_search *ret);
int preload_find_report(struct trust_search *ret);

/* What is wrong with the library, for a person. */
const char *preload_error(const struct preload *preload, int error);
