/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dali.h - times the stages of DALI's pipelines, by time ranges (DomainTimeRange) that DALI marks.
 *
 * GPU operators are left out, because their work goes on after the range.
 */
#pragma once

#include "slots/wrap.h"

extern HIDDEN const struct wrap_set dali_slots;
