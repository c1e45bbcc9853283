/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.h - numbers as people and as programs read them. Our programs leave LC_NUMERIC at "C".
 */
#pragma once

#include <stdint.h>

/* Enough for anything these functions write. */
#define UNITS_MAX 48

/*
 * Each fills `buffer` (UNITS_MAX bytes) and returns it. What is unknown (NAN, INT64_MIN) becomes
 * "?" for people and "" for programs.
 */

/* A length of time to three digits: "20.1 s", "1.90 s", "104 ms", "12 us", "3 h 20 min". */
const char *units_time(char *buffer, double ns);

/* A share (0-1) as a percentage: "67 %", "4.9 %", "< 0.1 %". */
const char *units_share(char *buffer, double share);

/* A count with separators: "12,410". */
const char *units_count(char *buffer, int64_t count);

/* So many a second, to three digits: "6.47", "64,700". */
const char *units_rate(char *buffer, double rate);

/* "3.1x"; more digits where the factor is near 1. */
const char *units_factor(char *buffer, double factor);

/* Bytes: "154 MB", "12.3 kB" (powers of 1000). */
const char *units_bytes(char *buffer, double bytes);

/* A time of the wall clock as strftime() has it, in UTC; "" for none. */
__attribute__((format(strftime, 3, 0))) const char *units_date(char *buffer, int64_t unix_ns,
							       const char *format);

/* For programs: nanoseconds as seconds, exactly: "1.000000001". */
const char *units_seconds(char *buffer, int64_t ns);

/* For programs: the shortest of up to 9 digits that keeps the value. */
const char *units_number(char *buffer, double value);

/* The same in a buffer of their own, which lasts as long as the block that they stand in. */
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
