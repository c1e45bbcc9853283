/* SPDX-License-Identifier: Apache-2.0 */
/* common.h - what the fakes share: settings by environment, the call log, the clock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

/* Returns the environment variable FAKE_`name` as a number, or `otherwise` if it is not set. */
long knob(const char *name, long otherwise);
const char *knob_text(const char *name);

/* Appends a line "NS PID TID TEXT" to the file that FAKE_LOG names, if that is set. */
void call_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reads /proc/self/maps and /proc/cpuinfo, as CUPTI does in the calling thread, and `path`. */
void read_settings(const char *path);

uint64_t now_ns(void); /* reads CLOCK_MONOTONIC */
void sleep_until(uint64_t ns);
uint32_t thread_id(void);
