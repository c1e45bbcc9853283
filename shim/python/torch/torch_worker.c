/* SPDX-License-Identifier: Apache-2.0 */
/* torch_worker.c - the loading side of PyTorch's and PaddlePaddle's loaders, in a worker or not. */
#include "python/torch/torch.h"

#include "base/clock.h"
#include "batch/consumer.h"
#include "dlprof/units.h"
#include "python/interpreter/api.h"
#include "python/interpreter/patch.h"
#include "python/interpreter/wrapper.h"
#include "python/sample/steps.h"
#include "python/torch/torch_set.h"
#include "record/activate.h"
#include "record/thread.h"

/*
 * Tensors and bytes are counted in a thread's first two loads and every 16th one. Counting calls no
 * code of the user, so the size is unknown if a batch has an object of a class not listed below. Of
 * a batch of more than 16,384 objects, neither tensors nor size are known.
 */
#define FIRST_MOST   2
#define EVERY	     16
#define DEPTH_MOST   6
#define TENSORS_MOST 4096
#define OBJECTS_MOST 16384 /* at most this many objects are looked at, which takes 0.5 ms */

/* Classes whose objects know their size in bytes. `class` is NULL until it is imported. */
static struct known {
	const char *module, *name;
	PyObject *class;
} tensor = {"torch", "Tensor", NULL}, parameter = {"torch.nn", "Parameter", NULL},
  array = {"numpy", "ndarray", NULL}, scalar = {"numpy", "generic", NULL};

struct count {
	uint64_t tensors, bytes;
	uint32_t objects;
	bool is_cut;
	bool is_size_known;
};

static PyObject *class_of(struct known *known)
{
	if (known->class)
		return known->class;
	py.PyErr_Clear();
	known->class = api_get_path(api_module(known->module), known->name);
	return known->class;
}

static bool is_of(PyObject *type, PyObject *class)
{
	return class && (type == class || py.PyType_IsSubtype(type, class));
}

static void add_number(struct count *count, int64_t bytes)
{
	if (bytes < 0)
		count->is_size_known = false;
	else
		count->bytes += (uint64_t)bytes;
}

static int64_t call_number(PyObject *object, struct api_name *name)
{
	OWNED PyObject *method = api_get_again(object, name);
	OWNED PyObject *value = method ? py.PyObject_CallObject(method, NULL) : NULL;

	if (!value)
		py.PyErr_Clear();
	return value ? api_number(value, -1) : -1;
}

static void add_tensor(PyObject *object, PyObject *type, struct count *count)
{
	static struct api_name number_name = {"numel", NULL}, size_name = {"element_size", NULL};
	int64_t number = -1, size = -1;

	if (++count->tensors >= TENSORS_MOST)
		count->is_cut = true;
	/* An object of a subclass is not asked, because that may run any Python code. */
	if (type == tensor.class || type == class_of(&parameter)) {
		number = call_number(object, &number_name);
		size = call_number(object, &size_name);
	}
	add_number(count, number < 0 || size < 0 ? -1 : number * size);
}

static void add_array(PyObject *object, PyObject *type, struct count *count)
{
	static struct api_name bytes_name = {"nbytes", NULL};
	OWNED PyObject *bytes = type == array.class ? api_get_again(object, &bytes_name) : NULL;

	add_number(count, bytes ? api_number(bytes, -1) : -1);
}

static void look(PyObject *object, int depth, struct count *count);

static void look_into_dict(PyObject *dict, int depth, struct count *count)
{
	PyObject *key, *value;
	ssize_t at = 0;

	while (!count->is_cut && py.PyDict_Next(dict, &at, &key, &value))
		look(value, depth, count);
}

static void look_into_fields(PyObject *object, int depth, struct count *count)
{
	static struct api_name name = {"__dict__", NULL};
	PyObject *string = api_name(&name);
	OWNED PyObject *fields = string ? py.PyObject_GenericGetAttr(object, string) : NULL, *type;

	if (!fields)
		py.PyErr_Clear();
	type = fields ? py.PyObject_Type(fields) : NULL;
	if (type == py.dict_type)
		look_into_dict(fields, depth, count);
	else
		count->is_size_known = false;
}

static bool is_scalar(const PyObject *object, PyObject *type)
{
	return object == py.none || type == py.int_type || type == py.float_type ||
	       type == py.bool_type || is_of(type, class_of(&scalar));
}

