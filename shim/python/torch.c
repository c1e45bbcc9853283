/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch.h"

#include <string.h>
#include <sys/stat.h>

#include "activate.h"
#include "clock.h"
#include "python/audit.h"
#include "python/consumer.h"
#include "python/patch.h"
#include "python/steps.h"
#include "scope.h"
#include "segment.h"
#include "span.h"
#include "sys.h"

#define DATALOADER "torch.utils.data.dataloader"
#define FETCH      "torch.utils.data._utils.fetch"
#define STATEFUL   "torchdata.stateful_dataloader.stateful_dataloader"

static bool blind; /* this torch hands out its batches under another name */

/* Inode of the pipe at one end of a multiprocessing.Queue: the same number in every process. */
static uint64_t pipe_inode(PyObject *queue, const char *end)
{
	PyObject *connection = api_get_named(queue, end);
	struct stat status;
	uint64_t inode = 0;
	int64_t fd;

	if (!connection)
		return 0;
	fd = api_get_number(connection, "_handle", -1);
	if (fd >= 0 && sys_call2(SYS_fstat, fd, &status) == 0)
		inode = (uint64_t)status.st_ino;
	py.Py_DecRef(connection);
	return inode;
}

static const char *kind_of(PyObject *iterator)
{
	/* Sent with each snapshot of its state, which the others have not. */
	return py.PyObject_HasAttrString(iterator, "_sampler_iter_yielded")
		       ? "torchdata.StatefulDataLoader"
		       : "torch.DataLoader";
}

/* Of a _BaseDataLoaderIter. */
static void gather_facts(PyObject *iterator, PyObject *loader, struct consumer_facts *facts)
{
	PyObject *queue = api_get_named(iterator, "_worker_result_queue");

	facts->kind = kind_of(iterator);
	facts->workers = (int32_t)api_get_number(iterator, "_num_workers", -1);
	facts->prefetch_factor = (int32_t)api_get_number(iterator, "_prefetch_factor", -1);
	facts->batch_size = loader ? api_get_number(loader, "batch_size", -1) : -1;
	if (loader) {
		PyObject *dataset = api_get_named(loader, "dataset");

		facts->dataset = dataset;
		if (dataset)
			py.Py_DecRef(dataset); /* the loader keeps it */
	}
	if (queue) {
		facts->stream = pipe_inode(queue, "_reader");
		py.Py_DecRef(queue);
	} else {
		facts->workers = 0;
	}
	if (facts->workers == 0)
		facts->prefetch_factor = -1;
	/* Before 2.6 there was no choice. */
	if (api_get_flag(iterator, "_in_order", true))
		facts->flags |= DLPROF_EPOCH_IN_ORDER;
	if (facts->workers && api_get_flag(iterator, "_persistent_workers", false))
		facts->flags |= DLPROF_EPOCH_PERSISTENT;
	if (api_get_flag(iterator, "_pin_memory", false))
		facts->flags |= DLPROF_EPOCH_PIN_MEMORY;
	if (api_get_number(iterator, "_dataset_kind", 0) == 1)
		facts->flags |= DLPROF_EPOCH_ITERABLE;
}

/* DataLoader.__iter__: begin to record before the workers are forked. */
static PyObject *on_iter(PyObject *original, PyObject *args, PyObject *kwargs)
{
	uint64_t begin_ns = clock_now_ns();
	struct consumer_facts facts = {0};
	PyObject *loader, *iterator;

	if (consumer_activate())
		audit_load_begin(false); /* before the workers are forked, which inherit it */
	iterator = py.PyObject_Call(original, args, kwargs);
	if (!iterator || !activate_on())
		return iterator;
	loader = py.PyTuple_GetItem(args, 0);
	py.PyErr_Clear();
	gather_facts(iterator, loader, &facts);
	consumer_epoch(iterator, loader, &facts, begin_ns);
	return iterator;
}

/* Which task the batch was that __next__ just returned. */
static uint32_t delivered_task(PyObject *iterator, const struct consumer *consumer)
{
	static PyObject *received;
	PyObject *value;
	int64_t next = 0;

	if (consumer->workers == 0)
		return (uint32_t)consumer->ordinal;
	if (!consumer->in_order)
		return consumer->last_task;
	if (unlikely(!received))
		received = py.PyUnicode_InternFromString("_rcvd_idx");
	value = api_get(iterator, received);
	if (value) {
		next = api_number(value, 0);
		py.Py_DecRef(value);
	}
	/* Counts what it handed out, and with datasets that end early what it skipped. */
	return next > 0 ? (uint32_t)(next - 1) : (uint32_t)consumer->ordinal;
}

