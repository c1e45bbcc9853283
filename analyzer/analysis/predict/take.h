/* SPDX-License-Identifier: Apache-2.0 */
/* take.h - makes the trace of a series, for replay.h. */
#pragma once

#include "analysis/account/stall.h"
#include "analysis/predict/trace.h"

/* Makes the trace; empty if loads or steps are unknown. Call trace_done() also after an error. */
int take_trace(const struct batch_series *series, const struct finding *finding, struct trace *ret);
