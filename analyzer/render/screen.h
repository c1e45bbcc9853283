/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - what the report of one screen says first. */
#pragma once

#include <stddef.h>

/* The program by its own name: the first word that is one of Python's, else the first word. */
void screen_program(const char *command, char *ret, size_t size);
