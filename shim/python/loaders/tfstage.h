/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfstage.h - times the stages of tf.data's pipelines, and the kernels that they call.
 *
 * A stage is an iterator. A kernel is an operation in a stage's function: only kernels made while a
 * stage prepares its function are recorded, so none of the training's.
 */
#pragma once

#include <stdbool.h>

#include "batch/stage.h"
#include "slots/wrap.h"

#define TFSTAGE_ITERATOR_NAME                                                                      \
	"_ZN10tensorflow4data19DatasetBaseIterator16BuildTraceMeNameB5cxx11Ev"
#define TFSTAGE_KERNEL_NAME                                                                        \
	"_ZNK10tensorflow8OpKernel11TraceStringB5cxx11ERKNS_15OpKernelContextEb"

/* Begins a call of a stage. Returns false if the call is not counted. */
bool tfstage_next(struct stage_call *call, const struct wrap_target *target,
		  const struct wrap_copy *copy, const void *iterator);

bool tfstage_compute(struct stage_call *call, const struct wrap_target *target, const void *kernel,
		     const void *context);

bool tfstage_instantiate(struct stage_call *call);

void tfstage_born(const struct wrap_copy *copy, const void *kernel);
