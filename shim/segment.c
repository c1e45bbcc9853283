/* SPDX-License-Identifier: Apache-2.0 */
#include "segment.h"

#include <errno.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "clock.h"
#include "log.h"
#include "process.h"
#include "sys.h"
#include "text.h"
#include "thread.h"

#define SEGMENT_MAX 32
#define RETRY_NS    UINT64_C(10000000)

/*
 * `threads` is the private side of each slot, in turns with that of the life before: in a forked
 * child the thread that forked still has the pointer to what it was in its parent, and may end a
 * call that it began there. If another thread were given the same, both would write into it.
 */
struct segment {
	struct dlprof_segment *shared;
	struct thread threads[2][DLPROF_SLOT_COUNT];
};

static struct thread *threads_of(struct segment *segment)
{
	return segment->threads[thread_life % 2];
}

static struct {
	struct segment segments[SEGMENT_MAX];
	_Atomic uint32_t count;
	_Atomic uint32_t growing;
	_Atomic uint32_t claims;	/* of slots, by threads of this life */
	_Atomic bool full;	/* no further segment can be made: do not try at every call */
	_Atomic uint64_t retry_ns; /* nor look through all slots before then */
	uint32_t flags;
	int32_t rank;
	int32_t local_rank;
	int pid;
	char folder[512];
} own;

struct dlprof_segment *segment_first(void)
{
	return own.count ? own.segments[0].shared : NULL;
}

OFTEN bool segment_is_own(void)
{
	return own.count && own.segments[0].shared->header.pid == sys_getpid();
}

void segment_mark_end(void)
{
	if (segment_is_own())
		own.segments[0].shared->header.ended_ns = clock_now_ns();
}

/* Growing past RLIMIT_FSIZE would raise SIGXFSZ, whose default is to kill the host. */
static int check_file_limit(void)
{
	struct rlimit limit;

	if (sys_call4(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) == 0 &&
	    limit.rlim_cur < sizeof(struct dlprof_segment))
		return -EFBIG;
	return 0;
}

/* File systems without fallocate: zeroes reserve the blocks just as well. */
static int write_zeroes(int fd)
{
	static const char zeroes[4096];
	size_t written = 0;
	long r;

	while (written < sizeof(struct dlprof_segment)) {
		r = sys_write(fd, zeroes, sizeof(zeroes));
		if (r == -EINTR)
			continue;
		if (r <= 0)
			return r < 0 ? (int)r : -ENOSPC;
		written += (size_t)r;
	}
	return 0;
}

