/* SPDX-License-Identifier: Apache-2.0 */
/* wish.h - settings that --what-if asks for, from the command line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/predict/whatif.h"

#define WISH_MOST_WORKERS  1024
#define WISH_MOST_PREFETCH 1024

/*
 * "workers=16,prefetch_factor=4,in_order=false,load=0.5": any of them. False: it is none, and
 * `problem` says why.
 */
bool wish_parse(const char *text, struct whatif_wish *ret, char *problem, size_t size);
