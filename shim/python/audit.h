/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h - see imports in a CPython >= 3.8, and patch the modules of loaders. */
#pragma once

#include <stdbool.h>

/* Called by the constructor, before Python starts. Does nothing in other programs. */
void audit_install(void);

/* A package with a loader that this process imported; NULL: none. */
const char *audit_seen(void);

/* Called when the process begins to record: notes why nothing of Python is followed, if so. */
void audit_report(void);
