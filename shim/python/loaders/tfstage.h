/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfstage.h - times the stages of tf.data's pipelines, and the kernels that they call.
 *
 * A stage is an iterator, asked by GetNext(). A kernel is an operation in a function that a stage
 * calls for each element. A kernel is recorded only if it was made while a stage prepared its
 * function, or by another such kernel, so kernels of the training are not.
 */
#pragma once

#include <stdbool.h>

#include "batch/stage.h"
#include "slots/wrap.h"

/* Functions of TensorFlow that are called to find a name. */
#define TFSTAGE_ITERATOR_NAME                                                                      \
	"_ZN10tensorflow4data19DatasetBaseIterator16BuildTraceMeNameB5cxx11Ev"
#define TFSTAGE_KERNEL_NAME                                                                        \
	"_ZNK10tensorflow8OpKernel11TraceStringB5cxx11ERKNS_15OpKernelContextEb"

/* Begins an iterator's GetNext(). Returns false if the call is not counted. */
bool tfstage_next(struct stage_call *call, const struct wrap_target *target,
		  const struct wrap_copy *copy, const void *iterator);

/* Begins a kernel's Compute(). Returns false if the kernel belongs to no pipeline. */
bool tfstage_compute(struct stage_call *call, const struct wrap_target *target, const void *kernel,
		     const void *context);

/* Notes that a stage prepares its function. Always returns true. */
bool tfstage_instantiate(struct stage_call *call);

/* Notes that a kernel was made. */
void tfstage_born(const struct wrap_copy *copy, const void *kernel);
