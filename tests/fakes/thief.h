/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thief.h - a client that comes through no symbol that anyone could watch, as one that uses
 * dlsym(): from the operation FAKE_CUPTI_STEAL_AT on it has the callbacks, and a clock of its own;
 * after as many as FAKE_CUPTI_STEAL_FOR it is gone.
 */
#pragma once

#include <stdbool.h>

/* One more operation. True: it goes, and disables all kinds. */
bool thief_leaves(void);
