/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h - watches imports in a CPython >= 3.8, and patches the modules of loaders. */
#pragma once

#include <stdbool.h>

/* Called by the constructor, before Python starts. */
void audit_install(void);

/* Returns a package with a loader that this process imported, or NULL. */
const char *audit_seen(void);

/* Notes why Python is not followed, when this process begins to record. */
void audit_report(void);
