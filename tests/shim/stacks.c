/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.c - slow reads on two kinds of stacks, called by functions whose names the test knows. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int file;

__attribute__((noinline)) static int innermost(void)
{
	static char bytes[1 << 20];	/* to read it takes more than a microsecond */

	/* The addition keeps the compiler from making the call a jump, which leaves no frame. */
	return (int)pread(file, bytes, sizeof(bytes), 0) + 1;
}

__attribute__((noinline)) static int in_the_middle(int times)
{
	char room[512];
	int sum = 0;

	snprintf(room, sizeof(room), "%d", times);
	for (int i = 0; i < atoi(room); i++)
		sum += innermost();
	return sum + 1;
}

static void *in_a_thread(void *unused)
{
	(void)unused;
	in_the_middle(2);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	file = open(argv[argc - 1], O_RDONLY);
	if (file < 0)
		return 1;
	in_the_middle(1);
	pthread_create(&thread, NULL, in_a_thread, NULL);
	pthread_join(thread, NULL);
	/* Waits until the test has seen that the drain read the stacks of this process. */
	poll(&(struct pollfd){.fd = STDIN_FILENO, .events = POLLIN}, 1, -1);
	return 0;
}
