/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/manners.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/sys.h"
#include "cuda/activity.h"
#include "cuda/buffers.h"
#include "cuda/cupti.h"
#include "cuda/record.h"
#include "cuda/state.h"
#include "slots/lookup.h"

/* another user counts as gone after this time without a call (profilers switch kinds one by one) */
#define QUIET_NS 100000000

#define EXPORT __attribute__((visibility("default")))

static struct {
	_Atomic bool registered;
	_Atomic uint64_t kinds;  /* bit i: another user has enabled kind i of records */
	_Atomic uint64_t changed_ns;
	_Atomic uint32_t buffers_out;
	_Atomic bool clock_changed;
	_Atomic bool ours_set; /* CUPTI still calls our callbacks, though we gave way to the user */
	cupti_request_function *_Atomic request;
} theirs;

/* libcupti's own functions, looked up at the first call */
static struct {
#define FOREIGN(name, params) int(*name) params;
#include "cuda/foreign.def"
} real;

/* Finds libcupti's own function: in our libcupti, else by RTLD_NEXT, else in a mapped libcupti. */
static void *find(const char *name)
{
	void *found = NULL, *library;

	if (!lookup_real)
		lookup_resolve();
	if (cupti.library)
		found = lookup_real(cupti.library, name);
	if (!found)
		found = lookup_real(RTLD_NEXT, name);
	if (!found) {
		library = cupti_mapped();
		found = library ? lookup_real(library, name) : NULL;
	}
	return found;
}