/* _BaseDataLoaderIter.__next__ */
static PyObject *on_next(PyObject *original, PyObject *args, PyObject *kwargs)
{
	struct consumer_facts facts = {0};
	struct consumer_wait wait;
	struct consumer *consumer;
	PyObject *iterator, *batch;

	if (!consumer_activate())
		return py.PyObject_Call(original, args, kwargs);
	iterator = py.PyTuple_GetItem(args, 0);
	consumer = iterator ? consumer_of(iterator) : NULL;
	if (iterator && unlikely(!consumer)) {
		/* Made without DataLoader.__iter__ */
		gather_facts(iterator, NULL, &facts);
		consumer = consumer_epoch(iterator, NULL, &facts, clock_now_ns());
	}
	py.PyErr_Clear();
	if (!consumer || !consumer_wait_begin(consumer, &wait))
		return py.PyObject_Call(original, args, kwargs);
	batch = py.PyObject_Call(original, args, kwargs);
	if (batch)
		consumer_wait_end(consumer, &wait, delivered_task(iterator, consumer));
	else
		consumer_wait_stop(consumer, &wait, !py.PyErr_ExceptionMatches(*py.stop_iteration));
	return batch;
}

/* The number in the first place of a tuple, or -1. */
static int64_t first_number(PyObject *tuple)
{
	PyObject *first = py.PyTuple_GetItem(tuple, 0);

	if (!first) {
		py.PyErr_Clear();
		return -1;
	}
	return api_number(first, -1);
}

/* _MultiProcessingDataLoaderIter._try_get_data: (True, (task, data)) if a message came. */
static PyObject *on_try_get(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *iterator = py.PyTuple_GetItem(args, 0);
	struct consumer *consumer = NULL;
	struct consumer_receive receive;
	struct thread *thread = NULL;
	PyObject *answer, *message;
	int64_t task = -1;

	if (iterator && activate_on())
		consumer = consumer_of(iterator);
	py.PyErr_Clear();
	if (consumer)
		thread = thread_get();
	if (thread)
		consumer_receive_begin(&receive, thread);
	answer = py.PyObject_Call(original, args, kwargs);
	if (!thread || !activate_on())
		return answer;
	if (answer) {
		message = py.PyTuple_GetItem(answer, 1);
		if (message)
			task = first_number(message);
		py.PyErr_Clear();
	}
	consumer_receive_end(consumer, &receive, task);
	return answer;
}

/* A fetcher's collate_fn, called as collate_fn(samples). */
static PyObject *on_collate(PyObject *original, PyObject *args, PyObject *kwargs)
{
	struct span span = {.fd = -1, .name = "collate_fn"};
	bool recorded = activate_on() && span_begin(&span, DLPROF_CLASS_COLLATE);
	PyObject *batch = py.PyObject_Call(original, args, kwargs);

	if (recorded)
		span_end(&span, 0, !batch);
	return batch;
}

static PyMethodDef collate_method = {"collate_fn", on_collate, PY_VARARGS_KEYWORDS, NULL};

static void prepare(PyObject *fetcher)
{
	static PyObject *mark, *collate;
	PyObject *seen, *function;

	if (unlikely(!mark)) {
		mark = py.PyUnicode_InternFromString("_dlprof_seen");
		collate = py.PyUnicode_InternFromString("collate_fn");
	}
	seen = api_get(fetcher, mark);
	function = seen ? NULL : api_get(fetcher, collate);
	if (!seen) {
		/* Set first: a fetcher that refuses attributes stays as it is. */
		if (py.PyObject_SetAttr(fetcher, mark, mark) == 0) {
			if (function)
				patch_attribute(fetcher, &collate_method);
			steps_watch(fetcher);
		}
		py.PyErr_Clear();
	}
	if (seen)
		py.Py_DecRef(seen);
	if (function)
		py.Py_DecRef(function);
}

static uint32_t count_samples(PyObject *indices)
{
	ssize_t size;

	/* With batch_size=None. Asking a number for its size costs as much as all else in here. */
	if (!indices || api_is_int(indices))
		return 1;
	size = py.PyObject_Size(indices);
	py.PyErr_Clear();
	return size < 0 ? 1 : (uint32_t)size;
}

