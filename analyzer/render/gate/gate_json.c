/* SPDX-License-Identifier: Apache-2.0 */
/* gate_json.c - writes the gate as `dlprof.gate/2`. gate.def and calibration.def have the keys. */
#include <assert.h>
#include <string.h>

#include "render/form/facts.h"
#include "render/gate/gate.h"

static_assert(GATE_PART_MAX == 6, "state.def has a row for each");

static const char *const RULES[] = {[GATE_BOUND] = "bound", [GATE_SEPARATION] = "separation"};

static double in_base_units(enum gate_metric metric, double value)
{
	return gate_metrics[metric].unit == GATE_TIME ? value / NS_PER_S : value;
}

void gate_json(const struct gate_report *report, FILE *out)
{
	static const char *const suspects[] = {
		[GATE_SUSPECT_LOAD] = "load",
		[GATE_SUSPECT_COMPUTE] = "compute",
		[GATE_SUSPECT_OTHER] = "other",
	};
	struct jsonw writer, *json = &writer;
	char text[GATE_WORDS];

	jsonw_begin(json, out, "dlprof.gate/2");
#include "render/gate/gate.def"
	jsonw_close(json, '}');
}

void gate_calibration_json(const struct gate_limit *limit,
			   const struct gate_calibration *calibration, FILE *out)
{
	struct jsonw writer, *json = &writer;

	jsonw_begin(json, out, "dlprof.gate/2");
#include "render/gate/calibration.def"
	jsonw_close(json, '}');
}
