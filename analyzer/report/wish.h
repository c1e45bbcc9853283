/* SPDX-License-Identifier: Apache-2.0 */
/* wish.h - parses the argument of --what-if. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/predict/whatif.h"

#define WISH_MOST_WORKERS  1024
#define WISH_MOST_PREFETCH 1024

/*
 * Parses "workers=16,prefetch_factor=4,in_order=false,load=0.5", or a part of that. If the text is
 * wrong, returns false and writes the reason to `problem`.
 */
bool wish_parse(const char *text, struct whatif_wish *ret, char *problem, size_t size);
