/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dali.h - the stages of DALI's pipelines, by the ranges of time that DALI marks itself.
 *
 * A range is an object on the stack of the thread that does the work. Of interest are: PopOutputs,
 * in which the training waits; the operators, which run one after the other in the executor's
 * thread; and the reader, which has a thread of its own, with what the executor waits for it. What
 * an operator does on a GPU ends later than its range: those are left out.
 */
#pragma once

#include "slots/wrap.h"

extern HIDDEN const struct wrap_set dali_slots;