static void look_at(PyObject *object, PyObject *type, int depth, struct count *count)
{
	if (is_of(type, class_of(&tensor))) {
		add_tensor(object, type, count);
	} else if (is_of(type, class_of(&array))) {
		add_array(object, type, count);
	} else if (type == py.string_type) {
		add_number(count, py.PyObject_Size(object));
	} else if (type == py.bytes_type) {
		add_number(count, py.PyBytes_Size(object));
	} else if (depth > DEPTH_MOST) {
		count->is_cut = true;
	} else if (is_of(type, py.dict_type)) {
		look_into_dict(object, depth + 1, count);
	} else if (is_of(type, py.list_type)) {
		/* The list's length may change during the loop. */
		for (ssize_t i = 0; !count->is_cut && i < py.PyList_Size(object); i++)
			look(py.PyList_GetItem(object, i), depth + 1, count);
	} else if (is_of(type, py.tuple_type)) {
		for (ssize_t i = 0; !count->is_cut && i < py.PyTuple_Size(object); i++)
			look(py.PyTuple_GetItem(object, i), depth + 1, count);
	} else {
		look_into_fields(object, depth + 1, count);
	}
}

static void look(PyObject *object, int depth, struct count *count)
{
	OWNED PyObject *type = NULL;

	if (count->is_cut)
		return;
	if (++count->objects > OBJECTS_MOST) {
		count->is_cut = true;
		return;
	}
	type = py.PyObject_Type(object);
	if (type && !is_scalar(object, type))
		look_at(object, type, depth, count);
}

/* Measures a batch whose load was recorded. Leaves no exception. */
static void made_look(struct thread *thread, PyObject *batch)
{
	const uint32_t number = thread->fetch_count++;
	struct dlprof_event event = thread_event(thread, DLPROF_EVENT_MADE);
	struct count count = {.is_size_known = true};

	if (number >= FIRST_MOST && number % EVERY)
		return;
	event.begin_ns = clock_now_ns();
	look(batch, 0, &count);
	py.PyErr_Clear();
	event.made.tensor_count = count.is_cut ? UINT64_MAX : count.tensors;
	event.made.objects = count.objects;
	event.made.bytes = count.is_cut || !count.is_size_known ? UINT64_MAX : count.bytes;
	thread_push(thread, &event);
}

#define FETCH   "torch.utils.data._utils.fetch"
#define PADDLES "paddle.io.dataloader.fetcher"

static void prepare(PyObject *fetcher)
{
	static struct api_name mark = {"_dlprof_seen", NULL}, collate = {"collate_fn", NULL};
	OWNED PyObject *seen = api_get_again(fetcher, &mark), *function = NULL;
	PyObject *name = api_name(&mark);

	if (seen || !name)
		return;
	function = api_get_again(fetcher, &collate);
	/* A fetcher that refuses attributes is left as it is, so first try to set one. */
	if (py.PyObject_SetAttr(fetcher, name, name) == 0) {
		if (function && function != py.none)
			patch_attribute(fetcher, &loading_collate);
		steps_watch(fetcher);
	}
	py.PyErr_Clear();
}

static PyObject *on_fetch(PyObject *original, PyObject *args, PyObject *kwargs)
{
	struct thread *thread = activate_on() ? thread_get() : NULL;
	const uint32_t life = thread_life;
	PyObject *fetcher, *batch;
	uint32_t samples;

	/* A thread without a stream calls the fetcher by itself, not for a loader. */
	if (!thread || !thread->load.stream)
		return py.PyObject_Call(original, args, kwargs);
	fetcher = py.PyTuple_GetItem(args, 0);
	samples = loading_count(py.PyTuple_GetItem(args, 1));
	py.PyErr_Clear();
	if (fetcher)
		prepare(fetcher);
	if (unlikely(torch_set_loads))
		torch_set_load();
	batch = loading_call(thread, samples, original, args, kwargs);
	if (batch && thread_is_in_life(life))
		made_look(thread, batch);
	/* A thread of PaddlePaddle's that loads gets no task numbers. */
	if (thread->load.stream & DLPROF_STREAM_POOL)
		thread->load.task++;
	return batch;
}

/* Wraps get() of a worker's queue: it returns (task, indices), a request to start over, or None. */
static PyObject *on_index(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *message = py.PyObject_Call(original, args, kwargs);
	static const char *const resumes[] = {"_ResumeIteration", NULL};
	struct thread *thread = activate_on() ? thread_get() : NULL;
	int64_t task;

	if (!message || !thread)
		return message;
	task = torch_first_number(message);
	if (task >= 0) {
		thread->load.task = (uint32_t)task;
		return message;
	}
	if (api_is_of_type(message, resumes))
		thread->load.generation++;
	py.PyErr_Clear();
	return message;
}

