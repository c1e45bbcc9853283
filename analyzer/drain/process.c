/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dlprof/units.h"


/* Asked for every process of the machine again and again, so without stdio's buffer. */
bool process_stat_read(int32_t pid, struct process_stat *ret)
{
	unsigned long long user, system, start;
	const long rate = sysconf(_SC_CLK_TCK);
	char text[1024]; /* the path, then the line */
	const char *at;
	ssize_t length;
	char state;
	int fd;

	snprintf(text, sizeof(text), "/proc/%" PRId32 "/stat", pid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	/* The program's name is in brackets and may hold anything. */
	at = strrchr(text, ')');
	if (!at || rate <= 0 ||
	    sscanf(at + 1,
		   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %d %d %*d "
		   "%llu",
		   &state, &user, &system, &ret->nice, &ret->threads, &start) != 6)
		return false;
	ret->start_ticks = start;
	ret->used_ns = (int64_t)(user + system) * ((int64_t)NS_PER_S / rate);
	ret->is_over = state == 'Z' || state == 'X';
	return true;
}
