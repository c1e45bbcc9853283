/* SPDX-License-Identifier: Apache-2.0 */
/* scene.h - the patterns that `dlprof demo` shows: how long loads and steps take. */
#pragma once

#include <stddef.h>

struct scene_task {
	int epoch, batch, worker;
};

struct scene {
	const char *name;
	const char *cause; /* what the report should find: an id of `dlprof-report --explain` */
	const char *about;
	int workers; /* 0: the training loads by itself */
	int epochs, batches;
	double load_ms, step_ms; /* usual times */
	double start_ms;         /* start-up of a worker, before its first task */
	/* Exceptions to the usual times; NULL: none. */
	double (*load)(const struct scene *scene, const struct scene_task *task);
	double (*step)(const struct scene *scene, const struct scene_task *task);
};

extern const struct scene SCENES[];
extern const size_t SCENE_COUNT;

/* NULL: there is no pattern with this name. */
const struct scene *scene_find(const char *name);

/* Times with a tenth of variation that is the same in every run. */
double scene_load_ms(const struct scene *scene, const struct scene_task *task);
double scene_step_ms(const struct scene *scene, const struct scene_task *task);

/* simulate.c: trains the scene to its end. 0, or -errno if no threads can be made. */
int simulate(const struct scene *scene);
