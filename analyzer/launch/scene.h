/* SPDX-License-Identifier: Apache-2.0 */
/* scene.h - the patterns that `dlprof demo` shows: how long each load and step of them takes. */
#pragma once

#include <stddef.h>

struct scene_task {
	int epoch, batch, worker;
};

struct scene {
	const char *name;
	const char *cause; /* the id, for `dlprof-report --explain` */
	const char *about;
	int workers; /* 0: the training's thread loads */
	int epochs, batches;
	double load_ms, step_ms;
	double start_ms;         /* how long a worker takes to start */
	/* duration of a task's load or step; NULL: load_ms or step_ms */
	double (*load)(const struct scene *scene, const struct scene_task *task);
	double (*step)(const struct scene *scene, const struct scene_task *task);
};

extern const struct scene SCENES[];
extern const size_t SCENE_COUNT;

const struct scene *scene_find(const char *name);

/* Return a duration that varies by a tenth, in the same way in every run. */
double scene_load_ms(const struct scene *scene, const struct scene_task *task);
double scene_step_ms(const struct scene *scene, const struct scene_task *task);

/* Simulates a training (simulate.c). Returns 0; -errno: a thread could not be started. */
int simulate(const struct scene *scene);
