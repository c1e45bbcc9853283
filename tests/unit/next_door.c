/* SPDX-License-Identifier: Apache-2.0 */
/* next_door.c - a library with names of libc's: two plain functions, and three special cases. */
int next_door(void);
int readahead(void);
int dup3(void);

/* The test calls this function, so that it is linked to this library. */
int next_door(void)
{
	return 1;
}

int readahead(void)
{
	return 2;
}

int dup3(void)
{
	return 3;
}

/* A function that exists in an old version only. */
__asm__(".symver old_creat64, creat64@DOOR_1");
int old_creat64(void);
int old_creat64(void)
{
	return 4;
}

/* Data with the name of a function. */
int scandir = 5;

/* What ld.so finds as lstat64() by calling choose(). */
static int chosen(void)
{
	return 6;
}

static int (*choose(void))(void)
{
	return chosen;
}

int lstat64(void) __attribute__((ifunc("choose")));
