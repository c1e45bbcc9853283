/* SPDX-License-Identifier: Apache-2.0 */
/* decode.h - the set of wrappers made from decode.def. */
#pragma once

#include "slots/wrap.h"

extern HIDDEN const struct wrap_set decode_slots;