/* _MapDatasetFetcher.fetch, _IterableDatasetFetcher.fetch: one load. */
static PyObject *on_fetch(PyObject *original, PyObject *args, PyObject *kwargs)
{
	struct thread *thread = activate_on() ? thread_get() : NULL;
	struct scope_load load;
	PyObject *fetcher, *batch;
	uint32_t samples;
	bool failed;

	/* No stream: somebody uses the fetcher without a loader. */
	if (!thread || !thread->stream)
		return py.PyObject_Call(original, args, kwargs);
	fetcher = py.PyTuple_GetItem(args, 0);
	samples = count_samples(py.PyTuple_GetItem(args, 1));
	py.PyErr_Clear();
	if (fetcher)
		prepare(fetcher);
	audit_load_begin(thread->worker >= 0);
	scope_load_begin(thread, &load);
	batch = py.PyObject_Call(original, args, kwargs);
	failed = !batch;
	/* An iterable's end is no load: nothing was loaded. */
	if (batch || !py.PyErr_ExceptionMatches(*py.stop_iteration))
		scope_load_end(thread, &load, samples, failed);
	else
		scope_load_cancel(thread, &load);
	return batch;
}

/* index_queue.get in a worker: (task, indices), a request to start over, or None. */
static PyObject *on_index(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *message = py.PyObject_Call(original, args, kwargs);
	static const char *const resumes[] = {"_ResumeIteration", NULL};
	struct thread *thread = activate_on() ? thread_get() : NULL;
	int64_t task;

	if (!message || !thread)
		return message;
	task = first_number(message);
	if (task >= 0) {
		thread->task = (uint32_t)task;
		return message;
	}
	if (api_is_of_type(message, resumes))
		thread->generation++;
	py.PyErr_Clear();
	return message;
}

static PyMethodDef index_method = {"get", on_index, PY_VARARGS_KEYWORDS, NULL};

/* The worker loop is pickled by name under spawn, so its wrapper cannot carry the original. */
static struct worker_loop {
	const char *module;
	PyObject *original;
	ssize_t index_queue;
	ssize_t data_queue;
	ssize_t worker_id;
} worker_loops[TORCH_PACKAGE_MAX] = {
	[TORCH] = {.module = "torch.utils.data._utils.worker"},
	[TORCHDATA] = {.module = "torchdata.stateful_dataloader.worker"},
};

static PyObject *worker_argument(PyObject *args, PyObject *kwargs, ssize_t at, const char *name)
{
	PyObject *value = kwargs ? py.PyDict_GetItemString(kwargs, name) : NULL;

	if (!value && at >= 0 && at < py.PyTuple_Size(args))
		value = py.PyTuple_GetItem(args, at);
	py.PyErr_Clear();
	return value;
}

static void enter_worker(const struct worker_loop *loop, PyObject *args, PyObject *kwargs)
{
	PyObject *indices = worker_argument(args, kwargs, loop->index_queue, "index_queue");
	PyObject *results = worker_argument(args, kwargs, loop->data_queue, "data_queue");
	PyObject *id = worker_argument(args, kwargs, loop->worker_id, "worker_id");
	struct thread *thread;
	struct dlprof_event event = {.kind = DLPROF_EVENT_WORKER};

	if (!indices || !results || blind || !consumer_activate())
		return;
	thread = thread_get();
	if (!thread)
		return;
	thread->worker = id ? (int32_t)api_number(id, -1) : -1;
	thread->stream = pipe_inode(results, "_writer");
	thread->generation = 0;
	patch_attribute(indices, &index_method);
	event.worker = thread->worker;
	event.begin_ns = clock_now_ns();
	event.stream = thread->stream;
	thread_push(thread, &event);
}

static PyObject *run_worker(enum torch_package package, PyObject *args, PyObject *kwargs)
{
	enter_worker(&worker_loops[package], args, kwargs);
	return py.PyObject_Call(worker_loops[package].original, args, kwargs);
}

static PyObject *on_torch_worker(PyObject *self, PyObject *args, PyObject *kwargs)
{
	(void)self;
	return run_worker(TORCH, args, kwargs);
}

static PyObject *on_torchdata_worker(PyObject *self, PyObject *args, PyObject *kwargs)
{
	(void)self;
	return run_worker(TORCHDATA, args, kwargs);
}

/* Where the loop takes its arguments, by name: their places differ between versions. */
static void find_arguments(struct worker_loop *loop)
{
	PyObject *code = api_get_named(loop->original, "__code__");
	PyObject *names = code ? api_get_named(code, "co_varnames") : NULL;
	ssize_t count = code ? (ssize_t)api_get_number(code, "co_argcount", 0) : 0;

	loop->index_queue = loop->data_queue = loop->worker_id = -1;
	for (ssize_t i = 0; names && i < count; i++) {
		PyObject *name = py.PyTuple_GetItem(names, i);

		if (!name)
			break;
		if (py.PyUnicode_CompareWithASCIIString(name, "index_queue") == 0)
			loop->index_queue = i;
		else if (py.PyUnicode_CompareWithASCIIString(name, "data_queue") == 0)
			loop->data_queue = i;
		else if (py.PyUnicode_CompareWithASCIIString(name, "worker_id") == 0)
			loop->worker_id = i;
	}
	py.PyErr_Clear();
	if (names)
		py.Py_DecRef(names);
	if (code)
		py.Py_DecRef(code);
}

