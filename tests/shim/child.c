/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - a program that is built in ways in which a preload cannot work, or must not: with musl,
 * statically, for 32 bits, setuid. It prints what its calls return, which children.py compares.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "data";
	char bytes[16] = {0}, line[64] = {0};
	int fd = open(path, O_RDONLY), status = -1;
	FILE *file = fopen(path, "r");
	char *block = malloc(100000);
	pid_t pid;

	printf("%zu-bit, euid %d\n", sizeof(long) * 8, (int)geteuid());
	printf("open %d, fopen %d\n", fd >= 0, file != NULL);
	if (fd < 0 || !file || !block)
		return 1;
	memset(block, 7, 100000);
	printf("read %d '%s'\n", (int)read(fd, bytes, 10), bytes);
	printf("pread %d '%s'\n", (int)pread(fd, bytes, 5, 3), bytes);
	printf("fread %d '%s'\n", (int)fread(line, 1, 20, file), line);
	printf("fgets %d '%s'\n", fgets(line, 20, file) != NULL, line);
	printf("fscanf %d '%s'\n", fscanf(file, "%30s", line), line);
	printf("fseek %d, getc %d\n", fseek(file, 7, SEEK_SET), getc(file));
	errno = 0;
	printf("open %d, errno %d\n", open("absent", O_RDONLY), errno);
	printf("close %d %d\n", close(fd), fclose(file));
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(open(path, O_RDONLY) >= 0 ? 9 : 1);
	waitpid(pid, &status, 0);
	printf("child %d, next descriptor %d\n", WEXITSTATUS(status), open(path, O_RDONLY));
	free(block);
	return 7;
}