static int map_file(const char *path, struct dlprof_segment **ret_shared)
{
	void *address;
	int fd, r;

	r = check_file_limit();
	if (r < 0)
		return r;
	fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return fd;
	r = (int)sys_call4(SYS_fallocate, fd, 0, 0, sizeof(struct dlprof_segment));
	if (r == -EOPNOTSUPP || r == -ENOSYS || r == -EINTR)
		r = write_zeroes(fd);
	if (r < 0)
		goto undo;
	address = sys_mmap(sizeof(struct dlprof_segment), PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	if (sys_mmap_failed(address)) {
		r = (int)(long)address;
		goto undo;
	}
	sys_close(fd);
	*ret_shared = address;
	return 0;

undo:
	sys_close(fd);
	sys_unlink(path);
	return r;
}

static void fill_header(struct dlprof_segment *shared)
{
	struct utsname name;
	struct text field;

	shared->header.abi = DLPROF_SEGMENT_ABI;
	shared->header.flags = own.flags;
	shared->header.slot_count = DLPROF_SLOT_COUNT;
	shared->header.slot_bytes = sizeof(struct dlprof_slot);
	shared->header.ring_capacity = DLPROF_RING_CAPACITY;
	shared->header.event_bytes = sizeof(struct dlprof_event);
	shared->header.tally_bytes = sizeof(struct dlprof_tally);
	shared->header.tally_count = DLPROF_TALLY_COUNT;
	shared->header.pid = own.pid;
	shared->header.ppid = (int32_t)sys_call0(SYS_getppid);
	shared->header.start_ticks = process_start_ticks();
	shared->header.created_ns = clock_now_ns();
	shared->header.created_unix_ns = clock_ns(CLOCK_REALTIME);
	shared->header.rank = own.rank;
	shared->header.local_rank = own.local_rank;
	text_init(&field, shared->header.version, sizeof(shared->header.version));
	text_add(&field, DLPROF_VERSION);
	if (sys_call1(SYS_uname, &name) == 0) {
		text_init(&field, shared->header.host, sizeof(shared->header.host));
		text_add(&field, name.nodename);
		text_init(&field, shared->header.kernel, sizeof(shared->header.kernel));
		text_add(&field, name.release);
	}
	process_command(shared->header.command, sizeof(shared->header.command));
	shared->header.magic = DLPROF_SEGMENT_MAGIC;
}

/* Never over a segment that is there: a process that went through exec() has one of that name. */
static int give_name(const char *unfinished, struct text *path)
{
	size_t stem = path->length;
	int r;

	for (int suffix = 0;; suffix++) {
		path->length = stem;
		if (suffix) {
			text_add(path, "-");
			text_add_number(path, suffix);
		}
		text_add(path, DLPROF_SEGMENT_SUFFIX);
		r = (int)sys_call6(SYS_renameat2, AT_FDCWD, (long)unfinished, AT_FDCWD,
				   (long)path->buffer, RENAME_NOREPLACE, 0);
		if (r != -EEXIST || suffix == SEGMENT_MAX)
			return r;
	}
}

/* Callers hold `growing`, or are the only thread. */
static int add_segment(void)
{
	uint32_t index = own.count;
	struct segment *segment;
	TEXT(path, 640);
	TEXT(unfinished, 656);
	int r;

	if (index == SEGMENT_MAX)
		return -ENFILE;
	text_add(&path, own.folder);
	text_add(&path, "/");
	text_add_number(&path, own.pid);
	text_add(&path, "-");
	text_add_number(&path, (int64_t)(process_start_ticks() + thread_life));
	text_add(&path, "-");
	text_add_number(&path, index);
	text_add(&unfinished, path.buffer);
	text_add(&unfinished, DLPROF_SEGMENT_UNFINISHED);
	segment = &own.segments[index];
	r = map_file(unfinished.buffer, &segment->shared);
	if (r < 0)
		return r;
	fill_header(segment->shared);
	r = give_name(unfinished.buffer, &path);
	if (r < 0) {
		sys_unlink(unfinished.buffer);
		sys_munmap(segment->shared, sizeof(struct dlprof_segment));
		return r;
	}
	memset(threads_of(segment), 0, sizeof(segment->threads[0]));
	atomic_store_explicit(&own.count, index + 1, memory_order_release);
	return 0;
}

/* Calls that were begun in the life before find at their end that there are none. */
static void drop_calls(struct segment *segment)
{
	struct thread *threads = segment->threads[(thread_life + 1) % 2];

	for (int i = 0; i < DLPROF_SLOT_COUNT; i++) {
		if (threads[i].frame)
			threads[i].frame = &threads[i].frames[0];
		threads[i].frames[0].inner_ticks += 2 * THREAD_NEVER_TICKS;
	}
}

int segment_open(const char *folder, uint32_t flags, int32_t rank, int32_t local_rank)
{
	for (uint32_t i = 0; i < own.count; i++) {
		drop_calls(&own.segments[i]);
		sys_munmap(own.segments[i].shared, sizeof(struct dlprof_segment));
	}
	own.count = 0;
	own.growing = 0;
	own.claims = 0;
	own.full = false;
	own.retry_ns = 0;
	own.flags = flags;
	own.rank = rank;
	own.local_rank = local_rank;
	own.pid = sys_getpid();
	if (strlen(folder) >= sizeof(own.folder))
		return -ENAMETOOLONG;
	if (folder != own.folder)
		strcpy(own.folder, folder);
	return add_segment();
}

static struct thread *claim_in(struct segment *segment, uint32_t tid)
{
	for (uint32_t i = 0; i < DLPROF_SLOT_COUNT; i++) {
		struct dlprof_slot *slot = &segment->shared->slots[i];
		uint32_t expected = 0;

		if (atomic_load_explicit(&slot->tid, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(&slot->tid, &expected, tid))
			continue;
		own.claims++;
		thread_reset(&threads_of(segment)[i], slot);
		return &threads_of(segment)[i];
	}
	return NULL;
}

struct thread *segment_claim(void)
{
	uint32_t count = atomic_load_explicit(&own.count, memory_order_acquire);
	struct thread *thread = NULL;
	uint64_t now_ns;
	uint32_t tid;

	/* A vfork child shares our memory, and its slot would become its parent's. */
	if (!segment_is_own())
		return NULL;
	now_ns = own.full ? clock_now_ns() : 0;
	if (now_ns < own.retry_ns)
		goto lost;
	tid = (uint32_t)sys_gettid();
	for (uint32_t i = 0; i < count && !thread; i++)
		thread = claim_in(&own.segments[i], tid);
	if (thread)
		return thread;
	/* Never wait: whoever loses this race records from its next operation on. */
	if (!own.full && !atomic_exchange(&own.growing, 1)) {
		own.full = add_segment() < 0;
		if (!own.full)
			thread = claim_in(&own.segments[own.count - 1], tid);
		atomic_store(&own.growing, 0);
	}
	if (thread)
		return thread;
	if (own.full)
		own.retry_ns = now_ns + RETRY_NS;
lost:
	own.segments[0].shared->header.lost_count++;
	return NULL;
}

/* Slots whose thread is dead count, too. Each has one writer, which need not be waited for. */
bool segment_others(const struct thread *thread, struct dlprof_counter sums[DLPROF_CLASS_MAX])
{
	uint32_t count = atomic_load_explicit(&own.count, memory_order_acquire);

	memset(sums, 0, DLPROF_CLASS_MAX * sizeof(sums[0]));
	if (likely(own.claims <= 1))
		return false;
	for (uint32_t i = 0; i < count * DLPROF_SLOT_COUNT; i++) {
		const struct dlprof_slot *slot =
			&own.segments[i / DLPROF_SLOT_COUNT].shared->slots[i % DLPROF_SLOT_COUNT];

		for (int k = 0; slot != thread->slot && k < DLPROF_CLASS_MAX; k++) {
			const struct dlprof_counter *counter = &slot->counters[k];

			sums[k].count += __atomic_load_n(&counter->count, __ATOMIC_RELAXED);
			sums[k].bytes += __atomic_load_n(&counter->bytes, __ATOMIC_RELAXED);
		}
	}
	return true;
}

bool segment_is_growing(void)
{
	return own.growing;
}

void segment_note(char level, const char *text)
{
	struct dlprof_segment *shared = segment_first();
	TEXT(line, 512);
	uint32_t at;

	text_add_bytes(&line, &level, 1);
	text_add(&line, text);
	for (size_t i = 0; i < line.length; i++)
		if (line.buffer[i] == '\n')
			line.buffer[i] = ' ';
	if (line.cut)
		line.length--;
	text_add(&line, "\n");
	log_line("note", text);
	if (!shared)
		return;
	at = atomic_fetch_add(&shared->header.notes_bytes, (uint32_t)line.length);
	if (at <= DLPROF_NOTES_BYTES && line.length <= DLPROF_NOTES_BYTES - at)
		memcpy(shared->header.notes + at, line.buffer, line.length);
}
