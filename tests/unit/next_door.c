/* SPDX-License-Identifier: Apache-2.0 */
/* next_door.c - a library that has functions of libc's names: two as any, and three oddly. */
int next_door(void);
int readahead(void);
int dup3(void);

/* So that the test needs this library. */
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

/* In an old version only. */
__asm__(".symver old_creat64, creat64@DOOR_1");
int old_creat64(void);
int old_creat64(void)
{
	return 4;
}

/* Data. */
int scandir = 5;

/* Found by calling another. */
static int chosen(void)
{
	return 6;
}

static int (*choose(void))(void)
{
	return chosen;
}

int lstat64(void) __attribute__((ifunc("choose")));