static PyMethodDef index_method = {"get", on_index, PY_VARARGS_KEYWORDS, NULL};

struct worker_loop {
	const char *module, *index_name, *data_name;
	PyMethodDef method;
	ssize_t index_queue, data_queue, worker_id; /* places of arguments; -1: unknown */
};

static struct worker_loop worker_loops[TORCH_PACKAGE_MAX];

static void enter_worker(const struct worker_loop *loop, PyObject *args, PyObject *kwargs)
{
	PyObject *indices = api_argument(args, kwargs, loop->index_queue, loop->index_name);
	PyObject *results = api_argument(args, kwargs, loop->data_queue, loop->data_name);
	PyObject *id = api_argument(args, kwargs, loop->worker_id, "worker_id");
	const bool is_torch = loop != &worker_loops[PADDLE];
	struct thread *thread;
	struct dlprof_event event;

	if (!indices || !results || (is_torch && torch_blind) || !consumer_record())
		return;
	thread = thread_get();
	if (!thread)
		return;
	thread->worker = id ? (int32_t)api_number(id, -1) : -1;
	thread->load = (struct thread_load){.stream = torch_pipe_inode(results, "_writer")};
	patch_attribute(indices, &index_method);
	if (is_torch)
		torch_set_worker();
	event = thread_event(thread, DLPROF_EVENT_WORKER);
	event.begin_ns = clock_now_ns();
	thread_push(thread, &event);
}

static PyObject *on_worker(PyObject *original, PyObject *args, PyObject *kwargs,
			   const PyMethodDef *method)
{
	enter_worker(WRAPPER_ROW(method, struct worker_loop, method), args, kwargs);
	return py.PyObject_Call(original, args, kwargs);
}

#define LOOP WRAPPER_METHOD("_worker_loop", on_worker)

static struct worker_loop worker_loops[TORCH_PACKAGE_MAX] = {
	[TORCH] = {"torch.utils.data._utils.worker", "index_queue", "data_queue", LOOP},
	[TORCHDATA] = {"torchdata.stateful_dataloader.worker", "index_queue", "data_queue", LOOP},
	[PADDLE] = {"paddle.io.dataloader.worker", "indices_queue", "out_queue", LOOP},
};

/* Arguments are found by name, as their places differ between versions. */
static void find_arguments(struct worker_loop *loop, PyObject *function)
{
	OWNED PyObject *code = api_get_named(function, "__code__");
	OWNED PyObject *names = code ? api_get_named(code, "co_varnames") : NULL;
	ssize_t count = code ? (ssize_t)api_get_number(code, "co_argcount", 0) : 0;

	loop->index_queue = loop->data_queue = loop->worker_id = -1;
	for (ssize_t i = 0; names && i < count; i++) {
		PyObject *name = py.PyTuple_GetItem(names, i);

		if (!name)
			break;
		if (py.PyUnicode_CompareWithASCIIString(name, loop->index_name) == 0)
			loop->index_queue = i;
		else if (py.PyUnicode_CompareWithASCIIString(name, loop->data_name) == 0)
			loop->data_queue = i;
		else if (py.PyUnicode_CompareWithASCIIString(name, "worker_id") == 0)
			loop->worker_id = i;
	}
	py.PyErr_Clear();
}

void torch_patch_worker(PyObject *module, size_t package)
{
	struct worker_loop *loop = &worker_loops[package];
	OWNED PyObject *original = api_get_named(module, loop->method.ml_name);
	const bool set = original && patch_method(module, &loop->method);

	if (set)
		find_arguments(loop, original);
	patch_note(loop->module, loop->method.ml_name,
		   set && loop->data_queue >= 0 && loop->index_queue >= 0);
}

void torch_patch_fetch(PyObject *module, size_t package)
{
	static struct patch_point points[][2] = {
		{PATCH_POINT(FETCH, "_MapDatasetFetcher", "fetch", on_fetch),
		 PATCH_POINT(FETCH, "_IterableDatasetFetcher", "fetch", on_fetch)},
		{PATCH_POINT(PADDLES, "_MapDatasetFetcher", "fetch", on_fetch),
		 PATCH_POINT(PADDLES, "_IterableDatasetFetcher", "fetch", on_fetch)},
	};

	patch_points(module, points[package == PADDLE], ARRAY_COUNT(points[0]));
}
