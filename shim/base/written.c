/* SPDX-License-Identifier: Apache-2.0 */
#include "base/written.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "base/note.h"
#include "base/sys.h"
#include "base/text.h"

#define PATH_MOST  256
#define FILE_MOST  64
#define LARGE	   (1 << 20)

static char paths[FILE_MOST][PATH_MOST];
static _Atomic uint32_t path_count;

void written_add(const char *path)
{
	uint32_t count = path_count, at;

	if (strlen(path) >= PATH_MOST)
		return;
	for (uint32_t i = 0; i < count && i < FILE_MOST; i++)
		if (strcmp(paths[i], path) == 0)
			return;
	at = atomic_fetch_add(&path_count, 1);
	if (at < FILE_MOST)
		memcpy(paths[at], path, strlen(path) + 1);
}

void written_note(void)
{
	uint32_t count = path_count;
	TEXT(line, 480);

	for (uint32_t i = 0; i < count && i < FILE_MOST; i++) {
		struct stat status;

		if (!paths[i][0] || sys_call4(SYS_newfstatat, AT_FDCWD, paths[i], &status, 0) < 0 ||
		    !S_ISREG(status.st_mode) || status.st_size < LARGE)
			continue;
		text_add(&line, line.length ? ", " : "before it was ended, the program wrote ");
		text_join(&line, paths[i], " (");
		text_add_number(&line, status.st_size / LARGE);
		text_add(&line, " MB)");
	}
	if (line.length)
		note_add('w', line.buffer);
}
