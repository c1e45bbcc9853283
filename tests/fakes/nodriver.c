/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodriver.c - prints what each function of a libcupti returns without a driver: "NAME RESULT".
 *
 * usage: nodriver PATH
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void *library;
static char space[4096];

static void *symbol(const char *name)
{
	return dlsym(library, name);
}

static void nothing(void)
{
}

/* Calls a function with four arguments: all take integers or pointers, and ignore further ones. */
static void call(const char *name, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	int (*function)(uint64_t, uint64_t, uint64_t, uint64_t) =
		(int (*)(uint64_t, uint64_t, uint64_t, uint64_t))symbol(name);

	memset(space, 0, sizeof(space));
	if (function)
		printf("%s %d\n", name, function(a, b, c, d));
	else
		printf("%s missing\n", name);
	fflush(stdout);
}

#define SPACE ((uint64_t)(uintptr_t)space)
#define CODE  ((uint64_t)(uintptr_t)nothing)

static void compare_clocks(void)
{
	int (*stamp)(uint64_t *) = (int (*)(uint64_t *))symbol("cuptiGetTimestamp");
	struct timespec before, after;
	uint64_t now = 0, from, to;

	clock_gettime(CLOCK_REALTIME, &before);
	stamp(&now);
	clock_gettime(CLOCK_REALTIME, &after);
	from = (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec;
	to = (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec;
	printf("realtime %d\n", from <= now && now <= to);
}

int main(int argc, char **argv)
{
	static const uint32_t kinds[] = {1, 2, 3, 4, 5, 8, 9, 10, 17, 22, 37, 38, 39, 49, 51};
	uint32_t version = 0;

	library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library) {
		fprintf(stderr, "nodriver: %s\n", argc > 1 ? dlerror() : "which library?");
		return 2;
	}
	call("cuptiGetVersion", SPACE, 0, 0, 0);
	memcpy(&version, space, sizeof(version));
	printf("version %u\n", version);
	call("cuptiGetTimestamp", SPACE, 0, 0, 0);
	compare_clocks();
	call("cuptiGetResultString", 0, SPACE, 0, 0);
	call("cuptiGetLastError", 0, 0, 0, 0);
	call("cuptiActivityGetNumDroppedRecords", 0, 0, SPACE, 0);
	call("cuptiActivityRegisterCallbacks", CODE, CODE, 0, 0);
	call("cuptiSubscribe", SPACE, CODE, 0, 0);
	call("cuptiEnableCallback", 1, 0, 1, 307);
	call("cuptiEnableDomain", 1, 0, 1, 0);
	call("cuptiUnsubscribe", 0, 0, 0, 0);
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		call("cuptiActivityEnable", kinds[i], 0, 0, 0);
	call("cuptiActivityRegisterTimestampCallback", CODE, 0, 0, 0);
	call("cuptiSetThreadIdType", 1, 0, 0, 0);
	*(uint64_t *)space = 1;
	call("cuptiActivitySetAttribute", 5, SPACE, SPACE + 64, 0);
	call("cuptiActivityFlushAll", 0, 0, 0, 0);
	call("cuptiActivityFlushAll", 1, 0, 0, 0);
	call("cuptiActivityFlushPeriod", 1000, 0, 0, 0);
	call("cuptiActivityEnableAllSyncRecords", 0, 0, 0, 0);
	call("cuptiActivityEnableRuntimeApi", 211, 1, 0, 0);
	call("cuptiFinalize", 0, 0, 0, 0);
	printf("end\n");
	return 0;
}
