/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - what the report of one screen says first. */
#pragma once

#include <stddef.h>

/* The program's name: the first word that is a Python script or module, else the first word. */
void screen_program(const char *command, char *ret, size_t size);
