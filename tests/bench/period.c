/* SPDX-License-Identifier: Apache-2.0 */
/*
 * period.c - how often the period test is wrong, how often it finds what is there, how long it
 * takes. `period false N`: N series of each aperiodic family; exit status 1 if more than 0.1 % have
 * a period. `period power N`: a table of its power. `period speed BATCHES`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/period/period.h"

#define MS          1e6
#define THETA       (10 * MS)
#define MOST_LENGTH 5000
#define FALSE_MOST  0.001

static uint64_t seed;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double exponential(double mean)
{
	return -mean * log(uniform());
}

static double normal(void)
{
	return sqrt(exponential(2)) * cos(6.283185307179586 * uniform());
}

static size_t geometric(double mean)
{
	return (size_t)(log(uniform()) / log(1 - 1 / mean));
}

static void sparse(double *x, size_t n, double share)
{
	for (size_t i = 0; i < n; i++)
		x[i] = uniform() < share ? 1000 * MS : MS;
}

static void autoregressive(double *x, size_t n, double a)
{
	double state = 0;

	for (size_t i = 0; i < n; i++) {
		state = a * state + sqrt(1 - a * a) * normal();
		x[i] = 100 * MS * exp(state);
	}
}

static void outliers(double *x, size_t n, int count)
{
	for (size_t i = 0; i < n; i++)
		x[i] = exponential(20 * MS);
	while (count--)
		x[(size_t)(uniform() * (double)n)] = 20000 * MS;
}

static void bursts(double *x, size_t n, size_t length)
{
	for (size_t i = 0; i < n; i++)
		x[i] = MS;
	for (size_t i = geometric(5 * (double)length); i < n; i += geometric(5 * (double)length))
		for (size_t k = 0; k < length && i < n; k++)
			x[i++] = 500 * MS;
}

static void dead_time(double *x, size_t n, size_t dead, double mean)
{
	for (size_t i = 0; i < n; i++)
		x[i] = MS;
	for (size_t i = geometric(mean); i < n; i += dead + geometric(mean))
		x[i] = 1000 * MS;
}

/* Waits of a queue that is served first come, first served; some samples are slow. */
static void queue(double *x, size_t n, size_t workers, double load, double cv, double slow_share,
		  double step)
{
	double free[64] = {0}, now = 0, delivered[64] = {0}, variance = log(1 + cv * cv);

	for (size_t i = 0; i < n; i++) {
		size_t best = 0;
		double ns = load * exp(sqrt(variance) * normal() - variance / 2);

		for (size_t w = 1; w < workers; w++)
			if (free[w] < free[best])
				best = w;
		if (uniform() < slow_share)
			ns *= 10;
		if (free[best] < delivered[i % (2 * workers)])
			free[best] = delivered[i % (2 * workers)];
		free[best] += ns;
		x[i] = free[best] > now ? free[best] - now : MS;
		now += x[i];
		delivered[i % (2 * workers)] = now;
		now += step;
	}
}

#define FAMILIES 23

static const char *make_family(int family, double *x, size_t n)
{
	double level = 0;
	size_t i;

	switch (family) {
	case 0:
		for (i = 0; i < n; i++)
			x[i] = exponential(100 * MS);
		return "exponential";
	case 1:
		return sparse(x, n, 0.02), "sparse 2 %";
	case 2:
		return sparse(x, n, 0.10), "sparse 10 %";
	case 3:
		return sparse(x, n, 0.30), "sparse 30 %";
	case 4:
		return autoregressive(x, n, 0.5), "AR(1) .5";
	case 5:
		return autoregressive(x, n, 0.9), "AR(1) .9";
	case 6:
		return autoregressive(x, n, 0.99), "AR(1) .99";
	case 7:
		return autoregressive(x, n, -0.4), "AR(1) -.4";
	case 8:
		return outliers(x, n, 1), "1 outlier";
	case 9:
		return outliers(x, n, 3), "3 outliers";
	case 10:
		for (i = 0; i < n; i++)
			x[i] = exponential(200 * MS * (double)i / (double)n);
		return "trend";
	case 11:
		for (i = 0; i < n; i++)
			x[i] = exponential(i < n / 2 ? 10 * MS : 200 * MS);
		return "step";
	case 12:
		return bursts(x, n, 5), "bursts of 5";
	case 13:
		return bursts(x, n, 30), "bursts of 30";
	case 14:
		for (i = 0; i < n; i++)
			x[i] = 10 * MS * pow(uniform(), -1 / 1.2);
		return "Pareto 1.2";
	case 15:
		return dead_time(x, n, 5, 15), "dead 5 + geom 15";
	case 16:
		return dead_time(x, n, 8, 8), "dead 8 + geom 8";
	case 17:
		for (i = 0; i < n; i++)
			x[i] = 10 * MS * fabs(level += normal());
		return "random walk";
	case 18:
		return queue(x, n, 8, 800 * MS, 1, 0, 50 * MS), "queue, CV 1";
	case 19:
		return queue(x, n, 8, 80 * MS, 0.2, 0.01, 50 * MS), "rare slow samples";
	case 20:
		return queue(x, n, 4, 150 * MS, 0.3, 0.05, 50 * MS), "slow samples";
	case 21:
		for (i = 0; i < n; i++)
			x[i] = 50 * MS + 20 * MS * normal();
		return "normal, near theta";
	default:
		for (i = 0; i < n; i++) {
			if (uniform() < 0.02)
				level = uniform() < 0.5 ? 0 : 300 * MS;
			x[i] = exponential(level + MS);
		}
		return "on and off";
	}
}

