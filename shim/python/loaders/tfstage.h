/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfstage.h - times the stages of tf.data's pipelines, and the kernels that they call.
 *
 * A stage is an iterator. A kernel is an operation in a stage's function: only kernels made while a
 * stage prepares its function are recorded, and so no kernels of the training.
 */
#pragma once

#include <stdbool.h>

#include "batch/stage.h"
#include "record/activate.h"
#include "slots/wrap.h"

#define TFSTAGE_ITERATOR_NAME                                                                      \
	"_ZN10tensorflow4data19DatasetBaseIterator16BuildTraceMeNameB5cxx11Ev"
#define TFSTAGE_KERNEL_NAME                                                                        \
	"_ZNK10tensorflow8OpKernel11TraceStringB5cxx11ERKNS_15OpKernelContextEb"

/* Begin the first call seen of an iterator or kernel, which they name. False: not counted. */
bool tfstage_first(struct stage_call *call, const struct wrap_target *target,
		   const struct wrap_copy *copy, const void *iterator);
bool tfstage_first_compute(struct stage_call *call, const struct wrap_target *target,
			   const void *kernel, const void *context);

static inline bool tfstage_next(struct stage_call *call, const struct wrap_target *target,
				const struct wrap_copy *copy, const void *iterator)
{
	if (!activate_on())
		return false;
	if (unlikely(!stage_begin(call, iterator)))
		return tfstage_first(call, target, copy, iterator);
	return true;
}

/* Returns false if stage_end() need not follow. */
static inline bool tfstage_compute(struct stage_call *call, const struct wrap_target *target,
				   const void *kernel, const void *context)
{
	const uint16_t number = activate_on() ? stage_begin_leaf(call, kernel) : STAGE_NONE;

	if (unlikely(number == STAGE_UNNAMED))
		return tfstage_first_compute(call, target, kernel, context);
	return number;
}

bool tfstage_instantiate(struct stage_call *call);

void tfstage_born(const struct wrap_copy *copy, const void *kernel);
