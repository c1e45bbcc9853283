/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/segments/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "drain/base/now.h"
#include "drain/segments/trust.h"

#define SLOT_HEADER_BYTES offsetof(struct dlprof_slot, near)

/* Where a member of slot `index`, or of the header, is in the file. */
#define IN_SLOT(index, member)                                                                     \
	(slot_offset(index) + (off_t)offsetof(struct dlprof_slot, member))
#define IN_HEADER(member) ((off_t)offsetof(struct dlprof_header, member))

static off_t slot_offset(size_t index)
{
	return (off_t)(offsetof(struct dlprof_segment, slots) + index * sizeof(struct dlprof_slot));
}

static int read_at(int fd, void *buffer, size_t size, off_t offset)
{
	ssize_t got;

	do
		got = pread(fd, buffer, size, offset);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	return (size_t)got == size ? 0 : -EBADMSG;
}

static int write_at(int fd, const void *buffer, size_t size, off_t offset)
{
	ssize_t put;

	do
		put = pwrite(fd, buffer, size, offset);
	while (put < 0 && errno == EINTR);
	return put == (ssize_t)size ? 0 : put < 0 ? -errno : -EIO;
}

static int check_header(const struct segment *segment)
{
	const struct dlprof_header *header = segment->header;
	struct stat status;

	if (header->magic != DLPROF_SEGMENT_MAGIC || header->abi != DLPROF_SEGMENT_ABI ||
	    header->slot_count != DLPROF_SLOT_COUNT ||
	    header->slot_bytes != sizeof(struct dlprof_slot) ||
	    header->near_capacity != DLPROF_NEAR_CAPACITY ||
	    header->ring_capacity != DLPROF_RING_CAPACITY ||
	    header->event_bytes != sizeof(struct dlprof_event) ||
	    header->tally_bytes != sizeof(struct dlprof_tally) ||
	    header->tally_count != DLPROF_TALLY_COUNT || header->pid <= 0)
		return -EBADMSG;
	if (fstat(segment->fd, &status) < 0)
		return -errno;
	return status.st_size != (off_t)sizeof(struct dlprof_segment) ? -EBADMSG : 0;
}

static void terminate(struct dlprof_header *header)
{
	header->version[sizeof(header->version) - 1] = '\0';
	header->host[sizeof(header->host) - 1] = '\0';
	header->kernel[sizeof(header->kernel) - 1] = '\0';
	header->command[sizeof(header->command) - 1] = '\0';
	header->stored_at[sizeof(header->stored_at) - 1] = '\0';
	if (header->notes_bytes > DLPROF_NOTES_BYTES)
		header->notes_bytes = DLPROF_NOTES_BYTES;
}

int segment_refresh(struct segment *segment)
{
	struct dlprof_header *fresh = malloc(sizeof(struct dlprof_header));
	const struct dlprof_header *header = segment->header;
	int r;

	if (!fresh)
		return -ENOMEM;
	r = read_at(segment->fd, fresh, sizeof(*fresh), 0);
	/* If the header names another process now, it is damaged. */
	if (r == 0 && fresh->pid == header->pid && fresh->start_ticks == header->start_ticks &&
	    fresh->created_ns == header->created_ns && fresh->flags == header->flags) {
		terminate(fresh);
		*segment->header = *fresh;
	}
	free(fresh);
	return r;
}

int segment_open(int folder, const char *name, struct segment **ret_segment)
{
	struct segment *segment;
	int r = -ENOMEM;

	if (strlen(name) >= sizeof(segment->name))
		return -ENAMETOOLONG;
	segment = calloc(1, sizeof(*segment));
	if (!segment)
		return -ENOMEM;
	strcpy(segment->name, name);
	segment->alive.pidfd = -1;
	segment->exit_status = -1;
	segment->fd = r = trust_open_file(folder, name, O_RDWR);
	if (r < 0)
		goto fail;
	/* Most pages of the file are holes. Reading ahead would fill memory with their zeroes. */
	posix_fadvise(segment->fd, 0, 0, POSIX_FADV_RANDOM);
	r = -ENOMEM;
	segment->header = malloc(sizeof(struct dlprof_header));
	if (!segment->header)
		goto fail;
	r = read_at(segment->fd, segment->header, sizeof(*segment->header), 0);
	if (r == 0)
		r = check_header(segment);
	if (r < 0)
		goto fail;
	terminate(segment->header);
	for (size_t i = 0; i < DLPROF_SLOT_COUNT; i++) {
		struct ring *ring = &segment->rings[i];

		r = read_at(segment->fd, &ring->published, sizeof(ring->published),
			    IN_SLOT(i, tail));
		if (r < 0)
			goto fail;
		ring->read = ring->release = ring->published;
	}
	alive_begin(&segment->alive, segment->header, segment->fd);
	*ret_segment = segment;
	return 0;

fail:
	segment_close(segment);
	return r;
}

