/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/manners.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/sys.h"
#include "cuda/activity.h"
#include "cuda/api.h"
#include "cuda/cupti.h"
#include "cuda/record.h"
#include "cuda/state.h"
#include "record/activate.h"
#include "slots/lookup.h"

#define QUIET_NS 100000000 /* profilers disable and enable again, kind by kind */

#define PER_THREAD_BUFFERS 9 /* CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER */

#define EXPORT __attribute__((visibility("default")))

static struct {
	_Atomic bool registered; /* theirs are the callbacks */
	_Atomic uint64_t kinds;  /* bits: enabled by them */
	_Atomic uint64_t changed_ns;
	_Atomic uint32_t buffers_out;
	_Atomic bool clock_changed;
	cupti_request_function *_Atomic request;
} theirs;

/* The real functions. Resolved when first called, since who calls them has its libcupti by then. */
static struct {
#define FOREIGN(name, params) int(*name) params;
#include "cuda/foreign.def"
#undef FOREIGN
} real;

/* The one we use, the one that a call from a library behind us would reach, the mapped one. */
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

	/* The others may have called since the caller looked at the clock. */
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

/* Between CUPTI and them, so that buffers get to whom they belong. */
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
 * A buffer of ours that CUPTI was still writing into when they came holds records of theirs, too:
 * they get a copy, in a buffer of their own.
 */
static void share_with_them(void *context, uint32_t stream, const uint8_t *buffer,
			    size_t valid_size)
{
	size_t size = 0, max_records = 0;
	uint8_t *copy = NULL;

	theirs.request(&copy, &size, &max_records);
	if (!copy)
		return;
	if (size < valid_size)
		valid_size = 0;
	memcpy(copy, buffer, valid_size);
	their_complete(context, stream, copy, size, valid_size);
}

void manners_restore(void)
{
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
		/* The old callbacks stay, since buffers may still be on their way. */
		if (theirs.registered)
			remember(request, complete);
		return real.cuptiActivityRegisterCallbacks(request, complete);
	}
	/* First: who is just taking back what they left then sees that it must not. */
	note_change();
	activity_yield(theirs.kinds);
	remember(request, complete);
	r = real.cuptiActivityRegisterCallbacks(request_theirs, activity_complete);
	theirs.registered = true;
	note_change();
	return r;
}

/* The others set their callbacks once, and we set ours after them. */
static void give_back(void)
{
	if (state_mode() != STATE_CUPTI || !theirs.registered || state_is_yielded())
		return;
	note_change();
	activity_yield(theirs.kinds);
	manners_restore();
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

/* Takes everybody's callbacks and kinds away. */
EXPORT int cuptiFinalize(void)
{
	int r;

	RESOLVE(cuptiFinalize);
	if (state_mode() == STATE_CUPTI)
		activity_yield(0);
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
	/* What there is by the old clock. */
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
	if (attribute == PER_THREAD_BUFFERS && state_mode() == STATE_CUPTI && state_is_armed()) {
		note_change();
		activity_yield(theirs.kinds);
	}
	return real.cuptiActivitySetAttribute(attribute, size, value);
}

/* A setting of CUPTI's that we set, too. They may have it set before they record anything. */
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

/* Only of the libcupti that we use: another copy is not our business. */
static void *answer(const char *name, void *found)
{
#define FOREIGN(of, params)                                                                        \
	if (strcmp(name, #of) == 0)                                                                \
		return found == lookup_real(cupti.library, #of) ? (void *)of : found;
#include "cuda/foreign.def"
#undef FOREIGN
	return found;
}

void manners_begin(void)
{
	lookup_answer = answer;
}
