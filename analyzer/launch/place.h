/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - where the files of ours are that belong to one of them: in its own folder, where both
 * were installed, or where both were built. Nowhere else, and only as dlprof/trust.h lets them.
 */
#ifndef PLACE_H
#define PLACE_H

#include <limits.h>

#include "dlprof/trust.h"

struct place {
	char path[PATH_MAX]; /* of the file; -EPERM: of what is not trusted */
	enum trust trust;    /* why not */
};

/*
 * Finds `name` for the file of ours at `from`, a real path; `installed`: the folder from that
 * file's, where both are installed; NULL: none. 0; -ENOENT: it is not there; -EPERM: it is not
 * trusted.
 */
int place_find(const char *from, const char *name, const char *installed, struct place *ret);

/* The same, for this program. */
int place_find_own(const char *name, const char *installed, struct place *ret);

#endif
