/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch/handover.h"

#include "base/clock.h"
#include "batch/ahead.h"
#include "batch/pinning.h"
#include "batch/taker.h"
#include "dlprof/units.h"
#include "python/interpreter/patch.h"
#include "python/interpreter/wrapper.h"
#include "python/interpreter/stop.h"
#include "record/activate.h"

#define LOOK_DEEP 2

static void add(struct ahead_parts *parts, PyObject *object, int deep)
{
	OWNED PyObject *type = NULL;
	PyObject *key, *value;
	ssize_t at = 0;

	if (!object || object == py.none || parts->count == AHEAD_PART_MAX)
		return;
	parts->at[parts->count++] = object;
	if (!deep)
		return;
	type = py.PyObject_Type(object);
	if (type == py.dict_type)
		while (py.PyDict_Next(object, &at, &key, &value) && parts->count < AHEAD_PART_MAX)
			add(parts, value, deep - 1);
	else if (type == py.tuple_type)
		for (; at < py.PyTuple_Size(object) && parts->count < AHEAD_PART_MAX; at++)
			add(parts, py.PyTuple_GetItem(object, at), deep - 1);
	else if (type == py.list_type)
		for (; at < py.PyList_Size(object) && parts->count < AHEAD_PART_MAX; at++)
			add(parts, py.PyList_GetItem(object, at), deep - 1);
}

static struct thread *own(void)
{
	return activate_on() ? thread_known() : NULL;
}

static struct api_name deque_name = {"queue", NULL};

static uint64_t count_in(PyObject *queue)
{
	OWNED PyObject *deque = api_get_again(queue, &deque_name);
	const ssize_t count = deque ? py.PyObject_Size(deque) : -1;

	if (count < 0)
		py.PyErr_Clear();
	return count < 0 ? UINT64_MAX : (uint64_t)count;
}

/* Wraps what puts `object` into queue `key` or, if it is NULL, `value` into future `key`. */
static PyObject *put(PyObject *original, PyObject *args, PyObject *kwargs, PyObject *key,
		     PyObject *object, PyObject *value, uint64_t count)
{
	struct thread *thread = own();
	struct ahead_parts parts = {.count = 0};
	const uint32_t life = thread_life;
	PyObject *result;
	bool is_item;

	if (thread && ahead_has(thread))
		add(&parts, value, LOOK_DEEP);
	is_item = thread && key && ahead_puts(thread, key, object, &parts, count);
	result = py.PyObject_Call(original, args, kwargs);
	if (!result && is_item && thread_is_in_life(life))
		ahead_put_failed(thread, key, object);
	return result;
}

struct row {
	bool is_queue; /* the class is that of queues, not of futures */
	const char *module;
	struct patch_point point;
};

static bool is_of_queue(const PyMethodDef *method)
{
	return WRAPPER_ROW(method, struct row, point.method)->is_queue;
}

/* Wraps what takes an object out of args[0], which is a queue or a future. */
static PyObject *on_take(PyObject *original, PyObject *args, PyObject *kwargs,
			 const PyMethodDef *method)
{
	const bool is_queue = is_of_queue(method);
	PyObject *key = api_first(args), *result;
	const uint64_t begin_ns = clock_now_ns();
	const uint32_t life = thread_life;
	struct thread *thread = own();
	uint64_t end_ns;

	if (thread && thread->ahead.takes)
		stop_look();
	result = py.PyObject_Call(original, args, kwargs);
	if (!key || !activate_on() || thread_life != life)
		return result;
	end_ns = clock_now_ns();
	if ((result || !is_queue) && taker_takes(key, is_queue ? result : NULL, begin_ns, end_ns))
		return result;
	if (!result)
		taker_found_none(key, begin_ns);
	return result;
}

static PyObject *on_put(PyObject *original, PyObject *args, PyObject *kwargs,
			const PyMethodDef *method)
{
	const struct thread *thread = own();
	PyObject *queue = api_first(args);
	PyObject *object = api_argument(args, kwargs, 1, "item");
	const bool counts = queue && thread && thread->ahead.asker;
	const uint64_t count = counts ? count_in(queue) : UINT64_MAX;

	return put(original, args, kwargs, queue, object, object, count);
}

