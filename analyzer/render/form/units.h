/* SPDX-License-Identifier: Apache-2.0 */
/* units.h - writes numbers for people or programs. dlprof's programs leave LC_NUMERIC at "C". */
#pragma once

#include <stdint.h>

#define UNITS_MAX 48

/* These functions fill and return `buffer`. Unknown (NAN, INT64_MIN): "?", or "" for programs. */

/* Writes "20.1 s", "1.90 s", "104 ms", "3 h 20 min". */
const char *units_time(char *buffer, double ns);

/* Writes "67 %", "4.9 %", "< 0.1 %". */
const char *units_share(char *buffer, double share);

/* Writes "12,410". */
const char *units_count(char *buffer, int64_t count);

/* Writes a rate per second, without its unit: "6.47", "64,700". */
const char *units_rate(char *buffer, double rate);

/* Writes "3.1x", with more digits near 1. */
const char *units_factor(char *buffer, double factor);

/* Writes "154 MB", "12.3 kB", in powers of 1000. */
const char *units_bytes(char *buffer, double bytes);

/* Writes a time in UTC in the format of strftime(). */
__attribute__((format(strftime, 3, 0))) const char *units_date(char *buffer, int64_t unix_ns,
							       const char *format);

/* Writes exact seconds for programs: "1.000000001". */
const char *units_seconds(char *buffer, int64_t ns);

/* Writes for programs the fewest digits, up to 9, that keep the value. */
const char *units_number(char *buffer, double value);

#define UNITS_BUFFER        ((char[UNITS_MAX]){0})
#define UNITS_TIME(ns)      units_time(UNITS_BUFFER, ns)
#define UNITS_SHARE(share)  units_share(UNITS_BUFFER, share)
#define UNITS_COUNT(count)  units_count(UNITS_BUFFER, count)
#define UNITS_RATE(rate)    units_rate(UNITS_BUFFER, rate)
#define UNITS_FACTOR(x)     units_factor(UNITS_BUFFER, x)
#define UNITS_BYTES(bytes)  units_bytes(UNITS_BUFFER, bytes)
#define UNITS_DATE(ns, how) units_date(UNITS_BUFFER, ns, how)
#define UNITS_SECONDS(ns)   units_seconds(UNITS_BUFFER, ns)
#define UNITS_NUMBER(value) units_number(UNITS_BUFFER, value)
