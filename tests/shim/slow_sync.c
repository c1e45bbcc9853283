/* SPDX-License-Identifier: Apache-2.0 */
/* slow_sync.c - a preload whose fsync() takes 80 ms, on any file system, and does nothing else. */
#include <time.h>
#include <unistd.h>

int fsync(int fd)
{
	struct timespec begin, now;

	(void)fd;
	/* Does not sleep, since dlprof would record nanosleep() as another wait. */
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 80000000);
	return 0;
}
