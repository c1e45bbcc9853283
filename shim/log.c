/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "sys.h"
#include "text.h"

#define SIGPIPE_BIT (UINT64_C(1) << (SIGPIPE - 1))

void log_stderr(const char *bytes, size_t size)
{
	const uint64_t block = SIGPIPE_BIT;
	const struct timespec at_once = {0, 0};
	struct pollfd error = {.fd = 2, .events = POLLOUT};
	uint64_t before, pending = 0;

	if (sys_call4(SYS_ppoll, &error, 1, &at_once, NULL) != 1 || !(error.revents & POLLOUT))
		return;
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &block, &before, sizeof(block));
	sys_call2(SYS_rt_sigpending, &pending, sizeof(pending));
	if (sys_write(2, bytes, size) == -EPIPE && !(pending & SIGPIPE_BIT))
		sys_call4(SYS_rt_sigtimedwait, &block, NULL, &at_once, sizeof(block));
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

void log_line(const char *what, const char *detail)
{
	TEXT(line, 512);
	int fd;

	if (!config.log)
		return;
	text_add(&line, "dlprof[");
	text_add_number(&line, sys_getpid());
	text_add(&line, "]: ");
	text_add(&line, what);
	if (detail) {
		text_add(&line, ": ");
		text_add(&line, detail);
	}
	if (line.cut)
		line.length--;
	text_add(&line, "\n");
	if (strcmp(config.log, "stderr") == 0) {
		log_stderr(line.buffer, line.length);
		return;
	}
	fd = sys_open(config.log, O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (fd < 0)
		return;
	sys_write(fd, line.buffer, line.length);
	sys_close(fd);
}
