/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - the manual's sections on JSON: every key, its type and meaning, of each program. */
#pragma once

#include <stdio.h>

void facts_report(FILE *out);
void facts_launch(FILE *out);
