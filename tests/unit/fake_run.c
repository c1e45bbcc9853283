/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_run.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void fake_run_make(struct fake_run *run)
{
	char link[128];
	int fd;

	snprintf(run->root, sizeof(run->root), "/tmp/dlprof-test-XXXXXX");
	cr_assert(mkdtemp(run->root));
	snprintf(run->folder, sizeof(run->folder), "%s/dlprof-1-1", run->root);
	snprintf(run->database, sizeof(run->database), "%s/run.db", run->root);
	snprintf(link, sizeof(link), "%s-segments", run->database);
	cr_assert_eq(mkdir(run->folder, 0700), 0);
	cr_assert_eq(symlink(run->folder, link), 0);
	fd = open(run->database, O_WRONLY | O_CREAT | O_EXCL, 0600);
	cr_assert_geq(fd, 0);
	close(fd);
}

void fake_run_remove(struct fake_run *run)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf '%s'", run->root);
	cr_assert_eq(system(command), 0);
}

int32_t fake_run_dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static uint64_t own_pid_space(void)
{
	struct stat status;

	cr_assert_eq(stat("/proc/self/ns/pid", &status), 0);
	return status.st_ino;
}

struct dlprof_segment *fake_run_segment(const struct fake_run *run, int32_t pid, uint32_t flags)
{
	struct dlprof_segment *segment;
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%d-1-0.seg", run->folder, pid);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, sizeof(*segment)), 0);
	segment = mmap(NULL, sizeof(*segment), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(segment, MAP_FAILED);
	close(fd);
	segment->header.abi = DLPROF_SEGMENT_ABI;
	segment->header.flags = flags;
	segment->header.slot_count = DLPROF_SLOT_COUNT;
	segment->header.slot_bytes = sizeof(struct dlprof_slot);
	segment->header.near_capacity = DLPROF_NEAR_CAPACITY;
	segment->header.ring_capacity = DLPROF_RING_CAPACITY;
	segment->header.event_bytes = sizeof(struct dlprof_event);
	segment->header.tally_bytes = sizeof(struct dlprof_tally);
	segment->header.tally_count = DLPROF_TALLY_COUNT;
	segment->header.pid = pid;
	segment->header.start_ticks = 1;
	segment->header.pid_space = own_pid_space();
	segment->header.proc_pid = pid;
	segment->header.rank = segment->header.local_rank = -1;
	gethostname(segment->header.host, sizeof(segment->header.host) - 1);
	strcpy(segment->header.command, "python train.py");
	segment->header.tids[0] = (uint32_t)pid;
	segment->header.magic = DLPROF_SEGMENT_MAGIC;
	return segment;
}

void fake_run_push(struct dlprof_segment *segment, const struct dlprof_event *event)
{
	struct dlprof_slot *slot = &segment->slots[0];

	if (!slot->far_from && slot->head - slot->tail == DLPROF_NEAR_CAPACITY)
		slot->far_from = slot->head;
	if (slot->far_from)
		slot->far[slot->head % DLPROF_RING_CAPACITY] = *event;
	else
		slot->near[slot->head % DLPROF_NEAR_CAPACITY] = *event;
	slot->head++;
}

struct dlprof_event fake_epoch(uint32_t loader, uint32_t epoch, int32_t workers,
			       uint32_t generation, uint64_t begin_ms)
{
	return (struct dlprof_event){
		.kind = DLPROF_EVENT_EPOCH,
		.worker = -1,
		.begin_ns = begin_ms * MS,
		.duration_ns = 5 * MS,
		.stream = FAKE_STREAM,
		.generation = generation,
		.epoch = {.loader = loader, .epoch = epoch, .workers = workers,
			  .prefetch_factor = 2, .batch_size = 32, .flags = DLPROF_EPOCH_IN_ORDER,
			  .kind = "torch.DataLoader"},
	};
}

struct dlprof_event fake_load(int32_t worker, uint32_t generation, uint32_t task,
			      uint64_t begin_ms, uint64_t length_ms)
{
	return (struct dlprof_event){
		.kind = DLPROF_EVENT_LOAD,
		.worker = worker,
		.flags = DLPROF_FLAG_COLLATE_SEEN,
		.begin_ns = begin_ms * MS,
		.duration_ns = length_ms * MS,
		.stream = FAKE_STREAM,
		.generation = generation,
		.task = task,
		.load = {.read_ns = 10 * MS, .read_count = 3, .read_bytes = 3000, .open_ns = 2 * MS,
			 .collate_ns = 5 * MS, .decode_count = UINT32_MAX},
	};
}

struct dlprof_event fake_batch(uint32_t generation, uint32_t task, uint64_t begin_ms,
			       uint64_t wait_ms)
{
	return (struct dlprof_event){
		.kind = DLPROF_EVENT_BATCH,
		.worker = -1,
		.begin_ns = begin_ms * MS,
		.duration_ns = wait_ms * MS,
		.stream = FAKE_STREAM,
		.generation = generation,
		.task = task,
		.batch = {.ordinal = task, .arrived = 1, .arrive_ns = (begin_ms + wait_ms) * MS},
	};
}

struct dlprof_event fake_stop(uint32_t generation, uint64_t begin_ms)
{
	return (struct dlprof_event){
		.kind = DLPROF_EVENT_STOP,
		.begin_ns = begin_ms * MS,
		.stream = FAKE_STREAM,
		.generation = generation,
	};
}

long long fake_run_ask(const struct fake_run *run, const char *sql)
{
	sqlite3_stmt *statement;
	long long answer = -1;
	sqlite3 *handle;

	cr_assert_eq(sqlite3_open_v2(run->database, &handle, SQLITE_OPEN_READONLY, NULL), 0);
	cr_assert_eq(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL), 0, "%s: %s", sql,
		     sqlite3_errmsg(handle));
	cr_assert_eq(sqlite3_step(statement), SQLITE_ROW, "%s", sql);
	if (sqlite3_column_type(statement, 0) != SQLITE_NULL)
		answer = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(handle);
	return answer;
}
