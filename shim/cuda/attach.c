/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/attach.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/environment.h"
#include "base/sys.h"
#include "base/text.h"
#include "batch/consumer.h"
#include "cuda/activity.h"
#include "cuda/api.h"
#include "cuda/buffers.h"
#include "cuda/cudart.h"
#include "cuda/cupti.h"
#include "cuda/manners.h"
#include "record/activate.h"
#include "record/segment.h"
#include "record/thread.h"
#include "slots/dl.h"

#define VARIABLE       "CUDA_INJECTION64_PATH"
#define MS             UINT64_C(1000000)
#define NS             UINT64_C(1000000000)
#define FINISH_NS      (2 * NS)
#define SILENT_PERIODS 3
#define SILENT_NS      (50 * MS)

enum armed {
	ARMED_NO,
	ARMED_YES,
	ARMED_YIELDED, /* somebody else has CUPTI's buffers */
};

static struct {
	int pid;               /* whose all this is; 0: nobody's yet */
	_Atomic uint32_t mode; /* enum attach_mode */
	_Atomic uint32_t armed;
	_Atomic uint64_t yielded_ns;
	_Atomic bool clock_changed;
	_Atomic uint32_t wakes; /* futex of the writing thread */
	_Atomic uint32_t finish;
	_Atomic uint32_t finished; /* futex of the one that ends the process */
	uint64_t began_ns;
	/* Of the writing thread. */
	bool gap;
	uint64_t gap_ns;     /* its begin */
	uint64_t silence_ns; /* when it was noticed */
	uint64_t launch_ns;  /* the last one at the last period */
	uint64_t newest_ns;  /* what was reported by then */
	uint32_t silent_periods;
} own;

void attach_prepare(void)
{
	if (!config_cuda_is_off())
		environment_inject(VARIABLE);
}

static void note(const char *key, const char *value)
{
	TEXT(line, 256);

	text_add(&line, key);
	text_add(&line, " ");
	text_add(&line, value);
	segment_note('m', line.buffer);
}

static void note_number(const char *key, int64_t value)
{
	TEXT(number, 24);

	text_add_number(&number, value);
	note(key, number.buffer);
}

enum attach_mode attach_mode(void)
{
	return own.pid && own.pid == sys_getpid() ? (enum attach_mode)own.mode : ATTACH_NONE;
}

bool attach_lacks_device_sync(void)
{
	return own.mode == ATTACH_CUPTI && cupti.version == CUPTI_VERSION_13_0;
}

static void stand_down(const char *why)
{
	own.pid = sys_getpid();
	own.mode = ATTACH_HOST;
	note("cuda_mode", "cudart");
	note("cuda_reason", why);
}

void attach_host(void)
{
	if (attach_mode() == ATTACH_NONE)
		stand_down("CUDA did not load dlprof when it came up");
}

void attach_begin(void)
{
	if (config.cuda == CONFIG_CUDA_OFF) {
		own.pid = sys_getpid();
		own.mode = ATTACH_OFF;
		note("cuda_mode", "off");
		note("cuda_reason", "DLPROF_CUDA=off");
	} else if (attach_mode() == ATTACH_NONE && environment_is_others(VARIABLE)) {
		stand_down("CUDA_INJECTION64_PATH is another tool's");
	}
}

