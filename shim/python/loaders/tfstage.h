/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfstage.h - times the stages of tf.data's pipelines, and the kernels that they call.
 *
 * Each stage is an iterator, which is asked by GetNext; a kernel is an operation of a function that
 * a stage calls for an element. The training's kernels do not count: only those do that were made
 * while a stage prepared its function, or that another such kernel made.
 */
#pragma once

#include <stdbool.h>

#include "batch/stage.h"
#include "slots/wrap.h"

/* TensorFlow's own functions that are called to find a name. */
#define TFSTAGE_ITERATOR_NAME                                                                      \
	"_ZN10tensorflow4data19DatasetBaseIterator16BuildTraceMeNameB5cxx11Ev"
#define TFSTAGE_KERNEL_NAME                                                                        \
	"_ZNK10tensorflow8OpKernel11TraceStringB5cxx11ERKNS_15OpKernelContextEb"

/* Begins GetNext of an iterator. False: the call is not counted. */
bool tfstage_next(struct stage_call *call, const struct wrap_target *target,
		  const struct wrap_copy *copy, const void *iterator);

/* Begins Compute of a kernel. False: it does not belong to a pipeline. */
bool tfstage_compute(struct stage_call *call, const struct wrap_target *target, const void *kernel,
		     const void *context);

/* Notes that a stage prepares its function; always true. */
bool tfstage_instantiate(struct stage_call *call);

/* Notes that a kernel was made. */
void tfstage_born(const struct wrap_copy *copy, const void *kernel);
