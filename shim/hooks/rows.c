/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/rows.h"

#define PERIOD_MIN  5
#define PERIOD_MAX  16  /* more would hide that every other long row looked like a short one */
#define LONG_TIMES  8   /* as long as the shortest, at the least */
#define TIMED_SHORT 2   /* of a period: chroma is enlarged for two rows at once, so they differ */
#define QUIET_MIN   2   /* images in which nothing was longer than it should be */
#define FRACTION    256 /* of a tick: a counter may tick every 40 ns only */

static uint64_t expected(const struct thread_rows *rows, uint64_t count)
{
	return count * rows->short_ticks / FRACTION;
}

static void forget_period(struct thread_rows *rows)
{
	rows->period = 0;
	rows->since = PERIOD_MAX + 1; /* until the next long row, wherever that is */
}

static uint64_t passed(struct thread_rows *rows)
{
	uint64_t count = rows->passing - rows->left;

	rows->passing = 0;
	rows->left = 0;
	rows->since += (uint32_t)count;
	return count;
}

uint64_t rows_begin(struct thread_rows *rows, uint64_t now_ticks)
{
	uint64_t between = now_ticks - rows->end_ticks, count = passed(rows);
	uint64_t own = expected(rows, count);
	uint64_t all = own + (count + 1) * rows->gap_ticks / FRACTION;

	rows->since++;
	if (!count) {
		rows->gap_sum += between;
		if (between > rows->gap_most)
			rows->gap_most = between;
		return 0;
	}
	if (between > 2 * all) {
		forget_period(rows);
		if (rows->quiet < QUIET_MIN) {
			rows->quiet = 0;
			return own;
		}
		rows->quiet = 0;
	}
	return all ? (uint64_t)((unsigned __int128)between * own / all) : 0;
}

/* Every call since the last long row was timed: is it a period, and does the caller come back? */
static bool is_period(const struct thread_rows *rows)
{
	uint32_t shorts = rows->since - 1;

	return rows->since >= PERIOD_MIN && rows->since <= PERIOD_MAX &&
	       rows->gap_sum <= 2 * rows->short_sum &&
	       rows->gap_most <= 4 * (rows->gap_sum + rows->short_sum) / shorts;
}

/* A quarter of the way: one row during which another process ran is not what they take. */
static uint64_t nearer(uint64_t ticks, uint64_t seen)
{
	if (seen > 2 * ticks)
		seen = 2 * ticks;
	return (3 * ticks + seen) / 4;
}

static void end_period(struct thread_rows *rows)
{
	bool known = rows->period;

	if (known && rows->since == rows->period) {
		rows->short_ticks =
			nearer(rows->short_ticks, rows->short_sum * FRACTION / TIMED_SHORT);
		rows->gap_ticks = nearer(rows->gap_ticks, rows->gap_sum * FRACTION / TIMED_SHORT);
	} else if (!known && is_period(rows)) {
		rows->period = rows->since;
		rows->short_ticks = rows->short_sum * FRACTION / (rows->period - 1);
		rows->gap_ticks = rows->gap_sum * FRACTION / rows->period;
	} else {
		rows->period = 0;
	}
	if (rows->period)
		rows->left = rows->passing = rows->period - 1 - TIMED_SHORT;
	rows->since = 0;
	rows->short_sum = 0;
	rows->gap_sum = 0;
	rows->gap_most = 0;
}

void rows_end(struct thread_rows *rows, uint64_t now_ticks, uint64_t ticks)
{
	rows->end_ticks = now_ticks;
	if (!rows->least_ticks)
		forget_period(rows);
	if (!rows->least_ticks || ticks < rows->least_ticks)
		rows->least_ticks = ticks;
	if (ticks > LONG_TIMES * rows->least_ticks) {
		end_period(rows);
		return;
	}
	rows->short_sum += ticks;
	if (rows->period && rows->since == rows->period)
		forget_period(rows);
}

uint64_t rows_leave(struct thread_rows *rows)
{
	uint64_t ticks = expected(rows, passed(rows));

	if (rows->least_ticks && rows->quiet < QUIET_MIN)
		rows->quiet++;
	rows->least_ticks = 0;
	forget_period(rows);
	return ticks;
}
