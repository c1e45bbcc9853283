/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.h - names the calls in a copied stack, which is not trusted, by the files of the modules.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dlprof/stack.h"
#include "drain/modules/module.h"

/* Writes lines like "name+0x1f libjpeg.so.62", innermost first. Returns how many; 0: none known. */
int unwind_text(struct modules *modules, const struct dlprof_stack *stack, char *text, size_t size);