void attach_wake(void)
{
	atomic_fetch_add(&own.wakes, 1);
	sys_call3(SYS_futex, &own.wakes, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

static void wait_until(_Atomic uint32_t *futex, uint32_t seen, uint64_t when_ns)
{
	uint64_t now_ns = clock_now_ns();
	struct timespec time;

	if (when_ns <= now_ns)
		return;
	time.tv_sec = (time_t)((when_ns - now_ns) / NS);
	time.tv_nsec = (long)((when_ns - now_ns) % NS);
	sys_call4(SYS_futex, futex, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, seen, &time);
}

void attach_yield(uint64_t keep)
{
	uint64_t now_ns = clock_now_ns();
	uint32_t armed = ARMED_YES;

	if (!atomic_compare_exchange_strong(&own.armed, &armed, ARMED_YIELDED))
		return;
	own.yielded_ns = now_ns;
	/* Without force: what is under way comes when theirs does. */
	cupti.ActivityFlushAll(0);
	if (cupti.version != CUPTI_VERSION_13_0)
		activity_disarm(keep);
	attach_wake();
}

bool attach_is_yielded(void)
{
	return own.armed == ARMED_YIELDED;
}

/* What there is by the old clock. */
void attach_clock_changes(void)
{
	if (attach_mode() == ATTACH_CUPTI && own.armed == ARMED_YES)
		cupti.ActivityFlushAll(0);
}

void attach_clock_changed(void)
{
	if (attach_mode() != ATTACH_CUPTI)
		return;
	own.clock_changed = true;
	attach_wake();
}

static void begin_gap(uint64_t when_ns, const char *why)
{
	if (own.gap)
		return;
	own.gap = true;
	own.gap_ns = when_ns;
	activity_tell(DLPROF_GPU_GAP_BEGIN, when_ns, why);
}

static void end_gap(uint64_t when_ns)
{
	if (!own.gap)
		return;
	own.gap = false;
	own.silent_periods = 0;
	activity_tell(DLPROF_GPU_GAP_END, when_ns, NULL);
}

/* CUPTI reads files of its own: no data of the host's. Nothing of ours is pushed meanwhile. */
static void mute(bool muted)
{
	struct thread *thread = thread_get();

	if (!thread)
		return;
	if (muted)
		thread->quick_life = 0;
	thread->busy = muted;
}

/* The other user is done. Ours are the callbacks again, and the kinds. */
static void take_back(void)
{
	mute(true);
	if (activity_arm() == 0) {
		own.armed = ARMED_YES;
		/* Somebody came back in that moment: theirs must be the last word. */
		if (!manners_is_free(clock_now_ns())) {
			attach_yield(UINT64_MAX);
			manners_restore();
		}
	}
	mute(false);
	if (own.armed == ARMED_YES)
		activity_look(true);
}

/* What other threads asked for. */
static void see_to_others(uint64_t now_ns)
{
	if (atomic_exchange(&own.clock_changed, false))
		activity_look(true);
	if (own.armed == ARMED_YIELDED) {
		begin_gap(own.yielded_ns, "another user of CUPTI");
		if (manners_is_free(now_ns))
			take_back();
	}
	/* Their buffers may hold records of ours until CUPTI gave them back. */
	if (own.armed == ARMED_YES && own.gap && own.yielded_ns && !manners_buffers_out()) {
		own.yielded_ns = 0;
		end_gap(clock_now_ns());
	}
}

/* The host launched, long after the end of the last thing that was reported. */
static bool is_silent(void)
{
	return config.cuda != CONFIG_CUDA_MEMCPY &&
	       cudart_last_launch_ns() > activity_newest_ns() + SILENT_NS &&
	       cudart_last_launch_ns() > own.began_ns + SILENT_NS;
}

/*
 * What was launched last was not reported, though CUPTI has no buffer for it to be in: how far all
 * is known is not to be said until it was.
 */
static bool is_unheard(void)
{
	return config.cuda != CONFIG_CUDA_MEMCPY &&
	       cudart_last_launch_ns() > activity_newest_ns() + MS;
}

/* Up to the end of the last that was reported all is known. */
static void begin_silence(void)
{
	begin_gap(activity_newest_ns() > own.began_ns ? activity_newest_ns() : own.began_ns,
		  "CUPTI reports nothing");
}

/*
 * What was missing came after all, and there was no gap; but if CUPTI still holds a buffer from
 * before, only newer ones came, and that never will.
 */
static void end_silence(void)
{
	own.silent_periods = 0;
	if (!own.gap || own.yielded_ns)
		return;
	if (buffers_abandon(own.silence_ns))
		end_gap(activity_newest_ns());
	else
		end_gap(own.gap_ns);
}

/*
 * Silent for long: somebody took CUPTI's buffers behind our back, or it still holds one of ours
 * that is not full yet. As long as any come, late as they are, nobody did.
 */
static void look_for_silence(void)
{
	const uint64_t launch_ns = cudart_last_launch_ns(), newest_ns = activity_newest_ns();
	bool launched = launch_ns > own.launch_ns + SILENT_NS, heard = newest_ns > own.newest_ns;

	own.launch_ns = launch_ns;
	own.newest_ns = newest_ns;
	if (heard || !is_silent()) {
		end_silence();
		return;
	}
	own.silent_periods += launched;
	if (own.silent_periods < SILENT_PERIODS || own.gap)
		return;
	begin_silence();
	own.silence_ns = clock_now_ns();
}

static void do_period(void)
{
	activity_look(false);
	if (own.armed != ARMED_YES)
		return;
	mute(true);
	activity_flush(false);
	mute(false);
	activity_read();
	look_for_silence();
}

static void *write_records(void *unused)
{
	/* cuInit() is under way on the thread that made this one: nothing is asked of CUPTI yet. */
	uint64_t next_ns = clock_now_ns() + ATTACH_PERIOD_MS * MS;

	activity_look(true);
	while (!own.finish) {
		const uint32_t seen = own.wakes;
		const uint64_t now_ns = clock_now_ns();

		if (now_ns >= next_ns) {
			next_ns = now_ns + ATTACH_PERIOD_MS * MS;
			do_period();
		}
		see_to_others(now_ns);
		activity_read();
		if (own.gap || buffers_out() || !is_unheard())
			activity_tell_complete(false);
		wait_until(&own.wakes, seen,
			   own.armed == ARMED_YIELDED ? now_ns + 20 * MS : next_ns);
	}
	if (own.armed == ARMED_YES) {
		activity_look(false);
		mute(true);
		activity_flush(false);
		mute(false);
		activity_read();
		mute(true);
		activity_flush(true);
		mute(false);
	}
	activity_read();
	if (own.armed == ARMED_YES && is_silent())
		begin_silence();
	else if (own.armed == ARMED_YES)
		end_silence();
	activity_tell_complete(true);
	own.finished = 1;
	sys_call3(SYS_futex, &own.finished, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
	/* Stays until the process is gone: nothing of ours may end while CUPTI may call it. */
	for (;;)
		sys_call4(SYS_ppoll, NULL, 0, NULL, NULL);
	return unused;
}

void attach_finish(void)
{
	uint64_t limit_ns = clock_now_ns() + FINISH_NS;
	uint32_t zero = 0;

	if (own.mode != ATTACH_CUPTI || own.pid != sys_getpid() ||
	    !atomic_compare_exchange_strong(&own.finish, &zero, 1))
		return;
	attach_wake();
	while (!own.finished && clock_now_ns() < limit_ns)
		wait_until(&own.finished, 0, limit_ns);
	if (!own.finished)
		segment_note(
			'w',
			"CUPTI did not give back its last records: the end of the run lacks the "
			"GPU's side");
}

static void finish_at_exit(void *unused)
{
	(void)unused;
	attach_finish();
}

/* Of libc, but not linked: a program without CUDA has no use for them. */
static int start_thread(void)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dl_real(
			RTLD_DEFAULT, "pthread_create");
	uint64_t all = ~UINT64_C(0), before;
	pthread_t thread;
	int r;

	if (!create)
		return -1;
	/* No handler of the host runs in it. */
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	r = create(&thread, NULL, write_records, NULL);
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	return r;
}

/* Runs before what CUDA registered to take itself down, since it is registered later. */
static void call_at_exit(void)
{
	int (*at_exit)(void (*)(void *), void *, void *) =
		(int (*)(void (*)(void *), void *, void *))dl_real(RTLD_DEFAULT, "__cxa_atexit");

	if (at_exit)
		at_exit(finish_at_exit, NULL, NULL);
}

static void ignore(void *data, int domain, uint32_t id, const void *info)
{
	(void)data;
	(void)domain;
	(void)id;
	(void)info;
}

/* CUPTI has one subscriber. Whether there is one; the place is left free, for torch.profiler. */
static int probe(void)
{
	void *handle = NULL;
	int r = cupti.Subscribe(&handle, (void *)ignore, NULL);

	if (r == 0)
		cupti.Unsubscribe(handle);
	return r;
}

static const char *meaning(int result)
{
	switch (result) {
	case CUPTI_MULTIPLE_SUBSCRIBERS:
		return "another tool uses CUPTI";
	case CUPTI_INSUFFICIENT_PRIVILEGES:
		return "CUPTI lacks the privilege, see developer.nvidia.com/ERR_NVGPUCTRPERM";
	case CUPTI_NOT_INITIALIZED:
		return "libcupti is too new for the driver";
	case CUPTI_UNKNOWN:
		return "CUPTI finds no driver";
	default:
		return "CUPTI refuses";
	}
}

static void refuse(const char *what, int result)
{
	TEXT(why, 200);

	text_add(&why, meaning(result));
	text_add(&why, " (");
	text_add(&why, what);
	text_add(&why, " said ");
	text_add_number(&why, result);
	text_add(&why, ")");
	stand_down(why.buffer);
}

/* What is recorded: less than what was asked for where this CUPTI cannot. */
static void note_level(void)
{
	static const char *const names[] = {
		[CONFIG_CUDA_MEMCPY] = "memcpy",
		[CONFIG_CUDA_DEFAULT] = "default",
		[CONFIG_CUDA_API] = "api",
		[CONFIG_CUDA_FULL] = "full",
	};
	const bool lacks = config.cuda >= CONFIG_CUDA_API && !activity_has_calls() &&
			   !(own.armed == ARMED_YIELDED && api_is_possible());

	note("cuda_level",
	     names[lacks && config.cuda == CONFIG_CUDA_API ? CONFIG_CUDA_DEFAULT : config.cuda]);
	if (lacks)
		note("cuda_level_reason",
		     "calls of the host are recorded with the CUPTI of CUDA 12.5 or newer");
}

/* All that is asked of CUPTI: what it does meanwhile is none of the host's. */
static bool arm(void)
{
	enum activity_level level = config.cuda == CONFIG_CUDA_MEMCPY ? ACTIVITY_MEMCPY
				    : config.cuda == CONFIG_CUDA_FULL ? ACTIVITY_FULL
								      : ACTIVITY_DEFAULT;
	TEXT(why, 200);
	int r;

	if (cupti_find(&why) < 0) {
		stand_down(why.buffer);
		return false;
	}
	note_number("cupti_version", cupti.version);
	r = probe();
	if (r != 0) {
		refuse("cuptiSubscribe", r);
		return false;
	}
	if (activity_init(level, config.cuda >= CONFIG_CUDA_API && api_is_possible()) < 0) {
		stand_down("no memory for CUPTI's buffers");
		return false;
	}
	own.began_ns = clock_now_ns();
	if (manners_is_taken()) {
		own.yielded_ns = own.began_ns;
		own.armed = ARMED_YIELDED;
		return true;
	}
	r = activity_arm();
	if (r != 0) {
		refuse("CUPTI's activities", r);
		return false;
	}
	own.armed = ARMED_YES;
	return true;
}

static void begin_cupti(void)
{
	bool armed;

	mute(true);
	armed = arm();
	mute(false);
	if (!armed)
		return;
	own.pid = sys_getpid();
	/* Before a batch can begin: the thread below may be late, the drain waits for nobody. */
	activity_tell(DLPROF_GPU_ATTACHED, own.began_ns, NULL);
	if (start_thread() != 0) {
		activity_disarm(0);
		stand_down("no thread could be made");
		return;
	}
	own.mode = ATTACH_CUPTI;
	note("cuda_mode", "cupti");
	note_level();
	call_at_exit();
}

/* What CUDA calls in cuInit(). It goes on, whatever the answer; 1 is "all is well". */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
	static _Atomic int entered; /* pid */
	int pid = sys_getpid();

	if (config_disabled() || config_cuda_is_off() || atomic_exchange(&entered, pid) == pid ||
	    !consumer_record() || config.cuda == CONFIG_CUDA_OFF || attach_mode() != ATTACH_NONE)
		return 1;
	begin_cupti();
	return 1;
}
