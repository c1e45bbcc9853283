/* SPDX-License-Identifier: Apache-2.0 */
/* musl.c - a program for musl with streams, threads and folders, which dlprof must not disturb. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *work(void *argument)
{
	usleep(1000);
	return argument;
}

int main(int argc, char **argv)
{
	const char *error = dlerror();
	FILE *file = fopen("data", "r");
	DIR *folder = opendir(".");
	char line[100] = "";
	pthread_t thread;
	struct stat status;
	int fd, number = 0;
	void *map;

	printf("dlerror: %s\n", error ? error : "none");
	printf("%s", fgets(line, sizeof(line), file));
	printf("%zu %d %d\n", fread(line, 3, 10, file), fseek(file, 5, SEEK_SET),
	       fscanf(file, "%d", &number));
	printf("%d %d\n", number, fclose(file));
	fd = open("data", O_RDONLY);
	printf("%zd %zd\n", read(fd, line, 10), syscall(SYS_read, fd, line, 9));
	printf("%d %d\n", fstat(fd, &status), (int)status.st_size);
	map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	printf("%d\n", ((char *)map)[3]);
	printf("%d\n", munmap(map, 4096));
	printf("%d %d\n", dup2(fd, 50), fcntl(fd, F_DUPFD, 60));
	printf("%d\n", readdir(folder) != NULL);
	printf("%d\n", closedir(folder));
	printf("%d %d\n", poll(NULL, 0, 1), pthread_create(&thread, NULL, work, NULL));
	printf("%d\n", pthread_join(thread, NULL));
	fflush(stdout);
	_exit(5);
}
