/* SPDX-License-Identifier: Apache-2.0 */
#include "python/loaders/gluon.h"

#include "base/clock.h"
#include "dlprof/units.h"
#include "python/interpreter/patch.h"
#include "python/interpreter/standin.h"
#include "python/sample/steps.h"
#include "python/torch/iterator.h"
#include "python/torch/torch.h"
#include "record/activate.h"

#define LOADERS "mxnet.gluon.data.dataloader"
#define POOLS   "multiprocessing.pool"

/* number of workers of the loader that is being made; a worker finds its own number by it */
static _Atomic uint32_t worker_count;

static uint64_t stream_of(PyObject *queue, const char *end)
{
	const uint64_t inode = torch_pipe_inode(queue, end);
	const uint64_t own = (uintptr_t)queue ^ (uint64_t)sys_getpid() << 38;

	return DLPROF_STREAM_POOL | (inode ? inode : own & (DLPROF_STREAM_POOL - 1));
}

/* Returns the job of the next batch, or FOLLOW_NO_TASK if that was not requested. */
static uint32_t next_job(PyObject *iterator)
{
	static struct api_name at_name = {"_rcvd_idx", NULL}, buffer_name = {"_data_buffer", NULL};
	OWNED PyObject *at = api_get_again(iterator, &at_name);
	OWNED PyObject *buffer = api_get_again(iterator, &buffer_name), *promise = NULL;
	int64_t job = -1;

	if (at && buffer)
		promise = py.PyObject_GetItem(buffer, at);
	if (promise)
		job = api_get_number(promise, "_job", -1);
	py.PyErr_Clear();
	return job >= 0 && job < FOLLOW_NO_TASK ? (uint32_t)job : FOLLOW_NO_TASK;
}

static bool gather(PyObject *iterator, struct consumer_facts *facts)
{
	static const char *const thread_pools[] = {"ThreadPool", NULL};
	static uint32_t epochs;
	OWNED PyObject *loader = api_get_named(iterator, "_data_loader");
	OWNED PyObject *pool = api_get_named(iterator, "_worker_pool");
	OWNED PyObject *queue = pool ? api_get_named(pool, "_outqueue") : NULL;
	OWNED PyObject *size = api_get_path(iterator, "_batch_sampler._batch_size");
	int64_t prefetch;

	facts->kind = api_is_of_type(pool, thread_pools) ? "mxnet.gluon (threads)" : "mxnet.gluon";
	facts->flags |= DLPROF_EPOCH_IN_ORDER | DLPROF_EPOCH_PERSISTENT;
	facts->workers = pool ? (int32_t)api_get_number(pool, "_processes", -1) : -1;
	facts->batch_size = size ? api_number(size, -1) : -1;
	facts->sees_samples = true;
	if (queue)
		facts->stream = stream_of(queue, "_reader");
	facts->generation = epochs++;
	facts->first_task = next_job(iterator);
	prefetch = loader ? api_get_number(loader, "_prefetch", -1) : -1;
	if (facts->workers > 0 && prefetch > 0 && prefetch % facts->workers == 0)
		facts->prefetch_factor = (int32_t)(prefetch / facts->workers);
	return true;
}

/* 1 + the job of the batch that this thread waits for; 0: unknown */
static __thread uint32_t pushed_job __attribute__((tls_model("initial-exec")));

static uint32_t task_of(PyObject *iterator, const struct consumer *consumer)
{
	const uint32_t job = pushed_job - 1;

	pushed_job = 0;
	return job;
}

const struct follow_crew gluon_crew = {gather, task_of};

/* Wraps DataLoader.__init__, which starts the pool. Its processes inherit that we record. */
static PyObject *on_loader(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *workers = api_argument(args, kwargs, 8, "num_workers");
	const int64_t count = workers ? api_number(workers, 0) : 0;

	if (count > 0 && !consumer_is_inside() && !api_in_daemon()) {
		worker_count = (uint32_t)count;
		consumer_record();
	}
	return py.PyObject_Call(original, args, kwargs);
}

