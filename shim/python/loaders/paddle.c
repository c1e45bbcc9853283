/* SPDX-License-Identifier: Apache-2.0 */
#include "python/loaders/paddle.h"

#include "python/interpreter/patch.h"
#include "python/torch/torch.h"
#include "record/activate.h"

#define ITERATORS "paddle.io.dataloader.dataloader_iter"
#define ORDER_MAX 1024

/* Tasks of batches that the receiving thread has put, but the training has not taken yet. */
struct order {
	uint32_t put, taken;
	uint32_t tasks[ORDER_MAX];
};

static struct api_name order_name = {"_dlprof_order", NULL};

static struct order *order_of(PyObject *iterator, bool make)
{
	return api_memory(iterator, &order_name, sizeof(struct order), make);
}

/* Returns true for an iterable dataset: tasks of a worker that has ended bring no batch. */
static bool is_stream(PyObject *iterator)
{
	return api_get_number(iterator, "_dataset_kind", 0) == 1;
}

/* Returns the stream of an iterator whose own thread loads; 0: out of memory. */
static uint64_t thread_stream(PyObject *iterator)
{
	static struct api_name name = {"_dlprof_stream", NULL};
	static uint64_t count;
	uint64_t *stream = api_memory(iterator, &name, sizeof(*stream), true);

	if (stream && !*stream)
		*stream = DLPROF_STREAM_POOL | (uint64_t)sys_getpid() << 38 | ++count;
	return stream ? *stream : 0;
}

static bool gather(PyObject *iterator, struct consumer_facts *facts)
{
	OWNED PyObject *queue = api_get_named(iterator, "_data_queue");
	OWNED PyObject *size = api_get_path(iterator, "_batch_sampler.batch_size");

	facts->kind = is_stream(iterator) ? "paddle.io (iterable)" : "paddle.io";
	facts->workers = (int32_t)api_get_number(iterator, "_num_workers", -1);
	if (queue) {
		facts->stream = torch_pipe_inode(queue, "_reader");
	} else {
		facts->stream = thread_stream(iterator);
		facts->workers = 1;
	}
	facts->prefetch_factor = (int32_t)api_get_number(iterator, "_prefetch_factor", -1);
	facts->batch_size = size ? api_number(size, -1) : -1;
	facts->flags |= DLPROF_EPOCH_IN_ORDER;
	if (api_get_flag(iterator, "_persistent_workers", false))
		facts->flags |= DLPROF_EPOCH_PERSISTENT;
	return true;
}

static uint32_t task_of(PyObject *iterator, const struct consumer *consumer)
{
	struct order *order = is_stream(iterator) ? order_of(iterator, false) : NULL;

	if (!order)
		return (uint32_t)consumer->ordinal;
	return order->taken != order->put ? order->tasks[order->taken++ % ORDER_MAX]
					  : FOLLOW_NO_TASK;
}

const struct follow_crew paddle_crew = {gather, task_of};

/* Wraps _get_data(), which returns the batch of task `_rcvd_idx` in the receiving thread. */
static PyObject *on_data(PyObject *original, PyObject *args, PyObject *kwargs)
{
	static const char *const resumes[] = {"_ResumeIteration", NULL};
	PyObject *iterator = api_first(args);
	PyObject *batch = py.PyObject_Call(original, args, kwargs);
	struct order *order;
	int64_t task;

	if (!batch || batch == py.none || !iterator || !activate_on() || !is_stream(iterator) ||
	    api_is_of_type(batch, resumes))
		return batch;
	order = order_of(iterator, true);
	task = api_get_number(iterator, "_rcvd_idx", -1);
	if (!order || task < 0)
		return batch;
	/* A lower task means that an epoch has begun, and that the last one never goes on. */
	if (order->put && (uint32_t)task <= order->tasks[(order->put - 1) % ORDER_MAX])
		order->put = order->taken = 0;
	order->tasks[order->put++ % ORDER_MAX] = (uint32_t)task;
	return batch;
}

/* Wraps all that a thread of the iterator does: it loads ahead if there are no workers. */
static PyObject *on_thread(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *iterator = api_first(args);
	struct thread *thread = iterator && consumer_record() ? thread_get() : NULL;

	if (thread) {
		thread->load = (struct thread_load){.stream = thread_stream(iterator)};
		thread->worker = 0;
	}
	return py.PyObject_Call(original, args, kwargs);
}

void paddle_patch(PyObject *module, size_t row)
{
	static struct patch_point data =
		PATCH_POINT(ITERATORS, "_DataLoaderIterMultiProcess", "_get_data", on_data);
	static struct patch_point loop =
		PATCH_POINT(ITERATORS, "_DataLoaderIterSingleProcess", "_thread_loop", on_thread);

	patch_optional(module, &data);
	patch_optional(module, &loop);
}
