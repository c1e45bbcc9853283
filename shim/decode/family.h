/* SPDX-License-Identifier: Apache-2.0 */
/* family.h - what the families of decode.def have in common. */
#pragma once

#include "decode/unit.h"
#include "record/activate.h"

#define BEGIN	(activate_on() && unit_begin(&unit, row_library, row_name))
#define NO_BITS ((struct unit_result){0})
