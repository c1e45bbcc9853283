/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thief.h - another client of CUPTI whose calls nobody can watch, like one that uses dlsym(). At
 * operation FAKE_CUPTI_STEAL_AT it registers callbacks and a clock of its own; after
 * FAKE_CUPTI_STEAL_FOR more operations it is gone.
 */
#pragma once

#include <stdbool.h>

/* Counts an operation. Returns true if the client goes now; then all kinds are to be disabled. */
bool thief_leaves(void);
