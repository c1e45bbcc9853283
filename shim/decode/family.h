/* SPDX-License-Identifier: Apache-2.0 */
/* family.h - the headers that all families of decode.def need. */
#pragma once

#include "decode/unit.h"
#include "record/activate.h"

#define BEGIN	(activate_on() && unit_begin(&unit, row_library, row_name))
#define NO_BITS ((struct unit_result){0})
