/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h - watches what CPython (3.8 or newer) imports, and patches the modules of loaders. */
#pragma once

/* Adds an audit hook. The library's constructor calls this before Python starts. */
void audit_install(void);

/* Returns the name of an imported package that has loaders, or NULL. */
const char *audit_seen(void);

/* If Python cannot be followed, notes the reason. Called when this process begins to record. */
void audit_report(void);
