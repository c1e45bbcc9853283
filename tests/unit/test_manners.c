/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manners.c - another client of CUPTI gets what it asks for, and dlprof knows when that client
 * has CUPTI. The functions at the end stand in for CUPTI and the rest of dlprof.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cuda/activity.h"
#include "cuda/cupti.h"
#include "cuda/manners.h"
#include "cuda/record.h"
#include "cuda/state.h"
#include "slots/lookup.h"

int cuptiActivityRegisterCallbacks(cupti_request_function *request,
				   cupti_complete_function *complete);
int cuptiActivityEnable(int kind);
int cuptiActivityDisable(int kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiFinalize(void);
int cuptiActivityRegisterTimestampCallback(void *callback);
int cuptiSetThreadIdType(int type);
int cuptiActivityEnableAllSyncRecords(uint8_t enable);
int cuptiActivityEnableDriverApi(uint32_t number, uint8_t enable);
int cuptiActivitySetAttribute(int attribute, size_t *size, void *value);

static struct {
	cupti_request_function *request;
	cupti_complete_function *complete;
	int result; /* what CUPTI's functions return */
	int yields, flushes, insists, marks, forced;
	uint32_t call; /* last one that the client enabled */
	uint64_t kept;
	bool free_meanwhile; /* dlprof could have taken CUPTI back during a registration */
} real;

static enum state_mode mode = STATE_CUPTI;
static bool yielded;
static uint64_t forced_ns; /* activity_forced_ns during the client's forced flush */
static int requested, completed;
static bool shared_out; /* CUPTI has a buffer of dlprof's, maybe with the client's records */
static size_t completed_size;
static uint8_t theirs[64], copied[64];

static void request_one(uint8_t **buffer, size_t *size, size_t *max_records)
{
	requested++;
	*buffer = theirs;
	*size = sizeof(theirs);
}

static void complete_one(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid_size)
{
	completed++;
	completed_size = valid_size;
	cr_expect_eq(buffer, theirs);
	memcpy(copied, buffer, valid_size);
}

/* Requests a buffer and delivers it, as CUPTI does. */
static void work(void)
{
	uint8_t *buffer;
	size_t size = 0, max = 0;

	real.request(&buffer, &size, &max);
	cr_expect_eq(buffer, theirs);
	cr_expect_eq(manners_buffers_out(), 1);
	real.complete(NULL, 0, buffer, size, size);
	cr_expect_eq(manners_buffers_out(), 0);
}

Test(manners, they_have_their_buffers_and_we_know_of_them)
{
	uint64_t before_ns;

	cr_expect_not(manners_is_taken());
	cr_expect_eq(cuptiActivityRegisterCallbacks(request_one, complete_one), 0);
	cr_expect_eq(real.yields, 1);
	cr_expect_not(real.free_meanwhile, "nobody takes back what is just being taken");
	cr_expect_not(manners_is_taken(), "no kind is theirs yet");
	cr_expect_eq(cuptiActivityEnable(CUPTI_KIND_MEMCPY), 0);
	cr_expect(manners_is_taken());
	work();
	cr_expect(requested == 1 && completed == 1);
	before_ns = clock_now_ns();
	cr_expect_eq(cuptiActivityDisable(CUPTI_KIND_MEMCPY), 0);
	cr_expect_not(manners_is_free(before_ns + 99999999), "they may enable another");
	cr_expect_not(manners_is_free(before_ns - 1000000), "looked at the clock before");
	cr_expect(manners_is_free(clock_now_ns() + 100000000));
}

/* While another client's forced flush lasts, dlprof knows since when. */
Test(manners, who_forces_is_known_while_it_lasts)
{
	const uint64_t before_ns = clock_now_ns();

	cr_expect_eq(cuptiActivityFlushAll(0), 0);
	cr_expect(real.flushes == 0 && real.forced == 0);
	cr_expect_eq(cuptiActivityFlushAll(1), 0);
	cr_expect(real.flushes == 1 && real.forced == 1, "what has ended comes first");
	cr_expect(forced_ns >= before_ns && forced_ns <= clock_now_ns());
	cr_expect_eq(activity_forced_ns, 0);
	mode = STATE_HOST;
	cr_expect_eq(cuptiActivityFlushAll(1), 0);
	cr_expect(real.flushes == 1 && real.forced == 2 && forced_ns == 0);
}

/* A client registered its callbacks before dlprof did, and later only enables a kind. */
Test(manners, who_only_enables_has_the_callbacks_again)
{
	mode = STATE_HOST;
	cr_expect_eq(cuptiActivityRegisterCallbacks(request_one, complete_one), 0);
	mode = STATE_CUPTI;
	real.request = NULL; /* now dlprof's */
	cr_expect_eq(cuptiActivityEnable(CUPTI_KIND_MEMCPY), 0);
	cr_expect_eq(real.yields, 1);
	cr_assert_not_null(real.request);
	work();
	cr_expect(requested == 1 && completed == 1);
	real.request = NULL;
	cuptiActivityEnable(CUPTI_KIND_MEMSET);
	cr_expect_null(real.request, "theirs are there");
}

/* When a client comes, and at each kind that it enables, the buffers that CUPTI has are marked. */
Test(manners, who_comes_finds_what_is_out_marked)
{
	cuptiActivityRegisterCallbacks(request_one, complete_one);
	cr_expect_eq(real.marks, 1);
	cuptiActivityEnable(CUPTI_KIND_MEMCPY);
	cr_expect_eq(real.marks, 2);
	cuptiActivityDisable(CUPTI_KIND_MEMCPY);
	cr_expect_eq(real.marks, 2);
}

/* A client flushes only if CUPTI has a buffer of its own: dlprof requests one from it. */
Test(manners, one_buffer_of_theirs_stands_in_for_ours)
{
	manners_stand_in();
	cr_expect_eq(requested, 0, "of nobody");
	cuptiActivityRegisterCallbacks(request_one, complete_one);
	manners_stand_in();
	cr_expect_eq(requested, 0, "nothing of theirs is recorded");
	shared_out = true;
	manners_stand_in();
	manners_stand_in();
	cr_expect_eq(requested, 1, "one is enough");
	cr_expect_eq(manners_buffers_out(), 0, "CUPTI does not have it");
	cr_expect_eq(cuptiActivityFlushAll(0), 0);
	cr_expect_eq(completed, 0, "what is not complete stays out");
	completed_size = 1;
	cr_expect_eq(cuptiActivityFlushAll(1), 0);
	cr_expect(completed == 1 && completed_size == 0);
	cr_expect_eq(real.forced, 1);
	cuptiActivityFlushAll(1);
	cr_expect_eq(completed, 1, "once");
	shared_out = false;
	cuptiActivityEnable(CUPTI_KIND_MEMCPY);
	manners_stand_in();
	cr_expect_eq(requested, 2, "they record");
	cuptiFinalize();
	cr_expect_eq(completed, 2);
	manners_stand_in();
	cr_expect_eq(requested, 2, "they are gone");
}

static void complete_other(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			   size_t valid_size)
{
	cr_expect_fail("another's buffer");
}

Test(manners, another_user_does_not_get_the_stand_in)
{
	cuptiActivityRegisterCallbacks(request_one, complete_one);
	cuptiActivityEnable(CUPTI_KIND_MEMCPY);
	manners_stand_in();
	cuptiActivityRegisterCallbacks(request_one, complete_other);
	cr_expect(requested == 1 && completed == 1);
	cuptiActivityFlushAll(1);
}

/* A client's records in a buffer of dlprof's are copied to a buffer of the client's. */
Test(manners, a_shared_buffer_is_copied)
{
	uint8_t ours[64];

	cuptiActivityRegisterCallbacks(request_one, complete_one);
	cr_assert_not_null(activity_share);
	memset(ours, 7, sizeof(ours));
	activity_share(NULL, 0, ours, 48);
	cr_expect(completed == 1 && copied[0] == 7 && copied[47] == 7 && copied[48] == 0);
	cuptiFinalize();
	activity_share(NULL, 0, ours, 48);
	cr_expect_eq(completed, 1, "nobody is there");
}

Test(manners, what_is_no_takeover_is_passed_on)
{
	mode = STATE_HOST;
	cr_expect_eq(cuptiActivityRegisterCallbacks(request_one, complete_one), 0);
	cr_expect(real.request == request_one && real.complete == complete_one, "as it came");
	cr_expect_eq(real.yields, 0);
	mode = STATE_CUPTI;
	real.result = 27;
	cr_expect_eq(cuptiActivityEnable(10), 27, "the real answer");
	cr_expect_not(manners_is_taken(), "what failed is not theirs");
	cr_expect_eq(cuptiActivityRegisterTimestampCallback(NULL), 27);
	cr_expect_eq(real.flushes, 1, "what there is by the old clock");
	cr_expect(manners_take_clock_change());
	cr_expect_not(manners_take_clock_change(), "once");
}

Test(manners, finalize_leaves_nobody_anything)
{
	cuptiActivityRegisterCallbacks(request_one, complete_one);
	cuptiActivityEnable(10);
	cr_expect_eq(cuptiFinalize(), 0);
	cr_expect_not(manners_is_taken());
	cr_expect_eq(real.kept, 0);
	cr_expect(manners_is_free(clock_now_ns() + 100000000));
}

/* A client's settings are kept until it records; until then dlprof's are in force. */
Test(manners, settings_of_theirs_are_kept_for_them)
{
	cr_expect_eq(cuptiSetThreadIdType(2), 0);
	cr_expect_eq(activity_others.thread_id_type, 2);
	cr_expect_eq(cuptiActivityEnableAllSyncRecords(0), 0);
	cr_expect_eq(activity_others.sync_records, 0);
	cr_expect_eq(cuptiActivityEnableDriverApi(307, 1), 0);
	cr_expect_eq(real.call, 307);
	cr_expect_eq(real.insists, 3);
	real.result = 1;
	cr_expect_eq(cuptiSetThreadIdType(1), 1);
	cr_expect_eq(activity_others.thread_id_type, 2, "refused");
	cr_expect_eq(real.insists, 3);
	cr_expect_eq(real.yields, 0);
}

/* dlprof ends its records before a client makes all threads share buffers. */
Test(manners, buffers_of_all_threads_come_after_ours)
{
	uint8_t no = 0;
	size_t size = sizeof(no);

	cr_expect_eq(cuptiActivitySetAttribute(5, &size, &no), 0);
	cr_expect_eq(real.yields, 0);
	cr_expect_eq(cuptiActivitySetAttribute(9, &size, &no), 0);
	cr_expect_eq(real.yields, 1);
}

/* Sharing buffers does not give a client its callbacks; enabling a kind later does. */
Test(manners, buffers_of_all_threads_are_not_theirs_yet)
{
	uint8_t no = 0;
	size_t size = sizeof(no);

	cuptiActivityRegisterCallbacks(request_one, complete_one);
	yielded = false; /* dlprof has CUPTI again */
	real.request = NULL;
	cuptiActivitySetAttribute(9, &size, &no);
	cr_expect(real.yields == 2 && !real.request);
	cuptiActivityEnable(CUPTI_KIND_MEMCPY);
	cr_assert_not_null(real.request);
	work();
	real.request = NULL;
	cuptiActivityEnable(CUPTI_KIND_MEMSET);
	cr_expect_null(real.request, "theirs are there");
}

/* dlsym() gives dlprof's wrappers only for the libcupti in use, not for another copy. */
Test(manners, dlsym_answers_for_the_libcupti_in_use_alone)
{
	int other;

	manners_begin();
	cr_assert_not_null(lookup_answer);
	cr_expect_eq(lookup_answer("cuptiActivityEnable", lookup_real(NULL, "cuptiActivityEnable")),
		     (void *)cuptiActivityEnable);
	cr_expect_eq(lookup_answer("cuptiActivityEnable", &other), (void *)&other);
	cr_expect_eq(lookup_answer("cuptiGetVersion", &other), (void *)&other);
}

/* Calls in random order, some of which fail: each reaches CUPTI, and the client's kinds are known.
 */
Test(manners, random_calls_agree_with_a_list)
{
	uint64_t kinds = 0;
	bool registered = false;

	srand(6);
	for (int i = 0; i < 20000; i++) {
		int kind = rand() % 70 - 3, r = rand() % 5 ? 0 : 1 + rand() % 40;
		uint64_t bit = kind >= 0 && kind < 64 ? UINT64_C(1) << kind : 0;

		real.result = r;
		switch (rand() % 8) {
		case 0:
			cr_expect_eq(cuptiActivityRegisterCallbacks(request_one, complete_one), r);
			cr_expect_eq(real.kept, kinds, "theirs stay enabled");
			registered = true;
			break;
		case 1:
			cr_expect_eq(cuptiFinalize(), r);
			kinds = 0;
			registered = false;
			break;
		case 2:
		case 3:
		case 4:
			cr_expect_eq(cuptiActivityEnable(kind), r);
			kinds |= r ? 0 : bit;
			break;
		default:
			cr_expect_eq(cuptiActivityDisable(kind), r);
			kinds &= ~bit;
			break;
		}
		cr_expect_eq(manners_is_taken(), registered && kinds);
		cr_expect_eq(manners_is_free(UINT64_MAX / 2), !kinds);
		cr_assert_eq(manners_buffers_out(), 0);
	}
}

static int real_flush(uint32_t flag)
{
	cr_expect_eq(flag, 0);
	real.flushes++;
	return 0;
}

/* Functions that manners.c calls. */
struct cupti cupti = {.ActivityFlushAll = real_flush};
cupti_complete_function *_Atomic activity_their_complete;
_Atomic uint64_t activity_forced_ns;
void (*_Atomic activity_share)(void *context, uint32_t stream, const uint8_t *buffer,
			       size_t valid_size);

static int real_register(cupti_request_function *request, cupti_complete_function *complete)
{
	real.request = request;
	real.complete = complete;
	real.free_meanwhile = manners_is_free(clock_now_ns());
	return real.result;
}

static int real_flush_all(uint32_t flag)
{
	real.forced += flag == 1;
	forced_ns = activity_forced_ns;
	return real.result;
}

static int real_enable(int kind)
{
	return real.result;
}

static int real_other(void)
{
	return real.result;
}

static void *find_real(void *handle, const char *name)
{
	return strcmp(name, "cuptiActivityRegisterCallbacks") == 0 ? (void *)real_register
	       : strcmp(name, "cuptiActivityFlushAll") == 0        ? (void *)real_flush_all
	       : strcmp(name, "cuptiActivityEnable") == 0          ? (void *)real_enable
								   : (void *)real_other;
}

void *(*lookup_real)(void *handle, const char *name) = find_real;
void *(*lookup_answer)(const char *name, void *found);
struct activity_others activity_others = {.sync_records = 1};

void activity_insist(void)
{
	real.insists++;
}

void api_note_theirs(uint32_t record_kind, uint32_t number, bool wanted)
{
	real.call = wanted ? number : 0;
}

void lookup_resolve(void)
{
}

void *cupti_mapped(void)
{
	return NULL;
}

enum state_mode state_mode(void)
{
	return mode;
}

void state_wake(void)
{
}

bool state_is_yielded(void)
{
	return yielded;
}

void activity_yield(uint64_t keep)
{
	real.yields++;
	real.kept = keep;
	yielded = true;
}

void activity_mute(bool muted)
{
}

void buffers_share_out(void)
{
	cr_expect(yielded, "before that, a request would not be marked");
	real.marks++;
}

bool buffers_shared_out(void)
{
	return shared_out;
}

bool state_is_armed(void)
{
	return true;
}

void activity_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
}

void activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		       size_t valid_size)
{
	activity_their_complete(context, stream, buffer, size, valid_size);
}
