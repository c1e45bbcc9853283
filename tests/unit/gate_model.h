/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_model.h - simulates runs of a loader, as a gate sees them. For the tests of the gate, and
 * for the study of how often the gate is wrong (tests/bench/gate_study.c).
 */
#pragma once

#include "analysis/gate/gate.h"

/* How loads, hand-overs and epochs vary; times in ms. */
struct gate_family {
	const char *name;
	double spread;  /* coefficient of variation of lognormal loads */
	double memory;  /* correlation of a load's logarithm with that of the load before */
	double tail;    /* exponent of Pareto's distribution of loads; 0: they are lognormal */
	double drift;   /* coefficient of variation of a factor that all loads of a run share */
	bool burst;     /* at times all workers are slow for a while */
	double receive; /* mean time to hand over a batch, lognormal, variation .5; 0: always .3 */
	size_t epochs;  /* number of epochs of equal length; 0: one */
	double restart; /* mean time to make an iterator, variation .2; ending one takes a third */
	int64_t lost;   /* number of a run's lost records */
};

#define GATE_MODEL_WORKERS  4
#define GATE_MODEL_PREFETCH 2

/* Sets the seed of the next runs. */
void gate_model_seed(uint64_t seed);

double gate_model_normal(void);

/*
 * Simulates `count` batches with steps of 50 ms; rho = load / workers / step. interval: computes
 * the bootstrap interval too. Aborts if memory runs out.
 */
struct gate_sample gate_model_run(const struct gate_family *family, double rho, size_t count,
				  bool interval);
