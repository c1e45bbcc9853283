/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/attach.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/environment.h"
#include "base/note.h"
#include "base/sys.h"
#include "base/text.h"
#include "batch/consumer.h"
#include "cuda/activity.h"
#include "cuda/coverage.h"
#include "cuda/cupti.h"
#include "cuda/manners.h"
#include "cuda/state.h"
#include "cuda/writer.h"
#include "dlprof/event.h"

#define VARIABLE "CUDA_INJECTION64_PATH"

/*
 * Returns true in programs that use CUDA and are no trainings. ncu 2025.3 sets VARIABLE itself, and
 * starts nothing if it is set already. MPI's helpers, one of which is started by importing mpi4py,
 * start CUDA before the training does, and would take the database's name.
 */
static bool is_helper(void)
{
	static const char *const names[] = {"ncu",   "nsys",    "orted",  "orterun",
					    "prted", "prterun", "mpirun", "mpiexec"};
	const char *file = (const char *)getauxval(AT_EXECFN), *slash;

	if (!file)
		return false;
	slash = strrchr(file, '/');
	file = slash ? slash + 1 : file;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(file, names[i]) == 0)
			return true;
	return false;
}

/* Returns true in a process that ncu started. ncu would end it if we set CUDA_INJECTION64_PATH. */
static bool is_profiled(void)
{
	return environment_has("NV_TPS_LAUNCH") || environment_has("NV_NSIGHT_INJECTION");
}

void attach_prepare(void)
{
	if (is_helper() || is_profiled())
		environment_withdraw(VARIABLE);
	else if (!config_cuda_is_off())
		environment_inject(VARIABLE);
}

void attach_begin(void)
{
	if (config.cuda == CONFIG_CUDA_OFF) {
		state_begin(STATE_OFF);
		state_note("cuda_reason", "DLPROF_CUDA=off");
	} else if (state_mode() == STATE_NONE) {
		if (environment_is_others(VARIABLE))
			state_stand_down("CUDA_INJECTION64_PATH is another tool's");
		else if (is_profiled())
			state_stand_down("NVIDIA's ncu profiles this process");
	}
}

static void ignore(void *data, int domain, uint32_t id, const void *info)
{
}

/* Subscribes to CUPTI for a moment. An error means that CUPTI has another subscriber. */
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

/* Notes which call of CUPTI failed, and that CUPTI is not used. Returns false. */
static bool refuse(const char *what, int result)
{
	TEXT(why, 200);

	text_format(&why, "%s (%s said %d)", meaning(result), what, result);
	state_stand_down(why.buffer);
	return false;
}

/* Notes which level of DLPROF_CUDA is recorded: a lower one than requested if CUPTI is too old. */
static void note_level(void)
{
	const bool calls = activity_flags() & DLPROF_GPU_WITH_CALLS ||
			   (state_is_yielded() && api_is_possible());
	const bool lacks = config.cuda >= CONFIG_CUDA_API && !calls;
	const bool no_kernels = config.cuda > CONFIG_CUDA_MEMCPY && !state_is_yielded() &&
				!(activity_flags() & DLPROF_GPU_WITH_KERNELS);

	state_note("cuda_level",
		   config_cuda_name(lacks && config.cuda == CONFIG_CUDA_API ? CONFIG_CUDA_DEFAULT
									    : config.cuda));
	if (no_kernels)
		state_note("cuda_level_reason", "CUPTI refuses to record kernels");
	else if (lacks)
		state_note("cuda_level_reason",
			   "calls of the host are recorded with the CUPTI of CUDA 12.5 or newer");
}

/* Starts CUPTI with our settings. Returns false, and notes why, if CUPTI cannot be used. */
static bool arm(void)
{
	TEXT(why, 200);
	int r;

	if (cupti_find(&why) < 0) {
		state_stand_down(why.buffer);
		return false;
	}
	note_format('m', "cupti_version %u", cupti.version);
	r = probe();
	if (r != 0)
		return refuse("cuptiSubscribe", r);
	if (activity_init(config.cuda) < 0) {
		state_stand_down("no memory for CUPTI's buffers");
		return false;
	}
	if (manners_is_taken()) {
		state_yield(clock_now_ns());
		return true;
	}
	r = activity_arm();
	if (r != 0)
		return refuse("CUPTI's activities", r);
	state_arm();
	return true;
}

static void begin_cupti(void)
{
	const uint64_t began_ns = clock_now_ns();
	bool armed;

	activity_mute(true);
	armed = arm();
	activity_mute(false);
	if (!armed)
		return;
	manners_begin();
	/* The writing thread cannot call this: it may begin to run only after the first batch. */
	coverage_begin(began_ns);
	if (writer_start() != 0) {
		activity_disarm(0);
		state_stand_down("no thread could be made");
		return;
	}
	state_begin(STATE_CUPTI);
	note_level();
}

/* cuInit() calls this. With driver 580, a result of 0 ended in SIGSEGV (tests/gpu/semantics.py). */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
	static _Atomic int entered; /* pid of the process in which CUDA last called this function */
	int pid = sys_getpid();

	if (config_disabled() || config_cuda_is_off() || atomic_exchange(&entered, pid) == pid ||
	    !consumer_record() || config.cuda == CONFIG_CUDA_OFF || state_mode() != STATE_NONE)
		return 1;
	begin_cupti();
	return 1;
}