/* Wraps _MultiWorkerIter.__init__, which requests the first batches. */
static PyObject *on_init(PyObject *original, PyObject *args, PyObject *kwargs)
{
	return consumer_is_inside() || !consumer_record() ? py.PyObject_Call(original, args, kwargs)
						     : iterator_make(original, args, kwargs, 0);
}

/* Wraps _push_next, which chooses samples and requests their batch. */
static PyObject *on_push(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *iterator = api_first(args);
	PyObject *result = iterator_choose(original, args, kwargs);

	if (result && iterator && activate_on() && thread_waiting())
		pushed_job = next_job(iterator) + 1;
	return result;
}

static PyObject *watched(PyObject *args)
{
	OWNED PyObject *batchify = NULL, *dataset = NULL;
	PyObject *original = py.PyTuple_GetItem(args, 1), *set = py.PyTuple_GetItem(args, 2);

	if (!original || !set)
		return NULL;
	batchify = py.PyCFunction_NewEx(&loading_collate, original, NULL);
	dataset = set == py.none ? NULL : steps_dataset(set);
	return batchify ? py.PyTuple_Pack(3, py.PyTuple_GetItem(args, 0), batchify,
					  dataset ? dataset : set)
			: NULL;
}

static void watch_dataset(PyObject *module)
{
	static uint32_t watched_life;
	OWNED PyObject *dataset = api_get_named(module, "_worker_dataset"), *standing = NULL;

	if (watched_life == thread_life || !dataset || dataset == py.none)
		return;
	watched_life = thread_life;
	standing = steps_dataset(dataset);
	if (standing)
		py.PyObject_SetAttrString(module, "_worker_dataset", standing);
}

static PyObject *on_job(PyObject *original, PyObject *args, PyObject *kwargs)
{
	static const char *const own[] = {"_worker_fn", "_thread_worker_fn"};
	struct thread *thread = activate_on() ? thread_known() : NULL;
	PyObject *indices = py.PyTuple_Size(args) > 0 ? py.PyTuple_GetItem(args, 0) : NULL;
	PyObject *module = api_module(LOADERS);
	OWNED PyObject *ours = NULL;

	if (!thread || !thread->load.stream)
		return py.PyObject_Call(original, args, kwargs);
	for (size_t i = 0; module && i < ARRAY_COUNT(own) && !ours; i++) {
		OWNED PyObject *function = api_get_named(module, own[i]);

		if (function == original && py.PyTuple_Size(args) == 3)
			ours = watched(args);
	}
	if (ours)
		watch_dataset(module);
	py.PyErr_Clear();
	return loading_call(thread, indices ? loading_count(indices) : 0, original,
			    ours ? ours : args, kwargs);
}

static PyMethodDef job_method = {"worker_fn", on_job, PY_VARARGS_KEYWORDS, NULL};

/* Returns a copy of a task (job, i, func, args, kwds) whose func is recorded; NULL on failure. */
static PyObject *record_job(PyObject *task)
{
	const int64_t job = torch_first_number(task);
	struct thread *thread = activate_on() ? thread_self : NULL;
	OWNED PyObject *function = NULL;

	if (job < 0 || job >= FOLLOW_NO_TASK || py.PyTuple_Size(task) != 5 || !thread)
		return NULL;
	thread->load.task = (uint32_t)job;
	function = py.PyCFunction_NewEx(&job_method, py.PyTuple_GetItem(task, 2), NULL);
	return function ? py.PyTuple_Pack(5, py.PyTuple_GetItem(task, 0),
					  py.PyTuple_GetItem(task, 1), function,
					  py.PyTuple_GetItem(task, 3), py.PyTuple_GetItem(task, 4))
			: NULL;
}

