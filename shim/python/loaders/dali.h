/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dali.h - times the stages of DALI's pipelines, by the ranges of time that DALI marks itself.
 *
 * A range is an object on the stack of the thread that does the work. Those that matter are:
 * PopOutputs, in which the training waits; the operators, which run one after the other in the
 * executor's thread; and the reader, which has a thread of its own, with the executor's wait for
 * it. What an operator does on a GPU ends later than its range: such operators are left out.
 */
#pragma once

#include "slots/wrap.h"

extern HIDDEN const struct wrap_set dali_slots;
