/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include <stdlib.h>
#include <string.h>

#include "base/mask.h"
#include "base/sys.h"
#include "base/text.h"
#include "dlprof/folder.h"

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

	text_add(&path, "/proc/");
	if (pid)
		text_add_number(&path, pid);
	else
		text_add(&path, "self");
	text_add(&path, "/stat");
	r = text_read_file(path.buffer, stat, sizeof(stat));
	if (r <= 0)
		return 0;
	/* Field 2 may hold spaces and parentheses: count fields from its last ')'. */
	at = strrchr(stat, ')');
	for (int field = 2; at && field < wanted; field++)
		at = strchr(at + 1, ' ');
	at = at ? at + 1 : "";
	dlprof_take_number(&at, &value);
	return value;
}

/* The number at the end of what a link of /proc says: "4711", "pid:[4026531836]". */
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
	/* Masked it is shorter, and there is room for what comes after. */
	char arguments[2048];
	struct text line;
	int length = text_read_file("/proc/self/cmdline", arguments, sizeof(arguments));

	text_init(&line, buffer, size);
	if (length > 0)
		mask_arguments(&line, arguments, (size_t)length, length == sizeof(arguments) - 1);
}

static const char *const rank_names[] = {
#define RANK(name) #name,
#include "dlprof/job.def"
	NULL,
};

static const char *const local_rank_names[] = {
#define LOCAL_RANK(name) #name,
#include "dlprof/job.def"
	NULL,
};

static const char *const world_size_names[] = {
#define WORLD_SIZE(name) #name,
#include "dlprof/job.def"
	NULL,
};

static const char *const restarts_names[] = {
#define RESTARTS(name) #name,
#include "dlprof/job.def"
	NULL,
};

static const char *const job_names[] = {
#define JOB(name) #name,
#include "dlprof/job.def"
	NULL,
};

static const char *first_set(const char *const *names)
{
	for (; *names; names++) {
		const char *value = getenv(*names);

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
	return number_or_none(first_set(rank_names));
}

int32_t process_local_rank(void)
{
	return number_or_none(first_set(local_rank_names));
}

int32_t process_world_size(void)
{
	return number_or_none(first_set(world_size_names));
}

/* A scheduler starts the job again, and a launcher within it its ranks. */
int32_t process_attempt(void)
{
	int32_t count = 0, restarts;

	for (const char *const *names = restarts_names; *names; names++) {
		restarts = number_or_none(getenv(*names));
		count += restarts > 0 ? restarts : 0;
	}
	return count;
}

const char *process_job(void)
{
	const char *job = first_set(job_names);

	/* What torchrun says where it was given none. */
	return job && strcmp(job, "none") != 0 ? job : NULL;
}

int process_launcher(void)
{
	const int parent = (int)sys_call0(SYS_getppid);
	TEXT(path, 64);
	char name[32];

	text_add(&path, "/proc/");
	text_add_number(&path, parent);
	text_add(&path, "/comm");
	return text_read_file(path.buffer, name, sizeof(name)) > 0 && strcmp(name, "dlprof\n") == 0
		       ? (int)process_stat(parent, 4)
		       : parent;
}
