/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <string.h>

#include "config.h"
#include "sys.h"
#include "text.h"

void log_line(const char *what, const char *detail)
{
	TEXT(line, 512);
	int fd = 2;

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
	if (strcmp(config.log, "stderr") != 0)
		fd = sys_open(config.log, O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (fd < 0)
		return;
	sys_write(fd, line.buffer, line.length);
	if (fd != 2)
		sys_close(fd);
}