/* Returns true if the future's result may also be taken in another way than by result(). */
static bool has_others(PyObject *future)
{
	static struct api_name names[] = {{"_waiters", NULL}, {"_done_callbacks", NULL}};
	bool has = false;

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		OWNED PyObject *list = api_get_again(future, &names[i]);

		has |= list && py.PyList_Size(list) > 0;
	}
	py.PyErr_Clear();
	return has;
}

static PyObject *on_set(PyObject *original, PyObject *args, PyObject *kwargs,
			const PyMethodDef *method)
{
	PyObject *future = api_first(args);
	PyObject *value = api_argument(args, kwargs, 1, "result");
	struct thread *thread = own();

	if (future && thread && thread->ahead.asker && ahead_has(thread) && has_others(future))
		taker_gives_up(true);
	return put(original, args, kwargs, future, NULL, value, UINT64_MAX);
}

/* Wraps empty() of queues and done() of futures. */
static PyObject *on_look(PyObject *original, PyObject *args, PyObject *kwargs,
			 const PyMethodDef *method)
{
	const bool is_queue = is_of_queue(method);
	const uint64_t begin_ns = clock_now_ns();
	PyObject *result = py.PyObject_Call(original, args, kwargs);

	if (result && activate_on() && py.PyObject_IsTrue(result) == is_queue)
		taker_found_none(is_queue ? py.PyTuple_GetItem(args, 0) : NULL, begin_ns);
	return result;
}

#define FUTURES "concurrent.futures._base"

static struct row points[] = {
#define POINT(is_queue, module, class, name, function)                                             \
	{is_queue, module, {class, module ":" class, WRAPPER_METHOD(name, function)}}
	POINT(true, "queue", "Queue", "get", on_take),
	POINT(true, "queue", "Queue", "put", on_put),
	POINT(true, "queue", "Queue", "empty", on_look),
	POINT(false, FUTURES, "Future", "result", on_take),
	POINT(false, FUTURES, "Future", "set_result", on_set),
	POINT(false, FUTURES, "Future", "set_exception", on_set),
	POINT(false, FUTURES, "Future", "done", on_look),
#undef POINT
};

/* Wraps functions of modules that are imported by now. Call it again for modules imported later. */
static void patch(void)
{
	static bool done[ARRAY_COUNT(points)];

	for (size_t i = 0; i < ARRAY_COUNT(points); i++) {
		PyObject *module = done[i] ? NULL : api_module(points[i].module);

		if (!module)
			continue;
		done[i] = true;
		patch_optional(module, &points[i].point);
	}
}

bool handover_asks(uint64_t stream)
{
	if (likely(!taker_asks(stream)))
		return false;
	patch();
	return true;
}

void handover_took(PyObject *batch)
{
	struct ahead_parts parts = {.count = 0};
	struct thread *thread = own();

	if (!thread || !thread->ahead.asker)
		return;
	add(&parts, batch, LOOK_DEEP);
	ahead_took(thread, &parts);
}

void handover_within(bool within)
{
	struct thread *thread = thread_get();

	patch();
	if (thread)
		thread->ahead.takes_within = within;
}

#define SHARER "multiprocessing.resource_sharer"

#define CPU_EVERY 8 /* CPU time is measured for one tensor in 8, as it needs a system call */

bool descriptor_blind;

/* Returns where this thread's fetches count, or NULL. */
static struct thread_parts *own_parts(void)
{
	struct thread *thread = thread_known();

	if (!thread)
		return NULL;
	return thread_waiting() ? &thread->parts : pinning_parts(thread);
}

static PyObject *on_detach(PyObject *original, PyObject *args, PyObject *kwargs)
{
	const uint32_t life = thread_life;
	struct thread_parts *parts = activate_on() ? own_parts() : NULL;
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
	if (!thread_is_in_life(life) || own_parts() != parts)
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
