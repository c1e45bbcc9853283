/* SPDX-License-Identifier: Apache-2.0 */
#include "record/segment.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/process.h"
#include "base/sys.h"
#include "base/text.h"
#include "record/backing.h"

#define RETRY_NS    UINT64_C(10000000)
#define NAP_NS	    100000
#define NAP_MAX_NS  1600000
/* no thread waits longer than this while another thread adds a segment */
#define GROWTH_NS   UINT64_C(100000000)

struct segment {
	struct dlprof_segment *shared;
	char path[656];
	/* for each part of a slot: bit i is set if slot i has disk blocks for the part */
	_Atomic uint32_t reserved[SEGMENT_PART_MAX];
};

static struct {
	struct segment segments[SEGMENT_MAX];
	_Atomic uint32_t count;
	_Atomic uint32_t grower; /* tid of the thread that adds a segment; 0: none */
	_Atomic bool in_vain;	 /* a thread waited in vain for the grower: nobody waits again */
	_Atomic uint32_t claims;
	/* No segment can be added, and no free slot is searched for until retry_ns. */
	_Atomic bool full;
	_Atomic uint64_t retry_ns;
	_Atomic uint64_t reserve_ns; /* the disk was full: do not try again before this time */
	_Atomic uint32_t stacks;	/* bit i: stack i has disk blocks */
	_Atomic uint32_t stack_grows;
	uint32_t flags;
	int32_t rank;
	int32_t local_rank;
	int pid;
	uint64_t begun_ns;
	const struct dlprof_header *before; /* header of the program before execve(); NULL: none */
	char folder[512];
} own;

struct dlprof_segment *segment_first(void)
{
	return own.count ? own.segments[0].shared : NULL;
}

RARELY bool segment_is_own_by_pid(void)
{
	return own.count && own.segments[0].shared->header.pid == sys_getpid();
}

void segment_mark_end(void)
{
	if (segment_is_own())
		own.segments[0].shared->header.ended_ns = clock_now_ns();
}

/* Copies what the program before execve() knew of the run into this program's new header. */
static void go_on(struct dlprof_header *header)
{
	strcpy(header->database, own.before->database);
	strcpy(header->stored_at, own.before->stored_at);
	header->has_drain = own.before->has_drain;
	header->heartbeat_ns = own.before->heartbeat_ns;
	header->store_error = own.before->store_error;
	header->so_far = own.before->so_far;
}

static void fill_header(struct dlprof_segment *shared)
{
	struct utsname name;

	shared->header.abi = DLPROF_SEGMENT_ABI;
	shared->header.flags = own.count ? 0 : own.flags;
	shared->header.slot_count = DLPROF_SLOT_COUNT;
	shared->header.slot_bytes = sizeof(struct dlprof_slot);
	shared->header.near_capacity = DLPROF_NEAR_CAPACITY;
	shared->header.ring_capacity = DLPROF_RING_CAPACITY;
	shared->header.event_bytes = sizeof(struct dlprof_event);
	shared->header.tally_bytes = sizeof(struct dlprof_tally);
	shared->header.tally_count = DLPROF_TALLY_COUNT;
	shared->header.pid = own.pid;
	shared->header.ppid = (int32_t)sys_call0(SYS_getppid);
	shared->header.start_ticks = process_start_ticks();
	shared->header.pid_space = process_space();
	shared->header.proc_pid = process_number();
	shared->header.created_ns = own.begun_ns;
	shared->header.created_unix_ns = clock_ns(CLOCK_REALTIME);
	shared->header.rank = own.rank;
	shared->header.local_rank = own.local_rank;
	text_copy(shared->header.version, sizeof(shared->header.version), DLPROF_VERSION);
	if (sys_call1(SYS_uname, &name) == 0) {
		text_copy(shared->header.host, sizeof(shared->header.host), name.nodename);
		text_copy(shared->header.kernel, sizeof(shared->header.kernel), name.release);
	}
	process_command(shared->header.command, sizeof(shared->header.command));
	if (own.before && !own.count)
		go_on(&shared->header);
}

static int reserve(const struct segment *segment, size_t offset, size_t size)
{
	int r;

	if (own.reserve_ns && clock_now_ns() < own.reserve_ns)
		return -ENOSPC;
	r = backing_reserve(segment->path, segment->shared, offset, size);
	own.reserve_ns = r < 0 ? clock_now_ns() + RETRY_NS : 0;
	return r;
}