void torch_patch_worker(PyObject *module, size_t package)
{
	static PyMethodDef methods[TORCH_PACKAGE_MAX] = {
		[TORCH] = {"_worker_loop", on_torch_worker, PY_VARARGS_KEYWORDS, NULL},
		[TORCHDATA] = {"_worker_loop", on_torchdata_worker, PY_VARARGS_KEYWORDS, NULL},
	};
	struct worker_loop *loop = &worker_loops[package];
	const char *const attribute = methods[package].ml_name;
	PyObject *original = api_get_named(module, attribute);
	PyObject *name, *function = NULL;
	bool set = false;

	if (original) {
		loop->original = original;
		find_arguments(loop);
		name = py.PyUnicode_FromString(loop->module);
		if (name) {
			/* Its __module__, for pickle. */
			function = py.PyCFunction_NewEx(&methods[package], NULL, name);
			py.Py_DecRef(name);
		}
	}
	if (function) {
		set = loop->data_queue >= 0 && loop->index_queue >= 0 &&
		      py.PyObject_SetAttrString(module, attribute, function) == 0;
		py.Py_DecRef(function);
	}
	py.PyErr_Clear();
	patch_note(loop->module, attribute, set);
}

void torch_patch_fetch(PyObject *module, size_t package)
{
	static PyMethodDef method = {"fetch", on_fetch, PY_VARARGS_KEYWORDS, NULL};
	static const struct {
		const char *name;
		const char *where;
	} fetchers[] = {
		{"_MapDatasetFetcher", FETCH ":_MapDatasetFetcher"},
		{"_IterableDatasetFetcher", FETCH ":_IterableDatasetFetcher"},
	};

	(void)package;
	for (size_t i = 0; i < sizeof(fetchers) / sizeof(fetchers[0]); i++) {
		PyObject *class = api_get_named(module, fetchers[i].name);

		patch_method(class, fetchers[i].where, &method);
		if (class)
			py.Py_DecRef(class);
	}
}

static bool has_method(PyObject *module, const char *name, const char *method)
{
	PyObject *class = api_get_named(module, name);
	PyObject *found = class ? api_get_named(class, method) : NULL;

	if (found)
		py.Py_DecRef(found);
	if (class)
		py.Py_DecRef(class);
	return found;
}

struct point {
	const char *name;
	const char *where;
	PyMethodDef *method;
};

static void patch_points(PyObject *module, const struct point *points, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		PyObject *class = api_get_named(module, points[i].name);

		patch_method(class, points[i].where, points[i].method);
		if (class)
			py.Py_DecRef(class);
	}
}

void torch_patch_dataloader(PyObject *module, size_t package)
{
	static PyMethodDef iter = {"__iter__", on_iter, PY_VARARGS_KEYWORDS, NULL};
	static PyMethodDef next = {"__next__", on_next, PY_VARARGS_KEYWORDS, NULL};
	static PyMethodDef try_get = {"_try_get_data", on_try_get, PY_VARARGS_KEYWORDS, NULL};
	static const struct point points[] = {
		{"DataLoader", DATALOADER ":DataLoader", &iter},
		{"_BaseDataLoaderIter", DATALOADER ":_BaseDataLoaderIter", &next},
		{"_MultiProcessingDataLoaderIter", DATALOADER ":_MultiProcessingDataLoaderIter",
		 &try_get},
	};
	/* Its iterators' __next__ calls the one above. */
	static const struct point stateful[] = {
		{"StatefulDataLoader", STATEFUL ":StatefulDataLoader", &iter},
		{"_StatefulMultiProcessingDataLoaderIter",
		 STATEFUL ":_StatefulMultiProcessingDataLoaderIter", &try_get},
	};
	const size_t count = sizeof(points) / sizeof(points[0]);

	if (package == TORCHDATA) {
		if (!blind)
			patch_points(module, stateful, sizeof(stateful) / sizeof(stateful[0]));
		return;
	}
	/* Half of the points would tell of loaders and never of a batch, and keep pipes.c from it.
	 */
	if (!has_method(module, points[1].name, next.ml_name)) {
		blind = true;
		for (size_t i = 0; i < count; i++)
			patch_note(points[i].where, points[i].method->ml_name, false);
		return;
	}
	patch_points(module, points, count);
}
