/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - finds the function that a loaded module calls under a name. */
#pragma once

/* Returns the function that the module around `within` imports by this name, or NULL. */
void *import_of(const void *within, const char *name);