#define RESOLVE(name)                                                                              \
	do {                                                                                       \
		if (!real.name)                                                                    \
			real.name = find(#name);                                                   \
		if (!real.name)                                                                    \
			return CUPTI_NOT_INITIALIZED;                                              \
	} while (0)

static void note_change(void)
{
	theirs.changed_ns = clock_now_ns();
	if (state_mode() == STATE_CUPTI)
		state_wake();
}

bool manners_is_taken(void)
{
	return theirs.registered && theirs.kinds;
}

bool manners_is_free(uint64_t now_ns)
{
	const uint64_t changed_ns = theirs.changed_ns;

	/* changed_ns is later than now_ns if another user has called just now. */
	return !theirs.kinds && now_ns >= changed_ns && now_ns - changed_ns >= QUIET_NS;
}

bool manners_take_clock_change(void)
{
	return atomic_exchange(&theirs.clock_changed, false);
}

uint32_t manners_buffers_out(void)
{
	return theirs.buffers_out;
}

/* Requests a buffer from the other user, for that user's records. */
static void request_theirs(uint8_t **buffer, size_t *size, size_t *max_records)
{
	theirs.request(buffer, size, max_records);
	if (*buffer)
		atomic_fetch_add(&theirs.buffers_out, 1);
}

static cupti_complete_function *_Atomic their_complete;

static void complete_theirs(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid_size)
{
	uint32_t out = theirs.buffers_out;

	while (out && !atomic_compare_exchange_weak(&theirs.buffers_out, &out, out - 1))
		continue;
	their_complete(context, stream, buffer, size, valid_size);
}

/*
 * Copies another user's records out of a buffer of ours, into one of that user's.
 *
 * CUPTI fills a thread's buffer before it requests another, so our buffers may get another user's
 * records for long. Only marked buffers are copied. Before CUPTI learns of a user, we mark the
 * buffers that CUPTI has, and from then on each buffer that CUPTI requests. None is missed: a
 * request lists its buffer before it checks for a user, and we note the user before we mark the
 * listed buffers. A buffer keeps its mark, as it may come back when CUPTI is ours again: torch's
 * profiler first disables its kinds of records, and flushes CUPTI seconds later.
 *
 * The copy also has records from before and after the user's time. The user selects by time.
 */
static void share_with_them(void *context, uint32_t stream, const uint8_t *buffer,
			    size_t valid_size)
{
	size_t size = 0, max_records = 0;
	uint8_t *copy = NULL;

	if (!theirs.registered)
		return;
	theirs.request(&copy, &size, &max_records);
	if (!copy)
		return;
	if (size < valid_size)
		valid_size = 0;
	memcpy(copy, buffer, valid_size);
	their_complete(context, stream, copy, size, valid_size);
}

/*
 * An empty buffer that we got from the other user of CUPTI. We return it when that user flushes.
 *
 * torch's profiler assumes that nothing was recorded if a flush returns none of its own buffers,
 * though its records may be in ours. Only the writing thread asks for this buffer, because the
 * user's threads may hold the lock that the user's function takes.
 */
static struct {
	uint8_t *_Atomic buffer;
	_Atomic size_t size;
} stand_in;

void manners_stand_in(void)
{
	size_t size = 0, max_records = 0;
	uint8_t *buffer = NULL;

	if (stand_in.buffer || !theirs.registered ||
	    !(theirs.kinds || theirs.buffers_out || buffers_shared_out()))
		return;
	activity_mute(true);
	theirs.request(&buffer, &size, &max_records);
	activity_mute(false);
	stand_in.size = size;
	stand_in.buffer = buffer;
}

static void end_stand_in(void)
{
	uint8_t *buffer =
		state_mode() == STATE_CUPTI ? atomic_exchange(&stand_in.buffer, NULL) : NULL;

	if (buffer)
		their_complete(NULL, 0, buffer, stand_in.size, 0);
}

void manners_restore(void)
{
	theirs.ours_set = false;
	if (theirs.request)
		real.cuptiActivityRegisterCallbacks(request_theirs, activity_complete);
}

static void remember(cupti_request_function *request, cupti_complete_function *complete)
{
	theirs.request = request;
	their_complete = complete;
	activity_their_complete = complete_theirs;
	activity_share = share_with_them;
}

EXPORT int cuptiActivityRegisterCallbacks(cupti_request_function *request,
					  cupti_complete_function *complete)
{
	int r;

	RESOLVE(cuptiActivityRegisterCallbacks);
	if (state_mode() != STATE_CUPTI || !request || !complete) {
		theirs.registered = request && complete;
		/* CUPTI may still have buffers that belong to the user's earlier callbacks. */
		if (theirs.registered)
			remember(request, complete);
		return real.cuptiActivityRegisterCallbacks(request, complete);
	}
	/* Note the change first, so that the writing thread does not take CUPTI back meanwhile. */
	note_change();
	activity_yield(theirs.kinds);
	buffers_share_out();
	if (complete != their_complete)
		end_stand_in();
	remember(request, complete);
	r = real.cuptiActivityRegisterCallbacks(request_theirs, activity_complete);
	theirs.ours_set = false;
	theirs.registered = true;
	note_change();
	return r;
}

/* Gives CUPTI to a user that was here before. The user will not register its callbacks again. */
static void give_back(void)
{
	if (state_mode() != STATE_CUPTI || !theirs.registered)
		return;
	note_change();
	if (!state_is_yielded() || theirs.ours_set) {
		activity_yield(theirs.kinds);
		manners_restore();
	}
	buffers_share_out();
}

EXPORT int cuptiActivityEnable(int kind)
{
	int r;

	RESOLVE(cuptiActivityEnable);
	give_back();
	r = real.cuptiActivityEnable(kind);
	if (r == 0 && kind >= 0 && kind < 64) {
		atomic_fetch_or(&theirs.kinds, UINT64_C(1) << kind);
		note_change();
	}
	return r;
}

EXPORT int cuptiActivityDisable(int kind)
{
	int r;

	RESOLVE(cuptiActivityDisable);
	r = real.cuptiActivityDisable(kind);
	if (kind >= 0 && kind < 64)
		atomic_fetch_and(&theirs.kinds, ~(UINT64_C(1) << kind));
	note_change();
	return r;
}

EXPORT int cuptiActivityFlushAll(uint32_t flag)
{
	uint64_t none = 0;
	bool first;
	int r;

	RESOLVE(cuptiActivityFlushAll);
	if (!(flag & CUPTI_FLUSH_FORCED) || state_mode() != STATE_CUPTI)
		return real.cuptiActivityFlushAll(flag);
	end_stand_in();
	/* Flush without force first: a forced flush may return operations without their ends. */
	if (state_is_armed())
		cupti.ActivityFlushAll(0);
	first = atomic_compare_exchange_strong(&activity_forced_ns, &none, clock_now_ns());
	r = real.cuptiActivityFlushAll(flag);
	if (first)
		activity_forced_ns = 0;
	state_wake();
	return r;
}

/* Notes that libcupti's own function removes the callbacks and kinds of all users. */
EXPORT int cuptiFinalize(void)
{
	int r;

	RESOLVE(cuptiFinalize);
	if (state_mode() == STATE_CUPTI)
		activity_yield(0);
	end_stand_in();
	r = real.cuptiFinalize();
	theirs.kinds = 0;
	theirs.registered = false;
	theirs.buffers_out = 0;
	note_change();
	return r;
}

EXPORT int cuptiActivityRegisterTimestampCallback(void *callback)
{
	int r;

	RESOLVE(cuptiActivityRegisterTimestampCallback);
	/* Records that CUPTI still has carry times of the old clock, so fetch them first. */
	if (state_mode() == STATE_CUPTI && state_is_armed())
		cupti.ActivityFlushAll(0);
	r = real.cuptiActivityRegisterTimestampCallback(callback);
	theirs.clock_changed = true;
	note_change();
	return r;
}

EXPORT int cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
	RESOLVE(cuptiActivitySetAttribute);
	if (attribute == CUPTI_ATTRIBUTE_OWN_BUFFERS && state_mode() == STATE_CUPTI &&
	    state_is_armed()) {
		note_change();
		activity_yield(theirs.kinds);
		/* CUPTI still calls our callbacks, until the other user enables kinds. */
		theirs.ours_set = true;
	}
	return real.cuptiActivitySetAttribute(attribute, size, value);
}