static const struct {
	size_t offset, size;
} parts[SEGMENT_PART_MAX] = {
	[SEGMENT_RECORDS] = {0, offsetof(struct dlprof_slot, tallies)},
	[SEGMENT_TALLIES] = {offsetof(struct dlprof_slot, tallies),
			     DLPROF_TALLY_KERNELS_AT * sizeof(struct dlprof_tally)},
	[SEGMENT_KERNELS] = {offsetof(struct dlprof_slot, tallies[DLPROF_TALLY_KERNELS_AT]),
			     DLPROF_TALLY_KERNEL_COUNT * sizeof(struct dlprof_tally)},
	[SEGMENT_FAR] = {offsetof(struct dlprof_slot, far), sizeof(((struct dlprof_slot *)0)->far)},
};

static bool has_part(const struct segment *segment, uint32_t index, enum segment_part part)
{
	return segment->reserved[part] & 1u << index;
}

static int reserve_part(struct segment *segment, uint32_t index, enum segment_part part)
{
	int r = 0;

	if (has_part(segment, index, part))
		return 0;
	r = reserve(segment, offsetof(struct dlprof_segment, slots) +
				     index * sizeof(struct dlprof_slot) + parts[part].offset,
		    parts[part].size);
	if (r == 0)
		atomic_fetch_or(&segment->reserved[part], 1u << index);
	return r;
}

static struct segment *segment_of(const struct dlprof_slot *slot, uint32_t *ret_index)
{
	for (uint32_t i = 0; i < own.count; i++) {
		const struct dlprof_slot *slots = own.segments[i].shared->slots;

		if (slot >= slots && slot < slots + DLPROF_SLOT_COUNT) {
			*ret_index = (uint32_t)(slot - slots);
			return &own.segments[i];
		}
	}
	return NULL;
}

int segment_reserve(const struct dlprof_slot *slot, enum segment_part part)
{
	uint32_t index;
	struct segment *segment = segment_of(slot, &index);

	return segment ? reserve_part(segment, index, part) : -EINVAL;
}

struct dlprof_stack *segment_stack(uint32_t index)
{
	struct segment *segment = &own.segments[0];
	bool made;

	if (!own.count)
		return NULL;
	made = own.stacks & 1u << index;
	/* One thread at a time: reserve() may write zeroes over data of another thread. */
	if (!made && !atomic_exchange(&own.stack_grows, 1)) {
		made = own.stacks & 1u << index ||
		       reserve(segment, offsetof(struct dlprof_segment, stacks) +
						index * sizeof(struct dlprof_stack),
			       sizeof(struct dlprof_stack)) == 0;
		if (made)
			atomic_fetch_or(&own.stacks, 1u << index);
		atomic_store(&own.stack_grows, 0);
	}
	return made ? &segment->shared->stacks[index] : NULL;
}

/* Prepares a segment with its first slot, so that a full disk is noticed now and not later. */
static int prepare(struct segment *segment)
{
	TEXT(path, sizeof(segment->path));
	int r = reserve(segment, 0, sizeof(struct dlprof_header));

	if (r == 0)
		r = reserve_part(segment, 0, SEGMENT_RECORDS);
	if (r < 0)
		return r;
	fill_header(segment->shared);
	/* Lock the file before naming it, so that nobody finds it unlocked. */
	if (backing_lock(segment->path))
		segment->shared->header.flags |= DLPROF_SEGMENT_LOCKED;
	segment->shared->header.magic = DLPROF_SEGMENT_MAGIC;
	text_add_bytes(&path, segment->path,
		       strlen(segment->path) - strlen(DLPROF_SEGMENT_UNFINISHED));
	r = backing_give_name(segment->path, &path);
	if (r == 0)
		strcpy(segment->path, path.buffer);
	return r;
}

/* Adds a segment. Only own.grower may call this, or the only thread of a process. */
static int add_segment(void)
{
	uint32_t index = own.count;
	struct segment *segment;
	struct text path;
	int r;

	if (index == SEGMENT_MAX)
		return -ENFILE;
	segment = &own.segments[index];
	for (int part = 0; part < SEGMENT_PART_MAX; part++)
		segment->reserved[part] = 0;
	/* The path contains the time, because pids repeat. */
	text_init(&path, segment->path, sizeof(segment->path));
	text_format(&path, "%s/%d-%lu-%u" DLPROF_SEGMENT_UNFINISHED, own.folder, own.pid,
		    own.begun_ns, index);
	r = backing_make(segment->path, &segment->shared);
	if (r < 0)
		return r;
	r = prepare(segment);
	if (r < 0) {
		sys_unlink(segment->path);
		sys_munmap(segment->shared, sizeof(struct dlprof_segment));
		return r;
	}
	atomic_store_explicit(&own.count, index + 1, memory_order_release);
	return 0;
}

void segment_go_on(const struct dlprof_header *before)
{
	own.before = before;
}

uint64_t segment_stream(void)
{
	return DLPROF_STREAM_OF(own.pid, own.begun_ns);
}

const char *segment_path(void)
{
	return own.segments[0].path;
}

