/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/scene.h"

#include <stdint.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "dlprof/units.h"

#define VARIATION 0.1

/* Returns a random number from 0 to 1 for a task. It is the same in every run. */
static double chance(const struct scene_task *task, uint64_t salt)
{
	uint64_t state = (uint64_t)task->epoch * 1000003 + (uint64_t)task->batch + (salt << 40);

	return (double)(stats_random(&state) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Defines a function that returns how long a task's load or step takes. */
#define MS_OF(name, ms)                                                                            \
	static double name(const struct scene *scene, const struct scene_task *task)               \
	{                                                                                          \
		return ms;                                                                         \
	}
MS_OF(one_slow_worker, task->worker == 1 ? 4 * scene->load_ms : scene->load_ms)
MS_OF(now_and_then_long, chance(task, 1) < 0.06 ? 220 : scene->load_ms)
MS_OF(every_twentieth, task->batch % 20 == 7 ? 220 : scene->load_ms)
MS_OF(once, task->batch == 2 * scene->batches / 3 ? 1500 : scene->load_ms)
MS_OF(first_epoch_slow, task->epoch == 0 ? 4 * scene->load_ms : scene->load_ms)
MS_OF(checkpoint, task->batch % 25 == 24 ? 150 : scene->step_ms)

/* Now and then, the storage hangs during one load of each worker. */
static double storage_hangs(const struct scene *scene, const struct scene_task *task)
{
	const struct scene_task round = {task->epoch, task->batch / (4 * scene->workers), 0};

	return chance(&round, 2) < 0.3 && task->batch % (4 * scene->workers) < scene->workers
		       ? 250
		       : scene->load_ms;
}

const struct scene SCENES[] = {
	{"balanced", "none", "4 workers supply more than the training takes.", .workers = 4,
	 .epochs = 1, .batches = 220, .load_ms = 22, .step_ms = 10},
	{"bound", "loader_capacity",
	 "3 workers in step, each load three times what they could hide: a wait every third batch.",
	 .workers = 3, .epochs = 1, .batches = 150, .load_ms = 60, .step_ms = 10},
	{"head_of_line", "head_of_line",
	 "Fast enough on average, but some loads are long, and those behind them have to wait.",
	 .workers = 4, .epochs = 1, .batches = 260, .load_ms = 18, .step_ms = 10,
	 .load = now_and_then_long},
	{"slow_worker", "slow_worker", "One of 4 workers takes four times as long as the others.",
	 .workers = 4, .epochs = 1, .batches = 160, .load_ms = 20, .step_ms = 10,
	 .load = one_slow_worker},
	{"periodic", "periodic_slow_load", "Every 20th load opens the next shard.", .workers = 4,
	 .epochs = 1, .batches = 260, .load_ms = 18, .step_ms = 10, .load = every_twentieth},
	{"intermittent", "intermittent_loader", "Storage hangs now and then, for all workers.",
	 .workers = 4, .epochs = 1, .batches = 260, .load_ms = 18, .step_ms = 10,
	 .load = storage_hangs},
	{"isolated", "isolated_stall", "One single load that hangs.", .workers = 4, .epochs = 1,
	 .batches = 220, .load_ms = 18, .step_ms = 10, .load = once},
	{"cold_cache", "cold_cache", "The first of 3 epochs reads from storage, the others do not.",
	 .workers = 3, .epochs = 3, .batches = 60, .load_ms = 15, .step_ms = 10,
	 .load = first_epoch_slow},
	{"epoch_start", "epoch_start", "8 short epochs, and new workers for each.", .workers = 3,
	 .epochs = 8, .batches = 20, .load_ms = 15, .step_ms = 10, .start_ms = 100},
	{"checkpoint", "main_thread_periodic", "The training stops for every 25th batch.",
	 .workers = 4, .epochs = 1, .batches = 225, .load_ms = 18, .step_ms = 10,
	 .step = checkpoint},
	{"no_workers", "single_process", "num_workers=0: loading and training take turns.",
	 .workers = 0, .epochs = 1, .batches = 120, .load_ms = 12, .step_ms = 10},
};
const size_t SCENE_COUNT = ARRAY_COUNT(SCENES);

const struct scene *scene_find(const char *name)
{
	for (size_t i = 0; i < SCENE_COUNT; i++)
		if (strcmp(SCENES[i].name, name) == 0)
			return &SCENES[i];
	return NULL;
}

static double vary(double ms, const struct scene_task *task, uint64_t salt)
{
	return ms * (1 + VARIATION * (2 * chance(task, salt) - 1));
}

double scene_load_ms(const struct scene *scene, const struct scene_task *task)
{
	return vary(scene->load ? scene->load(scene, task) : scene->load_ms, task, 3);
}

double scene_step_ms(const struct scene *scene, const struct scene_task *task)
{
	return vary(scene->step ? scene->step(scene, task) : scene->step_ms, task, 4);
}
