/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_json.h - what is known of the GPU, as JSON has it. */
#pragma once

#include "render/jsonw.h"
#include "render/report.h"

/* "gpu": null where nothing is known of one. */
void gpu_json(const struct report *report, struct jsonw *json);

/* Members of "coverage". */
void gpu_json_coverage(const struct report *report, struct jsonw *json);
