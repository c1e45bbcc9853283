/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - writes the manual's sections on JSON: each program's keys, with type and meaning. */
#pragma once

#include <stdio.h>

void facts_report(FILE *out);
void facts_launch(FILE *out);