/* Wraps a function by which other users make a setting that we make, too. */
#define SET(call, remember)                                                                        \
	do {                                                                                       \
		const int r = call;                                                                \
                                                                                                   \
		if (r == 0) {                                                                      \
			remember;                                                                  \
			if (state_mode() == STATE_CUPTI)                                           \
				activity_insist();                                                 \
		}                                                                                  \
		return r;                                                                          \
	} while (0)

EXPORT int cuptiActivityEnableRuntimeApi(uint32_t number, uint8_t enable)
{
	RESOLVE(cuptiActivityEnableRuntimeApi);
	if (enable)
		give_back();
	SET(real.cuptiActivityEnableRuntimeApi(number, enable),
	    api_note_theirs(CUPTI_KIND_RUNTIME, number, enable));
}

EXPORT int cuptiActivityEnableDriverApi(uint32_t number, uint8_t enable)
{
	RESOLVE(cuptiActivityEnableDriverApi);
	if (enable)
		give_back();
	SET(real.cuptiActivityEnableDriverApi(number, enable),
	    api_note_theirs(CUPTI_KIND_DRIVER, number, enable));
}

EXPORT int cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	RESOLVE(cuptiActivityEnableAllSyncRecords);
	SET(real.cuptiActivityEnableAllSyncRecords(enable), activity_others.sync_records = enable);
}

EXPORT int cuptiSetThreadIdType(int type)
{
	RESOLVE(cuptiSetThreadIdType);
	SET(real.cuptiSetThreadIdType(type), activity_others.thread_id_type = type);
}

/* Returns our function in place of `found`, if `found` is of the libcupti that we use. */
static void *answer(const char *name, void *found)
{
#define FOREIGN(of, params)                                                                        \
	if (strcmp(name, #of) == 0)                                                                \
		return found == lookup_real(cupti.library, #of) ? (void *)of : found;
#include "cuda/foreign.def"
	return found;
}

void manners_begin(void)
{
	lookup_answer = answer;
}
