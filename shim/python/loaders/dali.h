/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dali.h - times the stages of DALI's pipelines, by time ranges that DALI itself marks.
 *
 * A range is an object on the stack of the thread that does the work. These matter: PopOutputs, in
 * which the training waits; the operators, which run one after the other in the executor's thread;
 * and the reader, which has its own thread, with the executor's wait for it. Work of an operator on
 * a GPU ends later than its range, so such operators are left out.
 */
#pragma once

#include "slots/wrap.h"

extern HIDDEN const struct wrap_set dali_slots;
