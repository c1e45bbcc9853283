/* SPDX-License-Identifier: Apache-2.0 */
/* cores.h - reads which cores a run had, and which others wanted them. */
#pragma once

#include "store/database/run.h"

void cores_read(const struct run_info *run, struct batch_series *series);
