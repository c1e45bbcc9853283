/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - what the report of one screen says first. */
#pragma once

#include <stddef.h>

#include "analysis/account/account.h"
#include "render/form/units.h"

/* The program's name: the first word that is a Python script or module, else the first word. */
void screen_program(const char *command, char *ret, size_t size);

/* The share of a part (ACCOUNT_PART_MAX: the rest) as the bar's legend has it: they sum to 100. */
const char *screen_share(const struct account *account, int part, char buffer[UNITS_MAX]);
