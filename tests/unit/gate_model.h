/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_model.h - runs of a simulated loader whose truth is known, as a gate sees them. For the
 * tests of the gate, and for the study of how often it is wrong (tests/bench/gate_study.c).
 */
#pragma once

#include "analysis/gate/gate.h"

/* How loads, hand-overs and epochs vary; times in ms. */
struct gate_family {
	const char *name;
	double spread;  /* coefficient of variation of lognormal loads */
	double memory;  /* of the logarithm: correlation with the load before */
	double tail;    /* exponent of Pareto loads instead; 0: lognormal */
	double drift;   /* CV of a factor that all loads of a run share */
	bool burst;     /* now and then all are slow for a while */
	double receive; /* mean of handing over a batch, lognormal of CV .5; 0: .3 always */
	size_t epochs;  /* of equal length; 0: one */
	double restart; /* mean of making an iterator, CV .2, and a third of it of ending one */
	int64_t lost;   /* records of a run */
};

#define GATE_MODEL_WORKERS  4
#define GATE_MODEL_PREFETCH 2

/* From here on the runs are those of this seed. */
void gate_model_seed(uint64_t seed);

double gate_model_normal(void);

/*
 * One run of `count` batches, steps of 50 ms; rho = load / workers / step. `interval`: with its
 * bootstrap. Aborts without memory.
 */
struct gate_sample gate_model_run(const struct gate_family *family, double rho, size_t count,
				  bool interval);
