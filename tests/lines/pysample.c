/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pysample.c - samples the Python stacks of a process, and prints each as a line of JSON.
 *
 * usage: pysample [-n SAMPLES] [-i MICROSECONDS] [-t TID]... [-s START] [-q] PID
 * -s: the start time that the process is taken to have, in ticks, if it is not its own. The last
 * line is what the samples cost and how many were torn; -q: only that one. Ends with 1 and the
 * reason where the process is not observed, or not any more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "drain/base/now.h"
#include "drain/python/python.h"
#include "drain/segments/alive.h"

#define TIDS_MAX 16

static uint32_t tids[TIDS_MAX];
static size_t tid_count;
static long samples = 1;
static useconds_t pause_us;
static uint64_t start_ticks;
static bool is_quiet;

static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
			printf("\\u%04x", (unsigned int)*text);
		else
			putchar(*text);
	}
	putchar('"');
}

static void print_stack(const struct stack *stack)
{
	printf(", \"torn\": %d, \"cut\": %d, \"stack\": [", stack->is_torn, stack->is_cut);
	for (size_t i = 0; i < stack->depth; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		printf("%s[", i ? ", " : "");
		print_text(frame->code->file);
		printf(", ");
		print_text(frame->code->name);
		printf(", %" PRId32 "]", frame->line);
	}
	putchar(']');
}

static void print_sample(const struct python *python, const struct python_sample *sample)
{
	putchar('[');
	for (size_t i = 0; i < sample->count; i++) {
		const struct python_thread *thread = &sample->threads[i];

		printf("%s{\"tid\": %" PRIu32 ", \"gil\": %d, \"awaits\": %d", i ? ", " : "",
		       thread->tid, thread->has_gil, python_awaits_gil(python, thread->tid));
		if (thread->stack)
			print_stack(thread->stack);
		putchar('}');
	}
	printf("]\n");
}

static int32_t take_arguments(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "n:i:t:s:q")) > 0) {
		if (option == 'n')
			samples = atol(optarg);
		else if (option == 'i')
			pause_us = (useconds_t)atol(optarg);
		else if (option == 't' && tid_count < TIDS_MAX)
			tids[tid_count++] = (uint32_t)atol(optarg);
		else if (option == 's')
			start_ticks = strtoull(optarg, NULL, 10);
		else if (option == 'q')
			is_quiet = true;
	}
	return optind < argc ? atoi(argv[optind]) : 0;
}

static enum reason sample_all(struct python *python)
{
	static struct python_sample sample;
	enum reason reason = REASON_OBSERVED;

	for (long i = 0; i < samples && reason == REASON_OBSERVED; i++) {
		reason = python_sample(python, tid_count ? tids : NULL, tid_count, &sample);
		if (reason == REASON_OBSERVED && !is_quiet)
			print_sample(python, &sample);
		if (pause_us)
			usleep(pause_us);
	}
	return reason;
}

int main(int argc, char **argv)
{
	const int32_t pid = take_arguments(argc, argv);
	const struct python_counts *counts;
	struct python *python;
	uint64_t begin_ns = cpu_ns(), opened_ns;
	enum reason reason =
		python_open(pid, start_ticks ? start_ticks : alive_start_ticks(pid), &python);

	if (reason != REASON_OBSERVED) {
		printf("{\"reason\": \"%s\"}\n", reason_text(reason));
		return 1;
	}
	opened_ns = cpu_ns();
	reason = sample_all(python);
	counts = python_counts(python);
	printf("{\"reason\": \"%s\", \"open_us\": %.1f, \"sample_us\": %.2f, \"samples\": %" PRIu64
	       ", \"stacks\": %" PRIu64 ", \"torn\": %" PRIu64 ", \"missed\": %" PRIu64
	       ", \"reused\": %" PRIu64 "}\n",
	       reason_text(reason), (double)(opened_ns - begin_ns) / 1e3,
	       (double)(cpu_ns() - opened_ns) / 1e3 / (double)counts->samples, counts->samples,
	       counts->stacks, counts->torn, counts->missed, counts->reused);
	python_close(python);
	return reason != REASON_OBSERVED;
}
