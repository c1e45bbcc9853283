/* SPDX-License-Identifier: Apache-2.0 */
/* decode.h - the wrappers of decode libraries: decode.def. */
#ifndef DECODE_H
#define DECODE_H

#include "slots/wrap.h"

extern HIDDEN const struct wrap_set decode_slots;

#endif
