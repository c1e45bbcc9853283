/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch/descriptor.h"

#include "base/clock.h"
#include "batch/pinning.h"
#include "python/interpreter/patch.h"
#include "record/activate.h"

#define SHARER "multiprocessing.resource_sharer"

#define CPU_EVERY 8 /* CPU time is measured for one tensor in 8, as it needs a system call */

bool descriptor_blind;

static struct thread_parts *parts_of(struct thread *thread)
{
	if (!thread || thread->life != thread_life)
		return NULL;
	return thread_waiting() ? &thread->parts : pinning_parts(thread);
}

static PyObject *on_detach(PyObject *original, PyObject *args, PyObject *kwargs)
{
	const uint32_t life = thread_life;
	struct thread_parts *parts = activate_on() ? parts_of(thread_self) : NULL;
	uint64_t begin_ns, begin_cpu_ns = 0, ns;
	PyObject *result;
	bool timed;

	if (!parts)
		return py.PyObject_Call(original, args, kwargs);
	timed = parts->fetch_count < 2 || parts->fetch_count % CPU_EVERY == 0;
	if (timed)
		begin_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	begin_ns = clock_now_ns();
	result = py.PyObject_Call(original, args, kwargs);
	if (!thread_is_in_life(life) || parts_of(thread_self) != parts)
		return result;
	ns = clock_now_ns() - begin_ns;
	parts->fetch_ns += ns;
	parts->fetch_count++;
	if (timed) {
		parts->timed_ns += ns;
		parts->timed_cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_ns;
	}
	return result;
}

void descriptor_patch(PyObject *module, size_t row)
{
	static struct patch_point detach = PATCH_POINT(SHARER, "DupFd", "detach", on_detach);

	descriptor_blind = !patch_optional(module, &detach);
}
