/* SPDX-License-Identifier: Apache-2.0 */
/* common.h - what the fakes share: settings by environment, the call log, the clock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

/* FAKE_name of the environment as a number, else otherwise. */
long knob(const char *name, long otherwise);
const char *knob_text(const char *name);

/* A line "ns pid tid text" at the end of the file FAKE_LOG; nothing without it. */
void call_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The maps and CPUs, as the real CUPTI reads them on the thread that calls CUDA, and `path`. */
void read_settings(const char *path);

uint64_t now_ns(void); /* CLOCK_MONOTONIC */
void sleep_until(uint64_t ns);
uint32_t thread_id(void);
