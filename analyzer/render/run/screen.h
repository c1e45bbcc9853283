/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - makes the first lines of the report's screen. */
#pragma once

#include <stddef.h>

/* Gets the program's name: the first word that is a Python script or module, or the first. */
void screen_program(const char *command, char *ret, size_t size);
