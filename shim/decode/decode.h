/* SPDX-License-Identifier: Apache-2.0 */
/* decode.h - the wrappers of decode libraries that decode.def lists. */
#pragma once

#include "slots/wrap.h"

extern HIDDEN const struct wrap_set decode_slots;