bool segment_is_first(struct segment *const *segments, size_t index)
{
	const struct life life = segment_life(segments[index]);

	for (size_t i = 0; i < index; i++) {
		const struct life other = segment_life(segments[i]);

		if (life_is(&life, &other) && !segments[i]->dead)
			return false;
	}
	return true;
}

void segment_close(struct segment *segment)
{
	if (!segment)
		return;
	if (segment->fd >= 0)
		close(segment->fd);
	alive_end(&segment->alive);
	free(segment->header);
	free(segment);
}

bool segment_poll(struct segment *segment, bool is_root_gone)
{
	if (segment->dead)
		return false;
	if (segment->later_ns) {
		segment->dead = true;
		return true;
	}
	if (alive_now(&segment->alive, is_root_gone)) {
		segment->lived = true;
		if (!segment->left_ns && alive_is_other(&segment->alive))
			segment->left_ns = now_ns();
		return false;
	}
	segment->dead = true;
	/* If the process ended before this drain first looked, the time of its end is unknown. */
	if (segment->lived)
		segment->gone_ns = now_ns();
	segment->exit_status = alive_exit_status(&segment->alive);
	return true;
}

/* Reads `count` records from a ring at offset `base`. They may wrap around its end. */
static int read_around(struct segment *segment, off_t base, size_t capacity, uint64_t from,
		       size_t count, struct dlprof_event *events)
{
	size_t place = (size_t)(from % capacity), first = count;
	int r;

	if (first > capacity - place)
		first = capacity - place;
	r = read_at(segment->fd, events, first * sizeof(*events),
		    base + (off_t)(place * sizeof(*events)));
	if (r == 0 && first < count)
		r = read_at(segment->fd, events + first, (count - first) * sizeof(*events), base);
	return r;
}

static uint64_t near_count(const struct ring *ring)
{
	uint64_t count = ring->head - ring->read;

	if (!ring->far_from)
		return count;
	if (ring->far_from - ring->read < count)
		return ring->far_from - ring->read;
	return ring->far_from > ring->read ? count : 0;
}

static int read_events(struct segment *segment, size_t index, size_t count,
		       struct dlprof_event *events)
{
	const struct ring *ring = &segment->rings[index];
	size_t near = (size_t)near_count(ring);
	int r = 0;

	if (near)
		r = read_around(segment, IN_SLOT(index, near), DLPROF_NEAR_CAPACITY, ring->read,
				near, events);
	if (r == 0 && near < count)
		r = read_around(segment, IN_SLOT(index, far), DLPROF_RING_CAPACITY,
				ring->read + near, count - near, events + near);
	return r;
}

static int read_head(const struct segment *segment, size_t index, uint64_t *ret_head)
{
	return read_at(segment->fd, ret_head, sizeof(*ret_head), IN_SLOT(index, head));
}

/* Reads `head` before `far_from`; dlprof/segment.h explains the order. */
static int look_at_ring(struct segment *segment, size_t index, size_t *ret_count)
{
	static struct dlprof_slot slot; /* only the first SLOT_HEADER_BYTES are read and used */
	struct ring *ring = &segment->rings[index];
	int r = read_at(segment->fd, &slot, SLOT_HEADER_BYTES, slot_offset(index));

	*ret_count = 0;
	if (r < 0)
		return r;
	ring->head = slot.head;
	ring->used |= ring->tid || ring->head;
	if (ring->lost_count < slot.lost_count)
		ring->lost_count = slot.lost_count;
	if (ring->head == ring->read)
		return 0;
	if (!ring->far_from)
		r = read_at(segment->fd, &ring->far_from, sizeof(ring->far_from),
			    IN_SLOT(index, far_from));
	if (r < 0)
		return r;
	/* A damaged ring, which claims more records than it can hold, is skipped to its head. */
	if (ring->head - ring->read > DLPROF_RING_CAPACITY ||
	    near_count(ring) > DLPROF_NEAR_CAPACITY) {
		ring->lost_count++;
		ring->read = ring->release = ring->head;
	}
	*ret_count = (size_t)(ring->head - ring->read);
	return 0;
}

/* Reads the owners of all slots: a slot that never had an owner need not be read. */
static int read_owners(struct segment *segment)
{
	uint32_t tids[DLPROF_SLOT_COUNT];
	int r = read_at(segment->fd, tids, sizeof(tids), IN_HEADER(tids));

	for (size_t i = 0; r == 0 && i < DLPROF_SLOT_COUNT; i++)
		segment->rings[i].tid = tids[i];
	return r;
}

int segment_read(struct segment *segment,
		 int (*take)(void *context, const struct record *record), void *context,
		 size_t *ret_taken)
{
	static struct dlprof_event events[DLPROF_RING_CAPACITY];
	int r = read_owners(segment);

	for (size_t i = 0; r == 0 && i < DLPROF_SLOT_COUNT; i++) {
		struct ring *ring = &segment->rings[i];
		size_t count = 0;

		if (!segment->looked || segment->dead || ring->tid || ring->used)
			r = look_at_ring(segment, i, &count);
		/* The slot was taken after read_owners(), and has records already. */
		if (r == 0 && count && !ring->tid)
			r = read_at(segment->fd, &ring->tid, sizeof(ring->tid), IN_HEADER(tids[i]));
		if (r == 0 && count)
			r = read_events(segment, i, count, events);
		for (size_t k = 0; r == 0 && k < count; k++, ring->read++)
			r = take(context,
				 &(struct record){segment, ring, ring->read, &events[k]});
		if (r < 0)
			return r;
		*ret_taken += count;
	}
	segment->looked |= r == 0;
	return r;
}

