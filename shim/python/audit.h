/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h - be told of imports in a CPython >= 3.8, and patch the modules of targets.def. */
#ifndef AUDIT_H
#define AUDIT_H

#include <stdbool.h>

/* From the constructor, before Python starts. Does nothing in other programs. */
void audit_install(void);

/* A package with a loader that this very process imported; NULL: none. */
const char *audit_seen(void);

/* When the process begins to record: why it could not. */
void audit_report(void);

#endif
