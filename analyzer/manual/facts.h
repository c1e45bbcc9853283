/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - writes the manual's sections on JSON from the tables that write the JSON. */
#pragma once

#include <stdio.h>

void facts_report(FILE *out);
void facts_launch(FILE *out);