bool segment_is_filling(struct segment *segment)
{
	uint64_t head;

	if (segment->dead || read_owners(segment) < 0)
		return false;
	for (size_t i = 0; i < DLPROF_SLOT_COUNT; i++) {
		struct ring *ring = &segment->rings[i];

		if (ring->tid && (!ring->used || read_head(segment, i, &head) < 0 ||
				  head - ring->read > DLPROF_NEAR_CAPACITY / 4))
			return true;
	}
	return false;
}

int segment_read_tallies(const struct segment *segment, size_t slot,
			 struct dlprof_tally tallies[DLPROF_TALLY_COUNT])
{
	return read_at(segment->fd, tallies, sizeof(*tallies) * DLPROF_TALLY_COUNT,
		       IN_SLOT(slot, tallies));
}

int segment_read_unlisted(const struct segment *segment, size_t slot, uint64_t ret_counts[2])
{
	static_assert(offsetof(struct dlprof_slot, unlisted_count) ==
			      offsetof(struct dlprof_slot, unnamed_count) + sizeof(uint64_t),
		      "side by side");

	return read_at(segment->fd, ret_counts, 2 * sizeof(*ret_counts),
		       IN_SLOT(slot, unnamed_count));
}

static off_t stack_offset(size_t place)
{
	return (off_t)(offsetof(struct dlprof_segment, stacks) +
		       place * sizeof(struct dlprof_stack));
}

int segment_read_stack(const struct segment *segment, size_t place, struct dlprof_stack *stack,
		       bool *ret_full)
{
	int r = read_at(segment->fd, stack, offsetof(struct dlprof_stack, bytes),
			stack_offset(place));

	*ret_full = r == 0 && stack->state == DLPROF_STACK_FULL;
	if (*ret_full)
		r = read_at(segment->fd, stack, sizeof(*stack), stack_offset(place));
	if (stack->size > DLPROF_STACK_BYTES)
		stack->size = 0;
	return r;
}

int segment_free_stack(const struct segment *segment, size_t place)
{
	static const uint32_t free_state = DLPROF_STACK_FREE;

	return write_at(segment->fd, &free_state, sizeof(free_state), stack_offset(place));
}

int segment_publish(struct segment *segment, bool free_slots)
{
	static const uint32_t nobody;
	int r;

	for (size_t i = 0; i < DLPROF_SLOT_COUNT; i++) {
		struct ring *ring = &segment->rings[i];

		if (ring->release != ring->published) {
			r = write_at(segment->fd, &ring->release, sizeof(ring->release),
				     IN_SLOT(i, tail));
			if (r < 0)
				return r;
			ring->published = ring->release;
		}
		/* The slot of an ended thread is freed only if the head, read again, shows that all
		 * its records are released. */
		if (free_slots && !segment->dead && ring->tid && ring->release == ring->head &&
		    !alive_has_thread(&segment->alive, ring->tid)) {
			uint64_t head;

			r = read_head(segment, i, &head);
			if (r < 0 || head != ring->release)
				continue;
			ring->tid = 0;
			r = write_at(segment->fd, &nobody, sizeof(nobody), IN_HEADER(tids[i]));
			if (r < 0)
				return r;
		}
	}
	return 0;
}

bool segment_is_empty(const struct segment *segment)
{
	for (size_t i = 0; i < DLPROF_SLOT_COUNT; i++)
		if (segment->rings[i].published != segment->rings[i].head)
			return false;
	return true;
}

void segment_tell(struct segment *segment, int error, const char *where)
{
	struct dlprof_header *header = segment->header;
	int32_t positive = error < 0 ? -error : 0;

	if (!(header->flags & DLPROF_SEGMENT_ROOT) ||
	    (header->store_error == positive && strcmp(header->stored_at, where) == 0) ||
	    strlen(where) >= sizeof(header->stored_at))
		return;
	header->store_error = positive;
	memset(header->stored_at, 0, sizeof(header->stored_at));
	strcpy(header->stored_at, where);
	/* The path is written first, so that a process which sees the error also finds the path. */
	write_at(segment->fd, header->stored_at, sizeof(header->stored_at), IN_HEADER(stored_at));
	write_at(segment->fd, &positive, sizeof(positive), IN_HEADER(store_error));
}

void segment_beat(struct segment *segment, uint64_t now_ns)
{
	if (now_ns - segment->beat_ns < (uint64_t)NS_PER_S)
		return;
	segment->beat_ns = now_ns;
	write_at(segment->fd, &now_ns, sizeof(now_ns), IN_HEADER(heartbeat_ns));
}
