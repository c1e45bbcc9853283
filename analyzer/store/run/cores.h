/* SPDX-License-Identifier: Apache-2.0 */
/* cores.h - reads how many cores a run could use, and how many other programs used or wanted. */
#pragma once

#include "store/database/run.h"

void cores_read(const struct run_info *run, struct batch_series *series);
