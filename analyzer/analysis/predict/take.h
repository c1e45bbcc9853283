/* SPDX-License-Identifier: Apache-2.0 */
/* take.h - what of a series can be replayed. */
#pragma once

#include "analysis/account/stall.h"
#include "analysis/predict/trace.h"

/*
 * Of a judged series; of a long one parts are taken. An empty trace where loads or steps are
 * unknown. 0 or -ENOMEM; trace_done() in either case.
 */
int take_trace(const struct batch_series *series, const struct finding *finding, struct trace *ret);
