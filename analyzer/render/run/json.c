/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - writes the report as `dlprof.report/3`; report.def has all keys. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/account/load.h"
#include "render/form/facts.h"
#include "render/form/units.h"
#include "render/run/code.h"
#include "render/run/ended.h"
#include "render/run/parts.h"
#include "store/run/facts.h"
#include "store/run/lines.h"

/* report.def has one row for each value of these enums, so a new value needs a new row. */
static_assert(ACCOUNT_PART_MAX == 5 && STEP_PART_MAX == 7 && LOAD_WAIT_MAX == 10 &&
		      GPU_GAP_MAX == 5 && GPU_SYNC_MAX == 3,
	      "report.def lacks a part");

void report_json(const struct report *report, FILE *out)
{
	const struct run_info *run = &report->run;
	const struct loader_info *loader = report->loader;
	const struct finding *finding = &report->finding;
	const struct account *account = &finding->account;
	const struct diagnosis *diagnosis = &report->diagnosis;
	const struct whatif *whatif = &diagnosis->whatif;
	const struct advice_list *advice = &diagnosis->advice;
	const struct growth *growth = &diagnosis->grounds.growth;
	const struct growth *step_growth = &diagnosis->grounds.step_growth;
	const struct load_totals *totals = &report->totals;
	const struct load_facts *facts = &report->facts;
	const struct inside *inside = &report->inside;
	const struct gpu_info *gpu = &report->gpu;
	const struct gpu_sums *sums = &report->gpu_sums;
	const struct gpu_use *use = &report->gpu_use;
	const struct gpu_call_sums *calls = &report->gpu_calls;
	const struct gpu_device_list *devices = &report->gpu_devices;
	struct inside_parts parts = inside_parts(inside);
	struct jsonw writer, *json = &writer;

	jsonw_begin(json, out, "dlprof.report/3");
#include "render/run/report.def"
	jsonw_close(json, '}');
	free(parts.items);
}
