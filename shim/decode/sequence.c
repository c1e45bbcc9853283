/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/sequence.h"

#include <string.h>

#include "record/activate.h"

static OFTEN struct thread_image *find(struct thread *thread, enum decode_library_id library,
				       const void *handle)
{
	for (uint32_t i = 0; i < THREAD_IMAGE_MAX; i++)
		if (thread->image_handles[i] == handle && thread->images[i].library == library)
			return &thread->images[i];
	return NULL;
}

OFTEN struct thread_image *sequence_started(enum decode_library_id library, const void *handle)
{
	struct thread *thread = thread_self;
	struct thread_image *image;

	if (!thread || !thread->started || thread->life != activate_on())
		return NULL;
	image = find(thread, library, handle);
	return image && image->begin_ticks ? image : NULL;
}

static OFTEN void stop(struct thread *thread, struct thread_image *image)
{
	if (!image->begin_ticks)
		return;
	thread->slot->counters[DLPROF_CLASS_DECODE].bytes += image->taken_bytes;
	tally_add(image->tally, 0, 0, image->taken_bytes);
	image->taken_bytes = 0;
	image->begin_ticks = 0;
	thread->started = NULL;
	for (int i = 0; i < THREAD_IMAGE_MAX; i++)
		if (thread->image_handles[i] && thread->images[i].begin_ticks)
			thread->started = &thread->images[i];
}

static OFTEN struct thread_image *add_image(struct thread *thread, enum decode_library_id library,
					    const void *handle)
{
	struct thread_image *image;
	uint32_t place = 0;

	while (place < THREAD_IMAGE_MAX && thread->image_handles[place])
		place++;
	if (place == THREAD_IMAGE_MAX)
		place = thread->image_next++ % THREAD_IMAGE_MAX;
	image = &thread->images[place];
	if (thread->image_handles[place])
		stop(thread, image);
	memset(image, 0, sizeof(*image));
	image->handle = thread->image_handles[place] = handle;
	image->library = library;
	return image;
}

OFTEN struct thread_image *sequence_part_end(struct unit *unit, const void *handle,
					     struct unit_result result)
{
	struct thread *thread = unit->span.thread;
	struct thread_image *image;

	if (unlikely(!activate_on()))
		return NULL;
	image = find(thread, unit->library, handle);
	if (!image)
		image = add_image(thread, unit->library, handle);
	if (!image->tally && (result.width || result.counted)) {
		image->tally = unit_tally(unit, &result);
		image->pixels = (uint64_t)result.width * result.height;
		tally_add(image->tally, 0, image->pending_ns, image->pending_bytes);
	}
	unit->span.tally = image->tally;
	unit->span.uncounted = !result.counted;
	span_end(&unit->span, result.bytes, result.failed);
	if (!image->tally) {
		image->pending_ns += unit->span.own_ns;
		image->pending_bytes += result.bytes;
	} else if (result.counted) {
		image->tally->pixels += image->pixels;
	}
	image->counted |= result.counted;
	return image;
}

static OFTEN void forget(struct thread *thread, struct thread_image *image)
{
	stop(thread, image);
	thread->image_handles[image - thread->images] = NULL;
}

OFTEN void sequence_forget(struct unit *unit, const void *handle)
{
	struct thread *thread = unit->span.thread;
	struct thread_image *image = find(thread, unit->library, handle);

	if (image && (image->counted || image->tally))
		forget(thread, image);
}

bool sequence_is_counted(const struct unit *unit, const void *handle)
{
	const struct thread_image *image = find(unit->span.thread, unit->library, handle);

	return image && image->counted;
}

static OFTEN struct thread_place place_of(const struct thread *thread)
{
	return (struct thread_place){
		.frame_address = thread->frame->address,
		.load = thread->load,
		.boundary_count = thread->boundary_count,
		.depth = thread_depth(thread),
		.load_depth = thread->load_depth,
	};
}

OFTEN void sequence_start(struct thread_image *image)
{
	struct thread *thread = thread_self;

	if (!image || !thread)
		return;
	image->place = place_of(thread);
	image->inner_ticks = thread->frame->inner_ticks;
	image->begin_ticks = clock_ticks();
	thread->started = image;
}

OFTEN void sequence_end(struct thread_image *image, uintptr_t address, bool is_last)
{
	struct thread *thread = thread_self;
	struct thread_place place;
	uint64_t ticks, ns;

	span_unwind(thread, address);
	place = place_of(thread);
	ticks = clock_ticks() - image->begin_ticks -
		(thread->frame->inner_ticks - image->inner_ticks);
	/* Add no time if the image ended in another place, or overlaps another image. */
	if (memcmp(&place, &image->place, sizeof(place)) == 0 && (int64_t)ticks > 0) {
		ns = clock_length_ns(ticks);
		thread->frame->inner_ticks += ticks;
		thread->slot->counters[DLPROF_CLASS_DECODE].ns += ns;
		tally_add(image->tally, 0, ns, 0);
	}
	if (is_last)
		forget(thread, image);
	else
		stop(thread, image);
}
