/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx_host.c - calls NVTX as its input says and prints when it did and what came back.
 *
 * A line is "THREAD CALL [TEXT]"; threads run their lines at the same time, 0 is the main one. With
 * NVTX's own header (REAL_NVTX), else with tests/fakes/nvtx.h. As a module (MODULE) it is what
 * Python calls, and a tool.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef REAL_NVTX
#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <string.h>
#else
#include "nvtx.h"
#endif

#define THREADS 8
#define LINES   20000
#define OPEN    256

static struct line {
	int thread;
	char *call, *text;
} lines[LINES];
static int line_count;

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static nvtxEventAttributes_t message(int type, const void *text)
{
	nvtxEventAttributes_t attributes = {0};

	attributes.version = NVTX_VERSION;
	attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	attributes.messageType = type;
	attributes.message.ascii = text;
	return attributes;
}

static nvtxDomainHandle_t domain_named(const char *name)
{
	static nvtxDomainHandle_t domains[26];
	nvtxDomainHandle_t *domain = &domains[(name[0] - 'a') % 26];

	if (!*domain)
		*domain = nvtxDomainCreateA(name);
	return *domain;
}

static long hostile(const char *what)
{
	nvtxEventAttributes_t attributes = message(99, "no such type");
	char *giant = malloc(65536);
	long r = 0;

	memset(giant, 'x', 65535);
	giant[65535] = '\0';
	if (!strcmp(what, "null"))
		r = nvtxRangePushA(NULL);
	else if (!strcmp(what, "giant"))
		r = nvtxRangePushA(giant);
	else if (!strcmp(what, "attributes"))
		r = nvtxRangePushEx(NULL);
	else if (!strcmp(what, "type"))
		r = nvtxRangePushEx(&attributes);
	else if (!strcmp(what, "handle"))
		attributes = message(NVTX_MESSAGE_TYPE_REGISTERED, giant + 7),
		r = nvtxRangePushEx(&attributes);
	else if (!strcmp(what, "short"))
		attributes = message(NVTX_MESSAGE_TYPE_ASCII, (void *)1), attributes.size = 16,
		r = nvtxRangePushEx(&attributes);
	free(giant);
	return r;
}

/* Nanoseconds of a range, the least of many rounds of `count`, with a pause before each. */
static void measure(const char *name, int rounds, int count, useconds_t pause_us)
{
	double least = 1e9;

	for (int round = 0; round < rounds; round++) {
		uint64_t begin;

		usleep(pause_us);
		begin = now_ns();
		for (int i = 0; i < count; i++) {
			nvtxRangePushA(name);
			nvtxRangePop();
		}
		if ((double)(now_ns() - begin) / count < least)
			least = (double)(now_ns() - begin) / count;
	}
	printf("range %.1f\n", least);
}

static void *run_thread(void *number)
{
	const int thread = (int)(intptr_t)number;
	nvtxRangeId_t open[OPEN];
	int open_count = 0;

	for (int i = 0; i < line_count; i++) {
		const char *call = lines[i].call, *text = lines[i].text;
		nvtxEventAttributes_t attributes;
		wchar_t wide[256] = {0};
		uint64_t begin;
		long r = 0;

		if (lines[i].thread != thread)
			continue;
		if (!strcmp(call, "wide"))
			for (int k = 0; text[k] && k < 255; k++)
				wide[k] = (unsigned char)text[k] == '@' ? 0x4e2d : text[k];
		begin = now_ns();
		if (!strcmp(call, "sleep")) {
			usleep((useconds_t)atoi(text));
		} else if (!strcmp(call, "push")) {
			r = nvtxRangePushA(text);
		} else if (!strcmp(call, "pop")) {
			r = nvtxRangePop();
		} else if (!strcmp(call, "mark")) {
			nvtxMarkA(text);
		} else if (!strcmp(call, "wide")) {
			r = nvtxRangePushW(wide);
		} else if (!strcmp(call, "registered")) {
			attributes = message(NVTX_MESSAGE_TYPE_REGISTERED,
					     nvtxDomainRegisterStringA(NULL, text));
			r = nvtxRangePushEx(&attributes);
		} else if (!strcmp(call, "in")) {
			attributes = message(NVTX_MESSAGE_TYPE_ASCII, text);
			r = nvtxDomainRangePushEx(domain_named(text), &attributes);
		} else if (!strcmp(call, "out")) {
			r = nvtxDomainRangePop(domain_named(text));
		} else if (!strcmp(call, "start")) {
			open[open_count++ % OPEN] = nvtxRangeStartA(text);
		} else if (!strcmp(call, "end")) { /* the oldest, so that they overlap */
			nvtxRangeEnd(open[atoi(text) % OPEN]);
		} else if (!strcmp(call, "hostile")) {
			r = hostile(text);
		} else if (!strcmp(call, "flood")) {
			for (int k = 0; k < 100000; k++, nvtxRangePop())
				nvtxRangePushA(text);
		} else if (!strcmp(call, "measure")) {
			measure(text, 200, 500, 0);
			continue;
		} else if (!strcmp(call, "kept")) { /* so few that all are */
			measure(text, 40, 20, 110000);
			continue;
		} else if (!strcmp(call, "fork")) {
			fflush(stdout);
			if (fork())
				wait(NULL);
		} else {
			fprintf(stderr, "what is '%s'?\n", call);
			exit(2);
		}
		printf("%d %s %ld %" PRIu64 " %" PRIu64 " %s\n", thread, call, r, begin, now_ns(),
		       text);
	}
	return NULL;
}

#ifdef MODULE
/* For Python, and the tool that somebody else wants. */
void call_push(const char *text);
void call_pop(void);
int InitializeInjectionNvtx2(const void *unused);

void call_push(const char *text)
{
	nvtxRangePushA(text);
}

void call_pop(void)
{
	nvtxRangePop();
}

int InitializeInjectionNvtx2(const void *unused)
{
	(void)unused;
	fprintf(stderr, "another tool\n");
	return 1;
}
#endif

int main(void)
{
	pthread_t threads[THREADS];
	char *line = NULL;
	size_t room = 0;

	while (line_count < LINES && getline(&line, &room, stdin) > 0) {
		char *call = strchr(line, ' ') + 1, *text;

		line[strcspn(line, "\n")] = '\0';
		text = call + strcspn(call, " ");
		if (*text)
			*text++ = '\0';
		lines[line_count++] = (struct line){atoi(line), strdup(call), strdup(text)};
	}
	for (int i = 1; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run_thread, (void *)(intptr_t)i);
	run_thread(NULL);
	for (int i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