/* `breaks`: the training stops every 20 to 60 batches. */
static struct period test(const double *x, size_t n, int32_t workers, bool breaks)
{
	struct batch_series series;
	struct period period;
	struct events_query of_steps = {.series = &series, .theta_ns = THETA};
	size_t next = 20;

	series_init(&series);
	series.workers = workers;
	for (size_t i = 0; i < n; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.batch = (int32_t)i;
		row.wait_ns = (int64_t)x[i];
		row.compute_ns = 0;
		if (breaks && i == next) {
			row.compute_ns = (int64_t)(2000 * MS);
			next += 20 + (size_t)(40 * uniform());
		}
		if (series_append(&series, &row) < 0)
			abort();
	}
	of_steps.values = series.compute_ns;
	if (period_find(&(struct events_query){.series = &series,
					       .values = series.wait_ns,
					       .theta_ns = THETA,
					       .from_start = true,
					       .breaks = &of_steps},
			&period) < 0)
		abort();
	series_done(&series);
	return period;
}

static int count_false(size_t count)
{
	static const size_t lengths[] = {100, 500};
	static double x[MOST_LENGTH];
	size_t all = 0, wrong = 0, most = 0;

	for (int family = 0; family < FAMILIES; family++) {
		const char *name = "";

		for (int l = 0; l < 2; l++) {
			for (int known = 0; known < 2; known++) {
				size_t found = 0, regular = 0;

				for (size_t i = 0; i < count; i++) {
					struct period period;

					seed = (uint64_t)(family * 4 + l * 2 + known + 1) *
						       UINT64_C(0x9e3779b97f4a7c15) ^
					       (i + 1) * UINT64_C(0xbf58476d1ce4e5b9);
					uniform();
					name = make_family(family, x, lengths[l]);
					period = test(x, lengths[l], known ? 8 : -1, i % 2);
					found += period.batches != 0;
					regular += period.regular;
				}
				if (found)
					printf("%-20s N=%-4zu W %s: %zu of %zu, regular %zu\n",
					       name, lengths[l], known ? "= 8" : "unknown", found,
					       count, regular);
				all += count;
				wrong += found;
				most = found > most ? found : most;
			}
		}
		fflush(stdout);
	}
	printf("%d families, %zu series, %zu with a period: %.4f %%; the worst cell %.3f %%\n",
	       FAMILIES, all, wrong, 100.0 * (double)wrong / (double)all,
	       100.0 * (double)most / (double)count);
	return (double)wrong > FALSE_MOST * (double)all;
}

#define CONDITIONS 11

