/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - the first words of the report's screen. */
#pragma once

#include <stddef.h>

/* The program's name: the first word that is a Python script or module, else the first word. */
void screen_program(const char *command, char *ret, size_t size);
