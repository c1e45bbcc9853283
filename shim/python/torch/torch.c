/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch/torch.h"

#include <sys/stat.h>

#include "base/clock.h"
#include "base/note.h"
#include "batch/ahead.h"
#include "batch/pinning.h"
#include "dlprof/units.h"
#include "python/interpreter/later.h"
#include "python/interpreter/patch.h"
#include "python/interpreter/stop.h"
#include "python/torch/handover.h"
#include "python/torch/identity.h"
#include "python/torch/iterator.h"
#include "python/torch/torch_set.h"
#include "record/activate.h"

#define DATALOADER "torch.utils.data.dataloader"
#define STATEFUL   "torchdata.stateful_dataloader.stateful_dataloader"
#define PINNING    "torch.utils.data._utils.pin_memory"

bool torch_blind;
static bool samples_seen;

uint64_t torch_pipe_inode(PyObject *queue, const char *end)
{
	OWNED PyObject *connection = api_get_named(queue, end);
	const int64_t fd = connection ? api_get_number(connection, "_handle", -1) : -1;
	struct stat status;

	return fd >= 0 && sys_call2(SYS_fstat, fd, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

static const char *kind_of(PyObject *iterator)
{
	static const char *const kinds[2][2] = {
		{"torch.DataLoader", "torch.DataLoader (iterable)"},
		{"torchdata.StatefulDataLoader", "torchdata.StatefulDataLoader (iterable)"},
	};
	/* Only stateful iterators have this attribute, which they save as part of their state. */
	const int stateful = api_has(iterator, "_sampler_iter_yielded");

	return kinds[stateful][api_get_number(iterator, "_dataset_kind", 0) == 1];
}

/*
 * Asks for a length; -1: there is none. If len() fails but works when asked again, a signal handler
 * raised the exception (Ctrl-C): returns false, and the exception stays set.
 */
static bool ask_length(PyObject *sampler, int64_t *length)
{
	PyObject *type, *value, *traceback;

	*length = py.PyObject_Size(sampler);
	if (*length >= 0)
		return true;
	py.PyErr_Fetch(&type, &value, &traceback);
	if (py.PyObject_Size(sampler) >= 0) {
		py.PyErr_Restore(type, value, traceback);
		return false;
	}
	py.PyErr_Restore(type, value, traceback);
	py.PyErr_Clear();
	return true;
}

/* Finds a loader's length, if its sampler is torch's own. False: there is an exception. */
static bool length_of(PyObject *loader, int64_t *length)
{
	static const char *const own[] = {
		"SequentialSampler",     "RandomSampler",      "SubsetRandomSampler",
		"WeightedRandomSampler", "DistributedSampler", NULL,
	};
	OWNED PyObject *sampler = NULL;

	*length = -1;
	if (!loader || identity_is_known(loader))
		return true;
	sampler = api_get_named(loader, "sampler");
	return !api_is_of_type(sampler, own) || ask_length(sampler, length);
}

static const char *const own_batches[] = {"BatchSampler", NULL};

static PyObject *gather_identity(PyObject *loader, int64_t length, struct consumer_facts *facts)
{
	PyObject *dataset = NULL;
	static const char *const parts[CONSUMER_PART_MAX] = {"dataset", "sampler", "batch_sampler"};

	facts->batch_size = api_get_number(loader, "batch_size", -1);
	for (size_t i = 0; i < CONSUMER_PART_MAX; i++) {
		OWNED PyObject *part = api_get_named(loader, parts[i]);
		OWNED PyObject *class = part ? py.PyObject_Type(part) : NULL;

		if (i == 2 && api_is_of_type(part, own_batches))
			facts->length = length;
		facts->classes[i] = class;	/* only compared */
		if (i == 0)
			facts->dataset = dataset = api_take(&part);
	}
	return dataset;
}

static PyObject *gather_facts(PyObject *iterator, PyObject *loader, int64_t length,
			      struct consumer_facts *facts)
{
	PyObject *dataset = NULL;
	OWNED PyObject *queue = api_get_named(iterator, "_worker_result_queue");

	facts->kind = kind_of(iterator);
	facts->workers = (int32_t)api_get_number(iterator, "_num_workers", -1);
	facts->prefetch_factor = (int32_t)api_get_number(iterator, "_prefetch_factor", -1);
	facts->batch_size = -1;
	if (loader)
		dataset = gather_identity(loader, length, facts);
	if (queue)
		facts->stream = torch_pipe_inode(queue, "_reader");
	else
		facts->workers = 0;
	if (facts->workers == 0)
		facts->prefetch_factor = -1;
	facts->sees_samples = samples_seen;
	facts->sees_fetches = !descriptor_blind;
	/* Before PyTorch 2.6 batches were always in order. */
	if (api_get_flag(iterator, "_in_order", true))
		facts->flags |= DLPROF_EPOCH_IN_ORDER;
	if (loader && !api_has(loader, "in_order"))
		facts->flags |= DLPROF_EPOCH_LACKS_ORDER;
	if (facts->workers && api_get_flag(iterator, "_persistent_workers", false))
		facts->flags |= DLPROF_EPOCH_PERSISTENT;
	return dataset;
}

/* Makes this process record now: workers inherit that only if they are forked after it. */
static void begin_recording(void)
{
	if (consumer_record())
		later_load_begin(false);
}

/* Wraps check_worker_number_rationality(), which constructors call last and nobody inspects. */
static PyObject *on_made(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *result = py.PyObject_Call(original, args, kwargs);
	PyObject *loader = result ? api_first(args) : NULL;

	if (loader)
		identity_made(loader);
	return result;
}

/* What torch_skip() announced. The GIL guards it. */
static struct {
	const void *loader;
	uint64_t batches;
} skip;

void torch_skip(const void *loader, uint64_t batches)
{
	skip.loader = loader;
	skip.batches = batches;
}

static PyObject *on_iter(PyObject *original, PyObject *args, PyObject *kwargs)
{
	uint64_t begin_ns = clock_now_ns(), skipped = 0;
	struct consumer_facts facts = {0};
	OWNED PyObject *dataset = NULL;
	PyObject *loader, *iterator;
	struct consumer *consumer;
	int64_t length;

	begin_recording();
	if (activate_on())
		handover_asks(0);
	loader = api_first(args);
	if (skip.loader == loader) {
		skipped = skip.batches;
		torch_skip(NULL, 0); /* another loader may get this one's address */
	}
	torch_set_loader(loader);
	iterator = iterator_make(original, args, kwargs, begin_ns);
	if (!iterator || !activate_on())
		return iterator;
	if (!length_of(loader, &length)) {
		py.Py_DecRef(iterator);
		return NULL;
	}
	dataset = gather_facts(iterator, loader, length, &facts);
	consumer = iterator_epoch(iterator, loader, &facts, begin_ns);
	if (consumer)
		consumer->skip_left = skipped;
	return iterator;
}

static struct api_name maker_name = {"_dlprof_maker", NULL};

/* Notes an iterator's loader. A strong reference could keep both, and so workers, alive. */
static void remember_maker(PyObject *iterator, PyObject *loader)
{
	PyObject *name = api_name(&maker_name);
	OWNED PyObject *reference = py.PyWeakref_NewRef(loader, NULL);

	if (reference && name)
		py.PyObject_SetAttr(iterator, name, reference);
	py.PyErr_Clear();
}

static PyObject *maker_of(PyObject *iterator)
{
	OWNED PyObject *reference = api_get_again(iterator, &maker_name);
	OWNED PyObject *loader = reference ? py.PyObject_CallObject(reference, NULL) : NULL;

	py.PyErr_Clear();
	return loader == py.none ? NULL : api_take(&loader);
}

/* Wraps iterators' __init__, as some programs make iterators without DataLoader.__iter__. */
static PyObject *on_init(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *made, *iterator, *loader;

	begin_recording();
	made = iterator_make(original, args, kwargs, 0);
	if (!made || !activate_on())
		return made;
	iterator = api_first(args);
	loader = api_argument(args, kwargs, 1, "loader");
	if (iterator && loader)
		remember_maker(iterator, loader);
	return made;
}

/* Wraps what torchdata's __init__ calls to reach a saved state, for which it skips batches. */
static PyObject *on_resume(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *iterator = api_first(args), *made;

	begin_recording();
	if (iterator && activate_on())
		iterator_skip(iterator, true);
	made = py.PyObject_Call(original, args, kwargs);
	if (made)
		iterator_skip(iterator, false);
	return made;
}

static uint32_t delivered_task(PyObject *iterator, const struct consumer *consumer)
{
	static struct api_name received = {"_rcvd_idx", NULL};
	OWNED PyObject *value = NULL;
	int64_t next;

	if (consumer->workers == 0)
		return (uint32_t)consumer->ordinal;
	if (!consumer->in_order)
		return consumer->last_task;
	/* _rcvd_idx also counts skipped batches. */
	value = api_get_again(iterator, &received);
	next = value ? api_number(value, 0) : 0;
	return next > 0 ? (uint32_t)(next - 1) : (uint32_t)consumer->ordinal;
}

/* Begins the epoch of an iterator made without DataLoader.__iter__. False: Python raised. */
static bool begin_epoch(PyObject *iterator, struct consumer **consumer)
{
	struct consumer_facts facts = {0};
	OWNED PyObject *loader = maker_of(iterator), *dataset = NULL;
	int64_t length;

	if (!length_of(loader, &length))
		return false;
	dataset = gather_facts(iterator, loader, length, &facts);
	*consumer = iterator_epoch(iterator, loader, &facts, clock_now_ns());
	return true;
}

/* If there are no workers, but a thread prefetches for the training, that thread is the worker. */
static void announce_ahead(PyObject *iterator, struct consumer *consumer)
{
	struct consumer_facts facts = {0};

	gather_facts(iterator, NULL, -1, &facts);
	facts.flags |= AHEAD_EPOCH_AGAIN;
	consumer_announce(consumer, &facts, clock_now_ns());
}

static void note_skipped(const struct consumer *consumer, uint64_t ns)
{
	if (consumer->skip_left || ns < (uint64_t)NS_PER_S)
		return;
	note_format('w',
		    "%lu %s loaded and thrown away to resume, in %ld s: begin the dataset where "
		    "the checkpoint ended; Hugging Face's Trainer can begin it anew instead "
		    "(ignore_data_skip=True)",
		    consumer->skip_count, consumer->skip_count == 1 ? "batch was" : "batches were",
		    (long)(ns / NS_PER_S + 0.5));
}

static PyObject *on_next(PyObject *original, PyObject *args, PyObject *kwargs)
{
	struct consumer_wait wait;
	struct consumer *consumer;
	PyObject *iterator, *batch;
	bool is_ahead;

	if (!consumer_record())
		return py.PyObject_Call(original, args, kwargs);
	iterator = py.PyTuple_GetItem(args, 0);
	consumer = iterator ? iterator_state(iterator) : NULL;
	if (iterator && unlikely(!consumer || !(consumer->stream || consumer->skipping)) &&
	    !begin_epoch(iterator, &consumer))
		return NULL;
	py.PyErr_Clear();
	is_ahead = consumer && !consumer->skipping && handover_asks(consumer->stream);
	if (!is_ahead)
		stop_look();
	else if (!consumer->workers && !consumer->is_ahead)
		announce_ahead(iterator, consumer);
	if (!consumer || consumer->skipping || !consumer_wait_begin(consumer, &wait, 0))
		return py.PyObject_Call(original, args, kwargs);
	ahead_watch_begin(wait.thread);
	batch = py.PyObject_Call(original, args, kwargs);
	if (!thread_is_in_life(wait.life)) /* this is a child that was forked in the call */
		return batch;
	if (unlikely(ahead_may_be_users(wait.thread))) {
		consumer_wait_cancel(&wait);
		consumer->ordinal += batch != NULL;
		if (!batch && py.PyErr_ExceptionMatches(*py.stop_iteration))
			consumer_abandon(consumer);
		return batch;
	}
	ahead_watch_end(wait.thread);
	if (batch && unlikely(consumer->skip_left))
		note_skipped(consumer, consumer_wait_skip(consumer, &wait));
	else if (batch)
		consumer_wait_end(consumer, &wait, delivered_task(iterator, consumer));
	if (batch && unlikely(is_ahead))
		handover_took(batch);
	if (!batch)
		consumer_wait_stop(consumer, &wait, !py.PyErr_ExceptionMatches(*py.stop_iteration));
	return batch;
}

int64_t torch_first_number(PyObject *tuple)
{
	PyObject *first = py.PyTuple_GetItem(tuple, 0);

	if (!first) {
		py.PyErr_Clear();
		return -1;
	}
	return api_number(first, -1);
}

/* The original returns (True, (task, data)) for a message. */
static PyObject *on_try_get(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *iterator = py.PyTuple_GetItem(args, 0);
	struct consumer *consumer = NULL;
	struct consumer_receive receive;
	struct thread *thread = NULL;
	PyObject *answer, *message;
	int64_t task = -1;

	if (iterator && activate_on())
		consumer = iterator_state(iterator);
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
			task = torch_first_number(message);
		py.PyErr_Clear();
	}
	consumer_receive_end(consumer, &receive, task);
	return answer;
}

static PyObject *on_shutdown(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *iterator = activate_on() ? api_first(args) : NULL, *result;
	struct consumer *consumer = iterator ? iterator_state(iterator) : NULL;
	struct consumer_wait wait;

	if (!consumer || consumer->skipping || !consumer_drop_begin(consumer, &wait))
		return py.PyObject_Call(original, args, kwargs);
	result = py.PyObject_Call(original, args, kwargs);
	if (thread_is_in_life(wait.life))
		consumer_drop_end(consumer, &wait);
	return result;
}

void torch_patch_dataloader(PyObject *module, size_t package)
{
	static struct patch_point points[] = {
		PATCH_POINT(DATALOADER, "_BaseDataLoaderIter", "__next__", on_next),
		PATCH_POINT(DATALOADER, "DataLoader", "__iter__", on_iter),
		PATCH_POINT(DATALOADER, "_BaseDataLoaderIter", "__init__", on_init),
		PATCH_POINT(DATALOADER, "_MultiProcessingDataLoaderIter", "_try_get_data",
			    on_try_get),
		PATCH_POINT(DATALOADER, "_MultiProcessingDataLoaderIter", "__init__", on_init),
	};
	/* __next__ and __init__ of these iterators call those patched above. */
	static struct patch_point stateful[] = {
		PATCH_POINT(STATEFUL, "StatefulDataLoader", "__iter__", on_iter),
		PATCH_POINT(STATEFUL, "_StatefulSingleProcessDataLoaderIter", "__init__",
			    on_resume),
		PATCH_POINT(STATEFUL, "_StatefulMultiProcessingDataLoaderIter", "__init__",
			    on_resume),
		PATCH_POINT(STATEFUL, "_StatefulMultiProcessingDataLoaderIter", "_try_get_data",
			    on_try_get),
	};
	static struct patch_point made =
		PATCH_POINT(DATALOADER, "DataLoader", "check_worker_number_rationality", on_made);
	/* The thread that asks for batches calls this, which asks the sampler. */
	static struct patch_point sample =
		PATCH_POINT(DATALOADER, "_BaseDataLoaderIter", "_next_index", iterator_choose);
	static struct patch_point drop = PATCH_POINT(DATALOADER, "_MultiProcessingDataLoaderIter",
						     "_shutdown_workers", on_shutdown);
	static struct patch_point drop_stateful =
		PATCH_POINT(STATEFUL, "_StatefulMultiProcessingDataLoaderIter",
			    "_shutdown_workers", on_shutdown);

	if (package == TORCHDATA) {
		if (torch_blind)
			return;
		patch_points(module, stateful, ARRAY_COUNT(stateful));
		patch_optional(module, &drop_stateful);
		return;
	}
	/* Without these points, loaders are known, but their batches are not seen. */
	if (!patch_has_method(module, &points[0])) {
		torch_blind = true;
		for (size_t i = 0; i < ARRAY_COUNT(points); i++)
			patch_note(points[i].where, points[i].method.ml_name, false);
		return;
	}
	patch_points(module, points, ARRAY_COUNT(points));
	patch_optional(module, &made);
	samples_seen = patch_optional(module, &sample);
	patch_optional(module, &drop);
}

/* Wraps _pin_memory_loop(), which is all that a thread that pins batches does. */
static PyObject *on_pinning(PyObject *original, PyObject *args, PyObject *kwargs)
{
	struct thread *thread = activate_on() ? thread_get() : NULL;
	const uint32_t life = thread_life;
	PyObject *queue = api_argument(args, kwargs, 0, "in_queue"), *result;

	if (thread && queue)
		pinning_of(thread, torch_pipe_inode(queue, "_reader"));
	result = py.PyObject_Call(original, args, kwargs);
	if (thread && thread_is_in_life(life) && thread_self == thread)
		pinning_of(thread, 0);
	return result;
}

void torch_patch_pinning(PyObject *module, size_t package)
{
	static PyMethodDef method = {"_pin_memory_loop", on_pinning, PY_VARARGS_KEYWORDS, NULL};

	if (patch_method(module, &method))
		patch_note(PINNING, method.ml_name, true);
}
