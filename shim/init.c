/* SPDX-License-Identifier: Apache-2.0 */
/* init.c - starts and ends the shim's modules; only this file defines their order. */
#include "hooks/hook.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/sys.h"
#include "base/written.h"
#include "batch/consumer.h"
#include "batch/nvtx.h"
#include "batch/scope.h"
#include "batch/stage.h"
#include "cuda/attach.h"
#include "cuda/cudart.h"
#include "cuda/state.h"
#include "cuda/writer.h"
#include "decode/decode.h"
#include "python/audit.h"
#include "python/interpreter/patch.h"
#include "python/interpreter/stop.h"
#include "python/loaders/dali.h"
#include "python/loaders/tfdata.h"
#include "python/torch/identity.h"
#include "record/activate.h"
#include "record/segment.h"
#include "record/start.h"
#include "record/summary.h"
#include "slots/got.h"
#include "slots/lookup.h"

const struct wrap_set *const wrap_sets[] = {&decode_slots, &cudart_slots, &tfdata_slots,
					  &dali_slots, NULL};

static void begin_recording(void)
{
	summary_begin();
	got_sweep();
	patch_report();
	audit_report();
	attach_begin();
	nvtx_begin();
}

/* A process with nothing to report makes no system call, as its sandbox may kill it for one. */
static bool init_has_finish(void)
{
	return start_was_tried() ? start_has_end() : audit_seen() != NULL;
}

/* Ends the modules. Later calls in this process do nothing. */
static void init_finish(void)
{
	static _Atomic uint32_t finished; /* pid of the finished process, which no child has */
	uint32_t pid;

	if (!init_has_finish())
		return;
	pid = (uint32_t)sys_getpid();
	if (atomic_exchange(&finished, pid) == pid)
		return;
	if (!start_was_tried()) {
		summary_print_unseen(audit_seen());
		return;
	}
	stage_finish();
	writer_finish();
	if (activate_is_here())
		segment_mark_end();
	summary_print(state_mode() == STATE_CUPTI);
}

/* Runs in every process with the preload, so it only finds functions and reads variables. */
__attribute__((constructor)) static void init_begin(void)
{
	const char *when = getenv("DLPROF_ACTIVATE");

	lookup_resolve();
	real_resolve();
	if (real_is_glibc())
		lookup_look_behind();
	/* A setuid program gets its environment from the caller, so no variable may name a file. */
	if (getauxval(AT_SECURE) || !real_is_glibc() || config_disabled())
		return;
	log_begin();
	clock_mark();
	written_begin();
	environment_own_path();
	hook_process(init_has_finish, init_finish);
	scope_on_load(got_sweep);
	waits_on_faults(hook_mapped_file);
	attach_prepare();
	nvtx_prepare();
	start_ready(got_begin, begin_recording);
	consumer_ready(identity_epoch_ended);
	stop_ready(init_finish);
	audit_install();
	if (when && strcmp(when, "always") == 0)
		start_recording();
}

/* Records need no flush at the end. Wrappers may still run later, so all memory stays mapped. */
__attribute__((destructor)) static void init_end(void)
{
	init_finish();
}
