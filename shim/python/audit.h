/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h - hear of imports in a CPython >= 3.8, and patch loaders' modules. */
#pragma once

#include <stdbool.h>

/* From the constructor, before Python starts. Does nothing in other programs. */
void audit_install(void);

/* A package with a loader that this process itself imported; NULL: none. */
const char *audit_seen(void);

/* When the process begins to record: notes why nothing of Python is followed, if so. */
void audit_report(void);
