/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lag.h - what passes between a worker and the training beside loads and steps: until a load begins
 * that could, until a finished batch can be taken, until an epoch's first load begins.
 *
 * Found by walking through the recorded times as analysis/replay.c does through its own. With
 * PyTorch it is some tenths of a millisecond each, more where others keep the cores busy.
 */
#pragma once

#include "analysis/trace.h"

struct lag_input {
	float *wait_ns;
	uint8_t *is_ready; /* when it was asked for */
	double receive_ns; /* what taking a batch in costs on average; NAN */
};

/*
 * Of a trace that has its loads as they were, steps, epochs and, as hand-over, all that came after
 * the load's end, NAN where that is not known. Fills the lags, the epochs' starts and the
 * latencies; what of a hand-over is latency is taken out of it. 0 or -ENOMEM.
 */
int lag_find(struct trace *trace, int32_t prefetch_factor, const struct lag_input *input);
