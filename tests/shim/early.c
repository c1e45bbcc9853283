/* SPDX-License-Identifier: Apache-2.0 */
/* early.c - a library that does I/O before and after the program's main(), as allocators do. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void use_files(const char *when)
{
	int fd = open("data", O_RDONLY);
	char bytes[8] = {0};
	FILE *file = fopen("data", "r");

	printf("%s: open %d", when, fd >= 0);
	printf(", read %zd", read(fd, bytes, 4));
	printf(", pread %zd, close %d", pread(fd, bytes, 3, 2), close(fd));
	printf(", fread %zu", fread(bytes, 1, 5, file));
	printf(" '%s', fclose %d\n", bytes, fclose(file));
	fflush(stdout);
}

__attribute__((constructor(101))) static void begin(void)
{
	use_files("constructor");
}

__attribute__((destructor(101))) static void end(void)
{
	use_files("destructor");
}