static size_t make_periodic(int condition, double *x, size_t n, size_t period, const char **name)
{
	size_t phase = (size_t)(uniform() * (double)period), count = 0, i;
	double lost = 0;

	for (i = 0; i < n + n / 10 && count < n; i++) {
		size_t at = condition == 10 ? i % 97 : i;
		bool spike = at % period == phase;

		switch (condition) {
		case 0:
			*name = "clean";
			break;
		case 1:
			*name = "20 % missed";
			spike = spike && uniform() > 0.2;
			break;
		case 2:
			*name = "50 % missed";
			spike = spike && uniform() > 0.5;
			break;
		case 3:
			*name = "5 % extra";
			spike = spike || uniform() < 0.05;
			break;
		case 4:
			*name = "20 % extra";
			spike = spike || uniform() < 0.2;
			break;
		case 5:
			*name = "jitter on 20 %";
			break;
		case 6:
			*name = "jitter on 50 %";
			break;
		case 7:
			*name = "always starved";
			break;
		case 8:
			*name = "0.5 % lost";
			lost = 0.005;
			break;
		case 9:
			*name = "2 % lost";
			lost = 0.02;
			break;
		default:
			*name = "unknown epochs of 97";
		}
		if (uniform() < lost)
			continue;
		x[count] = condition == 7 ? exponential(100 * MS) + (spike ? 300 * MS : 0)
			   : spike        ? 1000 * MS
					  : MS;
		count++;
	}
	for (i = 1; (condition == 5 || condition == 6) && i + 1 < n; i++) {
		if (i % period != phase || uniform() > (condition == 5 ? 0.2 : 0.5))
			continue;
		x[i] = MS;
		x[uniform() < 0.5 ? i - 1 : i + 1] = 1000 * MS;
	}
	return count;
}

static int show_power(size_t count)
{
	static const size_t lengths[] = {50, 100, 500, 5000}, periods[] = {4, 8, 16, 32};
	static double x[MOST_LENGTH];

	puts("right period, W unknown | W known; in brackets: wrong period, W unknown");
	for (int condition = 0; condition < CONDITIONS; condition++) {
		for (int l = 0; l < 4; l++) {
			const char *name = "";

			for (int p = 0; p < 4; p++) {
				size_t right[2] = {0}, wrong = 0,
				       some = l < 3 ? count : count / 10 + 1;

				for (size_t i = 0; i < 2 * some; i++) {
					struct period found;
					size_t n;

					seed = (uint64_t)(condition * 64 + l * 16 + p + 1) *
						       UINT64_C(0x9e3779b97f4a7c15) ^
					       (i + 1) * UINT64_C(0xbf58476d1ce4e5b9);
					uniform();
					n = make_periodic(condition, x, lengths[l], periods[p],
							  &name);
					found = test(x, n, i % 2 ? (int32_t)periods[p] : -1,
						     false);
					right[i % 2] += found.batches == (int64_t)periods[p];
					wrong += i % 2 == 0 && found.batches &&
						 found.batches != (int64_t)periods[p];
				}
				if (!p)
					printf("%-22s N=%-5zu", name, lengths[l]);
				printf("  P%-2zu %.2f | %.2f (%.2f)", periods[p],
				       (double)right[0] / (double)some,
				       (double)right[1] / (double)some,
				       (double)wrong / (double)some);
			}
			putchar('\n');
			fflush(stdout);
		}
	}
	return 0;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* All starved, which leaves nothing to skip; and with a spike every 8. */
static int show_speed(size_t count)
{
	for (int spiky = 0; spiky < 2; spiky++) {
		struct batch_series series;
		struct period period;
		double begin;

		seed = 88172645463325252u;
		series_init(&series);
		for (size_t i = 0; i < count; i++) {
			struct batch_row row = BATCH_ROW_UNKNOWN;

			row.batch = (int32_t)i;
			row.wait_ns = (int64_t)(exponential(100 * MS) + THETA +
						(spiky && i % 8 == 3 ? 1000 * MS : 0));
			if (series_append(&series, &row) < 0)
				return 1;
		}
		begin = seconds();
		if (period_find(&(struct events_query){.series = &series,
						       .values = series.wait_ns,
						       .theta_ns = THETA,
						       .from_start = true},
				&period) < 0)
			return 1;
		printf("%zu batches%s: %.3f s of CPU, period %ld\n", count,
		       spiky ? ", a spike every 8" : "", seconds() - begin, (long)period.batches);
		series_done(&series);
	}
	return 0;
}

int main(int argc, char **argv)
{
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (argc > 2 && strcmp(argv[1], "false") == 0)
		return count_false(count);
	if (argc > 2 && strcmp(argv[1], "power") == 0)
		return show_power(count);
	if (argc > 2 && strcmp(argv[1], "speed") == 0)
		return show_speed(count);
	fputs("usage: period false|power|speed COUNT\n", stderr);
	return 2;
}
