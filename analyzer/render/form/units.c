/* SPDX-License-Identifier: Apache-2.0 */
#include "render/form/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "dlprof/units.h"

__attribute__((format(printf, 2, 3))) static const char *fill(char *buffer, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(buffer, UNITS_MAX, format, args);
	va_end(args);
	return buffer;
}

static const char *three_digits(char *buffer, double value, const char *unit)
{
	if (value >= 99.95)
		return fill(buffer, "%.0f %s", value, unit);
	if (value >= 9.995)
		return fill(buffer, "%.1f %s", value, unit);
	return fill(buffer, "%.2f %s", value, unit);
}

static const char *long_time(char *buffer, double s)
{
	int64_t minutes = llrint(s / 60);

	if (s < 3600)
		return fill(buffer, "%" PRId64 " min %02d s", (int64_t)(s / 60), (int)fmod(s, 60));
	if (s < 48 * 3600)
		return fill(buffer, "%" PRId64 " h %02d min", minutes / 60, (int)(minutes % 60));
	return fill(buffer, "%.1f days", s / 86400);
}

const char *units_time(char *buffer, double ns)
{
	if (isnan(ns))
		return fill(buffer, "?");
	if (ns < 0.5)
		return fill(buffer, "0 s");
	if (ns < 999.5)
		return fill(buffer, "%.0f ns", ns);
	if (ns < 999.5e3)
		return three_digits(buffer, ns / 1e3, "us");
	if (ns < 999.5e6)
		return three_digits(buffer, ns / 1e6, "ms");
	if (ns < 600e9)
		return three_digits(buffer, ns / 1e9, "s");
	return long_time(buffer, ns / 1e9);
}

const char *units_share(char *buffer, double share)
{
	double percent = share * 100;

	if (isnan(share))
		return fill(buffer, "?");
	if (percent > 0 && percent < 0.05)
		return fill(buffer, "< 0.1 %%");
	if (percent > 0 && percent < 9.95)
		return fill(buffer, "%.1f %%", percent);
	return fill(buffer, "%.0f %%", percent);
}

const char *units_count(char *buffer, int64_t count)
{
	char digits[UNITS_MAX];
	size_t length, i, n = 0;

	if (count == INT64_MIN)
		return fill(buffer, "?");
	length = (size_t)snprintf(digits, sizeof(digits), "%" PRId64, count);
	for (i = 0; i < length; i++) {
		buffer[n++] = digits[i];
		if (digits[i] != '-' && i + 1 < length && (length - i - 1) % 3 == 0)
			buffer[n++] = ',';
	}
	buffer[n] = '\0';
	return buffer;
}

const char *units_rate(char *buffer, double rate)
{
	double scale;

	if (isnan(rate))
		return fill(buffer, "?");
	if (rate < 999.5)
		return fill(buffer, "%.3g", rate);
	rate = fmin(rate, 1e15);
	scale = pow(10, floor(log10(rate)) - 2);
	return units_count(buffer, llrint(rate / scale) * llrint(scale));
}

const char *units_factor(char *buffer, double factor)
{
	if (isnan(factor))
		return fill(buffer, "?");
	if (factor < 1.995)
		return fill(buffer, "%.2fx", factor);
	if (factor < 99.5)
		return fill(buffer, "%.1fx", factor);
	return fill(buffer, "%.0fx", factor);
}

const char *units_bytes(char *buffer, double bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
	size_t i = 0;

	if (isnan(bytes))
		return fill(buffer, "?");
	while (bytes >= 999.5 && i + 1 < ARRAY_COUNT(units)) {
		bytes /= 1000;
		i++;
	}
	if (i == 0)
		return fill(buffer, "%.0f B", bytes);
	return three_digits(buffer, bytes, units[i]);
}

const char *units_seconds(char *buffer, int64_t ns)
{
	uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	if (ns == INT64_MIN)
		return fill(buffer, "%s", "");
	return fill(buffer, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", magnitude / 1000000000,
		    magnitude % 1000000000);
}

const char *units_number(char *buffer, double value)
{
	if (!isfinite(value))
		return fill(buffer, "%s", "");
	return fill(buffer, "%.9g", value);
}

const char *units_date(char *buffer, int64_t unix_ns, const char *format)
{
	time_t seconds = unix_ns / 1000000000;
	struct tm tm;

	*buffer = '\0';
	if (unix_ns >= 0 && gmtime_r(&seconds, &tm))
		strftime(buffer, UNITS_MAX, format, &tm);
	return buffer;
}