int segment_open(const char *folder, uint32_t flags, int32_t rank, int32_t local_rank)
{
	const struct dlprof_header *before = own.before;
	int r;

	note_into(NULL);
	for (uint32_t i = 0; i < own.count; i++)
		sys_munmap(own.segments[i].shared, sizeof(struct dlprof_segment));
	memset(&own, 0, sizeof(own));
	own.before = before;
	own.flags = flags;
	own.rank = rank;
	own.local_rank = local_rank;
	own.pid = sys_getpid();
	own.begun_ns = clock_now_ns();
	if (strlen(folder) >= sizeof(own.folder))
		return -ENAMETOOLONG;
	strcpy(own.folder, folder);
	r = add_segment();
	if (r == 0)
		note_into(&own.segments[0].shared->header);
	return r;
}

static bool claim_in(uint32_t at, struct segment_claim *claim)
{
	struct segment *segment = &own.segments[at];

	for (uint32_t i = 0; i < DLPROF_SLOT_COUNT; i++) {
		_Atomic uint32_t *owner = &segment->shared->header.tids[i];
		uint32_t expected = 0;

		if (atomic_load_explicit(owner, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(owner, &expected, claim->tid))
			continue;
		if (reserve_part(segment, i, SEGMENT_RECORDS) < 0) {
			atomic_store(owner, 0);
			return false;
		}
		own.claims++;
		claim->slot = &segment->shared->slots[i];
		claim->segment = at;
		claim->place = i;
		return true;
	}
	return false;
}

/* Adds a segment, unless another thread is adding one, or has added one to the `count` segments. */
static void grow(uint32_t tid, uint32_t count)
{
	uint32_t none = 0;

	if (!atomic_compare_exchange_strong(&own.grower, &none, tid))
		return;
	own.in_vain = false;
	if (own.count == count)
		own.full = add_segment() < 0;
	own.grower = 0;
}

/* Naps while another thread adds a segment. Returns false if waiting would gain no free slot. */
static bool wait_for_growth(uint32_t tid, uint32_t count)
{
	uint64_t until_ns = 0;
	uint32_t grower;
	long nap_ns = NAP_NS;

	while ((grower = own.grower) && own.count == count) {
		/* A signal handler may have interrupted this very thread in grow(). */
		if (grower == tid || own.in_vain)
			return false;
		if (!until_ns)
			until_ns = clock_now_ns() + GROWTH_NS;
		else if (clock_now_ns() > until_ns)
			own.in_vain = true;
		sys_nap(nap_ns);
		nap_ns = nap_ns < NAP_MAX_NS ? 2 * nap_ns : nap_ns;
	}
	return !own.full;
}

bool segment_claim(struct segment_claim *claim)
{
	const uint64_t now_ns = own.full ? clock_now_ns() : 0;
	uint32_t count;

	if (now_ns < own.retry_ns && segment_is_own())
		goto lost;
	do {
		count = atomic_load_explicit(&own.count, memory_order_acquire);
		/* This is a vfork child, which would take a slot from its parent. */
		if (!segment_is_own())
			return false;
		claim->tid = (uint32_t)sys_gettid();
		for (uint32_t i = 0; i < count; i++)
			if (claim_in(i, claim))
				return true;
		if (!own.full)
			grow(claim->tid, count);
	} while (wait_for_growth(claim->tid, count));
	if (own.full)
		own.retry_ns = now_ns + RETRY_NS;
lost:
	own.segments[0].shared->header.lost_count++;
	return false;
}

/* Also sums slots of threads that have ended. Takes no lock, so that no writer ever waits. */
bool segment_others(const struct dlprof_slot *mine, struct dlprof_counter sums[DLPROF_CLASS_MAX])
{
	uint32_t count = atomic_load_explicit(&own.count, memory_order_acquire);

	memset(sums, 0, DLPROF_CLASS_MAX * sizeof(sums[0]));
	if (likely(own.claims <= 1))
		return false;
	for (uint32_t i = 0; i < count * DLPROF_SLOT_COUNT; i++) {
		const struct segment *segment = &own.segments[i / DLPROF_SLOT_COUNT];
		const struct dlprof_slot *slot = &segment->shared->slots[i % DLPROF_SLOT_COUNT];

		if (!has_part(segment, i % DLPROF_SLOT_COUNT, SEGMENT_RECORDS))
			continue;
		for (int k = 0; slot != mine && k < DLPROF_CLASS_MAX; k++) {
			const struct dlprof_counter *counter = &slot->counters[k];

			sums[k].count += __atomic_load_n(&counter->count, __ATOMIC_RELAXED);
			sums[k].bytes += __atomic_load_n(&counter->bytes, __ATOMIC_RELAXED);
		}
	}
	return true;
}