static PyObject *on_get(PyObject *self, PyObject *args, PyObject *kwargs)
{
	OWNED PyObject *queue = standin_original(args);
	OWNED PyObject *get = queue ? py.PyObject_GetAttrString(queue, "get") : NULL;
	OWNED PyObject *task = get ? py.PyObject_CallObject(get, NULL) : NULL, *recorded = NULL;

	if (!task || task == py.none)
		return api_take(&task);
	recorded = record_job(task);
	py.PyErr_Clear();
	return recorded ? api_take(&recorded) : api_take(&task);
}

/* Returns a process's number among its parent's children, from 0; -1 if unknown. */
static int64_t process_number(void)
{
	OWNED PyObject *numbers = api_get_path(api_module("multiprocessing.process"),
					       "_current_process._identity");
	const ssize_t count = numbers ? py.PyTuple_Size(numbers) : 0;
	PyObject *last = count > 0 ? py.PyTuple_GetItem(numbers, count - 1) : NULL;
	const int64_t number = last ? api_number(last, 0) - 1 : -1;

	py.PyErr_Clear();
	return number;
}

/* Makes this a worker. Returns a stand-in for `tasks`, or NULL if nothing is recorded. */
static PyObject *enter_worker(PyObject *tasks, PyObject *results)
{
	static PyMethodDef get_method = {"get", on_get, PY_VARARGS_KEYWORDS, NULL};
	static PyMethodDef *const methods[] = {&get_method, NULL};
	static _Atomic uint32_t thread_count;
	static PyObject *class;
	const bool is_process = torch_pipe_inode(results, "_writer") != 0;
	struct thread *thread = consumer_record() ? thread_get() : NULL;
	struct dlprof_event event;
	int64_t number;

	if (!class)
		class = standin_class("SimpleQueue", methods, NULL);
	if (!thread || !class)
		return NULL;
	number = is_process ? process_number() : thread_count++;
	thread->worker = (int32_t)(worker_count && number >= 0 ? number % worker_count : number);
	thread->load.stream = stream_of(results, "_writer");
	thread->load.generation = DLPROF_GENERATION_ANY;
	event = thread_event(thread, DLPROF_EVENT_WORKER);
	event.begin_ns = clock_now_ns();
	if (is_process)
		thread_push(thread, &event);
	return standin_make(class, tasks);
}

static PyObject *on_worker(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *tasks = api_first(args);
	PyObject *results = api_argument(args, NULL, 1, NULL);
	PyObject *initializer = api_argument(args, kwargs, 2, "initializer");
	OWNED PyObject *standing = NULL, *changed = NULL;

	if (tasks && results && api_has_text(initializer, "__module__", LOADERS))
		standing = enter_worker(tasks, results);
	changed = standing ? api_slice(args, 0) : NULL;
	if (changed)
		py.PyTuple_SetItem(changed, 0, api_take(&standing));
	py.PyErr_Clear();
	return py.PyObject_Call(original, changed ? changed : args, kwargs);
}

/* Patches Gluon's loader. Before 1.3 its workers were no pool: then only waits are recorded. */
void gluon_patch(PyObject *module, size_t row)
{
	static struct patch_point points[] = {
		PATCH_POINT(LOADERS, "_MultiWorkerIter", "__init__", on_init),
	};
	static struct patch_point loader =
		PATCH_POINT(LOADERS, "DataLoader", "__init__", on_loader);
	static struct patch_point push =
		PATCH_POINT(LOADERS, "_MultiWorkerIter", "_push_next", on_push);
	static PyMethodDef worker = {"worker", on_worker, PY_VARARGS_KEYWORDS, NULL};
	static bool patched;
	PyObject *pools = api_module(POOLS);

	patch_points(module, points, ARRAY_COUNT(points));
	patch_optional(module, &loader);
	patch_optional(module, &push);
	patched = patched || (pools && patch_method(pools, &worker));
	patch_note(POOLS, worker.ml_name, patched);
}
