/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.c - threads that allocate and read files, and a child that does the same.
 *
 * usage: busy [ROUNDS]
 *
 * Prints sums that depend on nothing but the file "data", and values of errno, so that the text is
 * the same whatever libraries are preloaded. ASan and TSan find nothing in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREAD_COUNT 4

static size_t rounds = 50;

static unsigned long sum_bytes(const char *bytes, size_t size, unsigned long sum)
{
	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + (unsigned char)bytes[i];
	return sum;
}

static unsigned long read_descriptor(size_t size)
{
	int fd = open("data", O_RDONLY);
	char *block = malloc(size);
	unsigned long sum = 0;
	ssize_t got;

	errno = 77;
	while ((got = read(fd, block, size)) > 0)
		sum = sum_bytes(block, (size_t)got, sum);
	got = pread(fd, block, size, 100);
	sum = sum_bytes(block, (size_t)got, sum);
	if (errno != 77 || got < 0)
		sum = 0;
	free(block);
	close(fd);
	return sum;
}

static unsigned long read_stream(void)
{
	FILE *file = fopen("data", "r");
	unsigned long sum = 0;
	char *line = NULL, word[64];
	size_t room = 0;
	ssize_t got;

	while ((got = getline(&line, &room, file)) > 0)
		sum = sum_bytes(line, (size_t)got, sum);
	rewind(file);
	if (fscanf(file, "%63s", word) == 1)
		sum = sum_bytes(word, strlen(word), sum);
	free(line);
	fclose(file);
	return sum;
}

static unsigned long read_mapping(void)
{
	int fd = open("data", O_RDONLY);
	char *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	unsigned long sum = sum_bytes(map, 4096, 0);

	close(fd);
	munmap(map, 4096);
	return sum;
}

static void *work(void *argument)
{
	unsigned long *sum = argument;

	for (size_t i = 1; i <= rounds; i++)
		*sum = *sum * 31 + read_descriptor(i * 100) + read_stream() + read_mapping();
	return NULL;
}

static void work_in_threads(const char *who)
{
	unsigned long sums[THREAD_COUNT] = {0};
	pthread_t threads[THREAD_COUNT];

	for (int i = 0; i < THREAD_COUNT; i++)
		pthread_create(&threads[i], NULL, work, &sums[i]);
	for (int i = 0; i < THREAD_COUNT; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREAD_COUNT; i++)
		printf("%s %d: %lx\n", who, i, sums[i]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int status = -1;
	pid_t pid;

	if (argc > 1)
		rounds = (size_t)atoi(argv[1]);
	work_in_threads("parent");
	pid = fork();
	if (pid == 0) {
		work_in_threads("child");
		_exit(5);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 1;
	printf("child's status %d\n", WEXITSTATUS(status));
	return 3;
}
