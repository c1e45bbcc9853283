/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_place.h - finds signs that ranks were aligned wrongly: they number their first batches
 * differently, or a rank begins and ends earlier, or later, than the others.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

int rank_place_judge(const struct rank_job *job, struct rank_finding *ret);
