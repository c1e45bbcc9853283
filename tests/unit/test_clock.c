/* SPDX-License-Identifier: Apache-2.0 */
/* Tests lengths of time by the CPU's counter against the kernel's clock. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

static bool is_trusted(void)
{
	char name[64] = "";
	FILE *file = fopen(CLOCKSOURCE, "r");

	if (file && !fgets(name, sizeof(name), file))
		name[0] = '\0';
	if (file)
		fclose(file);
	return strcmp(name, "tsc\n") == 0 || strcmp(name, "kvm-clock\n") == 0 ||
	       strcmp(name, "hyperv_clocksource_tsc_page\n") == 0;
}

/* Reads both clocks at once: takes the shortest of 20 tries, since others may take the CPU. */
static void look(uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t before = clock_now_ns(), now = clock_ticks(), after = clock_now_ns();

		if (after - before < best) {
			best = after - before;
			*ticks = now;
			*ns = before + best / 2;
		}
	}
}

/* Returns the relative difference between the two clocks' lengths of 200 ms. */
static double error_over_200_ms(void)
{
	uint64_t ticks[2], ns[2];

	look(&ticks[0], &ns[0]);
	usleep(200000);
	look(&ticks[1], &ns[1]);
	return fabs((double)clock_length_ns(ticks[1] - ticks[0]) / (double)(ns[1] - ns[0]) - 1);
}

Test(clock, a_length_is_right_within_a_thousandth)
{
	double first, refined;

	clock_mark();
	clock_begin();
	first = error_over_200_ms();
	clock_refine();
	refined = error_over_200_ms();
	printf("off by %.1f ppm after 50 us, by %.1f ppm after 200 ms\n", first * 1e6,
	       refined * 1e6);
	cr_expect_lt(first, 1e-3, "%g", first);
	cr_expect_lt(refined, 1e-4, "%g", refined);
#if defined(__x86_64__)
	if (is_trusted())
		cr_expect_neq(clock_scale, 0, "the kernel trusts the counter, and we do not");
#endif
}

Test(clock, refining_is_for_later)
{
	int same = 0;

	/* clock_refine() right after clock_begin() changes nothing, since it has no longer time to
	 * go by. In some of many tries: other programs may take the CPU in between. */
	for (int i = 0; i < 20; i++) {
		uint64_t scale;

		clock_scale = 0;
		clock_mark();
		clock_begin();
		scale = clock_scale;
		clock_refine();
		same += clock_scale == scale;
	}
	cr_expect_gt(same, 0, "refined at once, each time");
}

Test(clock, without_a_mark_ticks_are_nanoseconds)
{
	uint64_t before = clock_now_ns(), ticks, after;

	clock_begin();
	cr_expect_eq(clock_scale, 0);
	ticks = clock_ticks();
	after = clock_now_ns();
	cr_expect(before <= ticks && ticks <= after);
	cr_expect_eq(clock_length_ns(123456789), 123456789);
	clock_refine();
	cr_expect_eq(clock_scale, 0, "refined what was never measured");
}

Test(clock, a_counter_that_the_kernel_does_not_trust_is_not_used)
{
	char path[] = "/tmp/dlprof-clock-XXXXXX";
	int fd = mkstemp(path);
	int r;

	cr_assert_eq(write(fd, "hpet\n", 5), 5);
	close(fd);
	r = unshare(CLONE_NEWNS);
	if (r == 0)
		r = mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	if (r == 0)
		r = mount(path, CLOCKSOURCE, NULL, MS_BIND, NULL);
	if (r < 0)
		printf("no mounts here (%s): a clocksource cannot be pretended\n",
		       strerror(errno));
	clock_mark();
	clock_begin();
	unlink(path);
#if defined(__x86_64__)
	cr_expect_eq(clock_scale != 0, is_trusted());
	if (r == 0)
		cr_expect_eq(clock_scale, 0);
#endif
	cr_expect_lt(error_over_200_ms(), 1e-3);
}

Test(clock, what_went_backwards_is_nothing)
{
	cr_expect_eq(clock_length_ns(-(uint64_t)5), 0);
	clock_mark();
	clock_begin();
	cr_expect_eq(clock_length_ns(-(uint64_t)5), 0);
	cr_expect_eq(clock_length_ns(0), 0);
}

Test(clock, a_month_does_not_overflow)
{
	const double month_ns = 30 * 86400e9;
	double ticks_per_ns;

	clock_mark();
	clock_begin();
	ticks_per_ns = clock_scale ? 4294967296.0 / (double)clock_scale : 1;
	cr_expect_float_eq((double)clock_length_ns((uint64_t)(month_ns * ticks_per_ns)) / month_ns,
			   1, 1e-6);
}
