/* SPDX-License-Identifier: Apache-2.0 */
/* grounds_model.h - a run of four workers that cannot keep up: loads of 100 ms, steps of 20 ms. */
#pragma once

#include "analysis/cause/diagnosis.h"

#define MS    1e6
#define LOADS 400

extern double cores;
extern int epochs;
extern const struct load_times TIMES;

/* Makes `series` without batches. */
void make_none(void);

/* Fills `series`. NULL: loads of 100 ms, by each worker in turn. */
void make(double (*load_ms)(int batch), int (*worker)(int batch));

/* Fills `finding` and `diagnosis`, and empties `series`. */
enum cause judge(const struct cause_input *input);

enum cause judge_facts(const struct load_facts *facts);
bool is_advised(enum advice_id id);

/* The loads waited for nothing, and no more is known of them. */
struct load_facts no_waits(void);
