/* SPDX-License-Identifier: Apache-2.0 */
/* preload.h - finds libdlprof.so and the programs beside it, and sets variables that load it. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "dlprof/trust.h"
#include "launch/target.h"

struct preload {
	char library[PATH_MAX];
	enum trust trust;
	struct target image;
};

/*
 * Finds libdlprof.so, or checks `given` if that is not NULL. -EINVAL: the path has a blank or a
 * colon. -ENOEXEC: the file is no library. -EPERM: the file is not trusted.
 */
int preload_find(const char *given, struct preload *ret);

/* Sets LD_PRELOAD and, if it is not set, CUDA_INJECTION64_PATH. Returns 0 or -errno. */
int preload_set(const struct preload *preload, const struct target *program);

bool preload_injects(const struct preload *preload);

/* Find a program's path. -EPERM: it is not trusted (ret->trust); -EACCES: it is not executable. */
int preload_find_drain(const struct preload *preload, struct trust_search *ret);
int preload_find_report(struct trust_search *ret);

const char *preload_error(const struct preload *preload, int error);
