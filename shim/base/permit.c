/* SPDX-License-Identifier: Apache-2.0 */
#include "base/permit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/environment.h"
#include "base/process.h"
#include "base/sys.h"
#include "base/text.h"
#include "dlprof/folder.h"

#define SCOPE "/proc/sys/kernel/yama/ptrace_scope"

static bool is_wanted(void)
{
	const char *lines = getenv("DLPROF_LINES");
	char scope = 0;
	int fd;

	if (lines && strcmp(lines, "off") == 0)
		return false;
	fd = sys_open(SCOPE, O_RDONLY, 0);
	if (fd < 0)
		return false;
	if (sys_read(fd, &scope, 1) != 1)
		scope = 0;
	sys_close(fd);
	return scope == '1';
}

void permit_drain(int drain)
{
	TEXT(told, 48);

	if (!is_wanted())
		return;
	sys_call2(SYS_prctl, PR_SET_PTRACER, drain);
	/* In another PID namespace this pid is the number of a different process. */
	text_add_number(&told, drain);
	text_add(&told, "-");
	text_add_number(&told, (int64_t)process_space());
	environment_set("DLPROF_DRAIN=", told.buffer);
}

void permit_as_told(void)
{
	const char *at = getenv("DLPROF_DRAIN");
	uint64_t drain, space;

	if (at && dlprof_take_number(&at, &drain) && dlprof_take_next(&at, &space) && !*at &&
	    drain && drain <= INT32_MAX && space == process_space())
		sys_call2(SYS_prctl, PR_SET_PTRACER, (long)drain);
}
