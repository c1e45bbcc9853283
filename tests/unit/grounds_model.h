/* SPDX-License-Identifier: Apache-2.0 */
/* grounds_model.h - makes runs whose four workers cannot keep up: loads of 100 ms, steps of 20. */
#pragma once

#include "analysis/cause/diagnosis.h"

#define MS    1e6
#define LOADS 400

extern double cores;
extern int epochs;
extern const struct load_times TIMES;

/* Makes `series` without batches. */
void make_none(void);

/* Fills `series`. load_ms NULL: 100 ms; worker NULL: each worker in turn. */
void make(double (*load_ms)(int batch), int (*worker)(int batch));

/* Judges `series` and empties it; fills `finding` and `diagnosis`, and returns the cause. */
enum cause judge(const struct cause_input *input);

enum cause judge_facts(const struct load_facts *facts);
bool is_advised(enum advice_id id);
const struct advice *advised(enum advice_id id); /* NULL: not advised */

/* Returns facts of loads that waited for nothing, and of which no more is known. */
struct load_facts no_waits(void);

/*
 * Judges a run whose batches are finished, but take 60 ms to receive, of which asking for
 * descriptors takes `fetch_ms`. With four workers a load may take 400 ms before it delays a step.
 */
enum cause judge_delivery(double fetch_ms, double fetch_count, double cpu_share, double load_ms,
			   const struct cause_input *input);
