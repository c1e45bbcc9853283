/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfstage.h - the stages of tf.data's pipelines, and the kernels that they call.
 *
 * Each stage is an iterator, which is asked by GetNext; a kernel is an operation of a function that
 * a stage calls for an element. The kernels of the training are none: only those count that were
 * made while a stage made its function ready, or that another such kernel made.
 */
#pragma once

#include <stdbool.h>

#include "batch/stage.h"
#include "slots/wrap.h"

/* What TensorFlow's own functions are called to find a name. */
#define TFSTAGE_ITERATOR_NAME                                                                      \
	"_ZN10tensorflow4data19DatasetBaseIterator16BuildTraceMeNameB5cxx11Ev"
#define TFSTAGE_KERNEL_NAME                                                                        \
	"_ZNK10tensorflow8OpKernel11TraceStringB5cxx11ERKNS_15OpKernelContextEb"

/* Around GetNext of an iterator. False: it is not counted. */
bool tfstage_next(struct stage_call *call, const struct wrap_target *target,
		  const struct wrap_copy *copy, const void *iterator);

/* Around Compute of a kernel. False: it is none of the pipeline. */
bool tfstage_compute(struct stage_call *call, const struct wrap_target *target, const void *kernel,
		     const void *context);

/* A stage makes its function ready: always true. */
bool tfstage_instantiate(struct stage_call *call);

/* A kernel was made. */
void tfstage_born(const struct wrap_copy *copy, const void *kernel);
