/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include <stdlib.h>
#include <string.h>

#include "base/mask.h"
#include "base/sys.h"
#include "base/text.h"
#include "dlprof/folder.h"
#include "dlprof/units.h"

uint64_t process_start_ticks(void)
{
	return process_stat(0, 22);
}

uint64_t process_stat(int pid, int wanted)
{
	TEXT(path, 64);
	char stat[1024];
	uint64_t value;
	const char *at;
	int r;

	if (pid)
		text_format(&path, "/proc/%d/stat", pid);
	else
		text_add(&path, "/proc/self/stat");
	r = text_read_file(path.buffer, stat, sizeof(stat));
	if (r <= 0)
		return 0;
	/* Field 2, the program's name in parentheses, may contain spaces and parentheses. */
	at = strrchr(stat, ')');
	for (int field = 2; at && field < wanted; field++)
		at = strchr(at + 1, ' ');
	at = at ? at + 1 : "";
	dlprof_take_number(&at, &value);
	return value;
}

static uint64_t linked_number(const char *link)
{
	char target[64];
	int length = sys_readlink(link, target, sizeof(target) - 1);
	const char *at = target;
	uint64_t value;

	target[length > 0 ? length : 0] = '\0';
	at += strcspn(target, "0123456789");
	dlprof_take_number(&at, &value);
	return value;
}

uint64_t process_space(void)
{
	return linked_number("/proc/self/ns/pid");
}

int32_t process_number(void)
{
	return (int32_t)linked_number("/proc/self");
}

void process_command(char *buffer, size_t size)
{
	/* This is larger than `buffer`, because masking shortens a text. */
	char arguments[2048];
	struct text line;
	int length = text_read_file("/proc/self/cmdline", arguments, sizeof(arguments));

	text_init(&line, buffer, size);
	if (length > 0)
		mask_arguments(&line, arguments, (size_t)length, length == sizeof(arguments) - 1);
}

enum kind { KIND_RANK, KIND_LOCAL_RANK, KIND_WORLD_SIZE, KIND_RESTARTS, KIND_JOB };

static const struct {
	enum kind kind;
	const char *name;
} variables[] = {
#define RANK(name)       {KIND_RANK, #name},
#define LOCAL_RANK(name) {KIND_LOCAL_RANK, #name},
#define WORLD_SIZE(name) {KIND_WORLD_SIZE, #name},
#define RESTARTS(name)   {KIND_RESTARTS, #name},
#define JOB(name)        {KIND_JOB, #name},
#include "dlprof/job.def"
};

static const char *first_set(enum kind kind)
{
	for (size_t i = 0; i < ARRAY_COUNT(variables); i++) {
		const char *value = variables[i].kind == kind ? getenv(variables[i].name) : NULL;

		if (value && value[0])
			return value;
	}
	return NULL;
}

static int32_t number_or_none(const char *value)
{
	uint64_t number;

	if (!value || strlen(value) > 9 || !dlprof_take_number(&value, &number) || *value)
		return -1;
	return (int32_t)number;
}

int32_t process_rank(void)
{
	return number_or_none(first_set(KIND_RANK));
}

int32_t process_local_rank(void)
{
	return number_or_none(first_set(KIND_LOCAL_RANK));
}

int32_t process_world_size(void)
{
	return number_or_none(first_set(KIND_WORLD_SIZE));
}

int32_t process_attempt(void)
{
	int32_t count = 0, restarts;

	for (size_t i = 0; i < ARRAY_COUNT(variables); i++) {
		restarts = variables[i].kind == KIND_RESTARTS
				   ? number_or_none(getenv(variables[i].name)) : -1;
		count += restarts > 0 ? restarts : 0;
	}
	return count;
}

const char *process_job(void)
{
	const char *job = first_set(KIND_JOB);

	/* torchrun sets the job's id to "none" if it was given none. */
	return job && strcmp(job, "none") != 0 ? job : NULL;
}

int process_launcher(void)
{
	const int parent = (int)sys_call0(SYS_getppid);
	TEXT(path, 64);
	char name[32];

	text_format(&path, "/proc/%d/comm", parent);
	return text_read_file(path.buffer, name, sizeof(name)) > 0 && strcmp(name, "dlprof\n") == 0
		       ? (int)process_stat(parent, 4)
		       : parent;
}
