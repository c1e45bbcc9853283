/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/why.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "store/run/query.h"

/* Finds whether loads share a limit: only workers' loads slow each other. Returns 0 or -errno. */
static int find_flight(struct db *db, const struct why_input *input, struct flight *ret)
{
	struct flight_load *loads;
	size_t count;
	int r;

	*ret = (struct flight){.growth = NAN, .z = NAN, .limit_per_s = NAN};
	if (input->series->workers < 1 || !input->finding->starved)
		return 0;
	loads = calloc(FLIGHT_MOST, sizeof(*loads));
	r = loads ? batch_flights(db, input->filter, loads, &count) : -ENOMEM;
	if (r == 0)
		r = flight_find(loads, count, series_busy_workers(input->series), ret);
	free(loads);
	return r;
}

static int find(struct db *db, const struct why_input *input, const struct stages *stages,
		struct diagnosis *ret)
{
	const struct load_facts *facts = input->known.facts;
	struct load_times loads = batch_totals_times(input->totals);
	struct slow_sample samples[WHY_SAMPLES];
	struct slow_work work = {0};
	struct flight flight;
	struct cause_input known = input->known;
	int r = find_flight(db, input, &flight);

	if (facts && facts->decode_wait_ns > 0)
		load_take_waits(&loads, facts->decode_wait_ns / facts->load_ns);
	known.loads = &loads;
	known.flight = &flight;
	known.stages = stages;
	known.samples = samples;
	for (size_t i = 0; i < input->samples->count && i < WHY_SAMPLES; i++)
		samples[known.sample_count++] = (struct slow_sample){
			(double)input->samples->items[i].ns,
			(double)input->samples->items[i].count,
		};
	if (r == 0)
		r = cause_find(input->series, input->finding, &known, ret);
	if (r < 0 || (!ret->slow.count && !ret->slow.every))
		return r;
	known.work = &work;
	r = batch_reads(db, input->filter, SLOW_WORKERS, work.loads, work.bytes);
	return r < 0 ? r : cause_find(input->series, input->finding, &known, ret);
}

int why_find(struct db *db, const struct why_input *input, struct diagnosis *ret)
{
	struct stages own = {0}, *stages = input->stages ? input->stages : &own;
	int r = 0;

	if (!input->stages)
		r = stages_read(db, input->filter->loader_id, false, stages);
	if (r == 0)
		r = find(db, input, stages, ret);
	/* If a cache serves later epochs, the first epoch's stages do not explain them. */
	if (r == 0 && ret->stages.is_served) {
		stages_done(stages);
		r = stages_read(db, input->filter->loader_id, true, stages);
		if (r == 0)
			r = find(db, input, stages, ret);
	}
	stages_done(&own);
	return r;
}
