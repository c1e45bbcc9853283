/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h - be told of imports in a CPython >= 3.8, and patch the modules of targets.def. */
#ifndef AUDIT_H
#define AUDIT_H

/* From the constructor, before Python starts. Does nothing in other programs. */
void audit_install(void);

/* A load begins, the GIL is held: patches decoders that were imported since the last one. */
void audit_load_begin(void);

#endif
