/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - the one line that the recording root prints when it ends. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

/* A batch was delivered after `wait_ns`; `steady`: not of those that no loader can have ready. */
void summary_batch(uint64_t wait_ns, bool steady);

/* The consumer worked on a steady batch for so long. */
void summary_compute(uint64_t compute_ns);

/* Prints the line on stderr, or why nothing was recorded; nothing in other processes. */
void summary_print(void);

#endif
