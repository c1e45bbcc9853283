/* SPDX-License-Identifier: Apache-2.0 */
#include "python/sample/steps.h"

#include <stdint.h>

#include "base/clock.h"
#include "base/text.h"
#include "batch/scope.h"
#include "python/interpreter/later.h"
#include "python/interpreter/patch.h"
#include "python/interpreter/standin.h"
#include "record/activate.h"
#include "record/segment.h"
#include "record/span.h"
#include "record/tally.h"

/* Attributes of an iterable dataset's stand-in: the dataset, and the samples given (uint64_t). */
static struct api_name dataset_name = {"_dlprof_dataset", NULL};
static struct api_name taken_name = {"_dlprof_taken", NULL};

static void add_name(struct text *text, PyObject *object)
{
	OWNED PyObject *type = py.PyObject_Type(object);
	OWNED PyObject *name = type ? api_get_named(type, "__name__") : NULL;
	OWNED PyObject *own = name && py.PyUnicode_CompareWithASCIIString(name, "function") == 0
				      ? api_get_named(object, "__name__") : NULL;
	PyObject *best = own ? own : name;
	const char *utf8 = best && api_is_string(best) ? py.PyUnicode_AsUTF8(best) : NULL;

	text_add(text, utf8 ? utf8 : "?");
	py.PyErr_Clear();
}

/* Returns a step's key, only to be compared: its class or, for a function, the function. */
static OFTEN const void *key_of(PyObject *object)
{
	OWNED PyObject *type = py.PyObject_Type(object);	/* the object keeps it alive */

	return type == py.function_type ? object : type;
}

#define STEP_PLACES 4	/* places where a step may be stored; the last one is reused */

static RARELY struct dlprof_tally *find_tally(struct thread *thread, PyObject *object,
					      const char *what)
{
	TEXT(name, DLPROF_TALLY_NAME_BYTES);

	add_name(&name, object);
	return tally_named(thread, DLPROF_TALLY_STEP, name.buffer, what, 0);
}

/* Returns the tally of an object that is a "dataset" or a "transform" (`what`). */
static OFTEN struct dlprof_tally *tally_of(struct thread *thread, PyObject *object,
					   const char *what)
{
	const void *key = key_of(object);
	uintptr_t at = (uintptr_t)key >> 4;
	struct thread_step *known = NULL;

	for (uintptr_t end = at + STEP_PLACES; at < end; at++) {
		known = &thread->steps[at % THREAD_STEP_MAX];
		if (likely(known->key == key && known->tally))
			return known->tally;
		if (!known->key)
			break;
	}
	known->tally = find_tally(thread, object, what);
	known->key = key;
	return known->tally;
}

static OFTEN bool begin_step(struct span *span, PyObject *object, const char *what,
			     const char *name)
{
	if (!activate_on() || !span_begin_in_load(span, DLPROF_CLASS_STEP))
		return false;
	span->name = name;
	span->uncounted = false;
	span->tally = tally_of(span->thread, object, what);
	return true;
}

/* Times a method of a transform, as a step that is named after the transform's class. */
static PyObject *steps_method(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *self = api_first(args), *result;
	struct span span;
	bool recorded;

	recorded = self && begin_step(&span, self, "transform", "transform");
	result = py.PyObject_Call(original, args, kwargs);
	if (recorded)
		span_end(&span, 0, !result);
	return result;
}

/* Wraps the opening of an image. By its end, the image format's module has loaded the decoder. */
static OFTEN PyObject *steps_opened(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *result = py.PyObject_Call(original, args, kwargs);

	if (result && activate_on())
		later_opened();
	return result;
}

/* Returns next(), borrowed, or NULL. PyIter_Next() would lose the value of a StopIteration. */
static PyObject *next_function(void)
{
	static PyObject *function HOT_DATA = NULL;

	if (unlikely(!function))
		function = api_get_path(api_module("builtins"), "next");
	return function;
}

/* `index` is the sample's number in the dataset or stream. */
static OFTEN PyObject *sample(PyObject *object, PyObject *dataset, PyObject *key, uint64_t index)
{
	struct span span;
	bool recorded = begin_step(&span, dataset, "dataset", "sample");
	uint64_t begin_ticks = recorded ? clock_ticks() : 0;
	uint32_t life = thread_life;
	PyObject *value;

	if (recorded)
		tally_sample_begin(span.thread);
	value = key ? py.PyObject_GetItem(object, key)
		    : py.PyObject_CallFunctionObjArgs(next_function(), object, NULL);
	if (!recorded)
		return value;
	span.uncounted = !value;	/* the end of a stream is not a sample */
	span_end(&span, 0, !value && key);
	if (value && thread_is_in_life(life) && span.tally)
		tally_sample(span.thread, span.tally->name, index,
			     clock_length_ns(clock_ticks() - begin_ticks),
			     tally_sample_file(span.thread));
	return value;
}

static OFTEN PyObject *on_item(PyObject *self, PyObject *key)
{
	OWNED PyObject *object = standin_inside(self);
	const int64_t index = object ? api_number(key, 0) : 0;

	return object ? sample(object, object, key, index < 0 ? 0 : (uint64_t)index) : NULL;
}

/* __getitems__ returns a whole batch's samples. */
static PyObject *on_items(PyObject *self, PyObject *args, PyObject *kwargs)
{
	OWNED PyObject *object = standin_original(args);
	OWNED PyObject *method = object ? py.PyObject_GetAttrString(object, "__getitems__") : NULL;
	PyObject *keys = method ? py.PyTuple_GetItem(args, 1) : NULL, *values;
	OWNED PyObject *inner = keys ? py.PyTuple_Pack(1, keys) : NULL;
	struct span span;
	bool recorded;

	if (!inner)
		return NULL;
	recorded = begin_step(&span, object, "dataset", "samples");
	values = py.PyObject_Call(method, inner, kwargs);
	if (recorded)
		span_end(&span, 0, !values);
	return values;
}

static PyObject *on_next(PyObject *self, PyObject *args, PyObject *kwargs)
{
	OWNED PyObject *object = standin_original(args), *dataset = NULL, *bytes = NULL;
	PyObject *standing = py.PyTuple_GetItem(args, 0), *value;
	uint64_t *taken;

	if (!object)
		return NULL;
	dataset = standin_kept(standing, &dataset_name);
	bytes = standin_kept(standing, &taken_name);
	py.PyErr_Clear();
	taken = bytes ? api_bytearray(bytes, sizeof(*taken)) : NULL;
	value = sample(object, dataset ? dataset : object, NULL, taken ? *taken : 0);
	if (value && taken)
		(*taken)++;
	return value;
}

static PyMethodDef item_method = {"__getitem__", (py_wrapper)(void (*)(void))on_item, STANDIN_ITEM,
				  NULL};
static PyMethodDef items_method = {"__getitems__", on_items, PY_VARARGS_KEYWORDS, NULL};
static PyMethodDef next_method = {"__next__", on_next, PY_VARARGS_KEYWORDS, NULL};
static PyMethodDef iter_method = {"__iter__", api_itself, PY_VARARGS_KEYWORDS, NULL};

static PyMethodDef *const dataset_methods[] = {&item_method, NULL};
static PyMethodDef *const items_methods[] = {&item_method, &items_method, NULL};
static PyMethodDef *const stream_methods[] = {&next_method, &iter_method, NULL};

static PyObject *compose_class(PyObject *function)
{
	static PyMethodDef *const methods[] = {NULL};
	static PyObject *class HOT_DATA = NULL;

	if (!class)
		class = standin_class("compose", methods, function);
	return class;
}

static bool add_stream_facts(PyObject *standing, PyObject *fetcher)
{
	static const uint64_t none;
	OWNED PyObject *dataset = api_get_named(fetcher, "dataset");
	OWNED PyObject *taken = py.PyByteArray_FromStringAndSize((const char *)&none, sizeof(none));

	return dataset && taken && standin_keep(standing, &dataset_name, dataset) &&
	       standin_keep(standing, &taken_name, taken);
}

/* Code that saves the state of objects looks into them, so stateful ones get no stand-in. */
static PyObject *stand_for(PyObject *object, bool stream)
{
	OWNED PyObject *type = py.PyObject_Type(object), *class = NULL;

	if (type && api_has(type, stream ? "__next__" : "__getitem__") &&
	    !api_has(object, "state_dict") && (!stream || next_function()))
		class = standin_class(stream ? "dataset_iter" : "dataset",
				      stream ? stream_methods
				      : api_get_flag(object, "__getitems__", false)
					      ? items_methods
					      : dataset_methods,
				      object);
	return class ? standin_make(class, object) : NULL;
}

PyObject *steps_dataset(PyObject *dataset)
{
	PyObject *standing = stand_for(dataset, false);

	py.PyErr_Clear();
	return standing;
}

void steps_watch(PyObject *fetcher)
{
	const bool stream = api_has(fetcher, "dataset_iter");
	const char *name = stream ? "dataset_iter" : "dataset";
	OWNED PyObject *object = api_get_named(fetcher, name);
	OWNED PyObject *standing = object ? stand_for(object, stream) : NULL;

	if (standing && (!stream || add_stream_facts(standing, fetcher)))
		py.PyObject_SetAttrString(fetcher, name, standing);
	py.PyErr_Clear();
}

static struct api_name transforms_name = {"transforms", NULL};

/* Times of one call of Compose. A debugger may keep it alive after that call. */
struct walk {
	struct span *span; /* on the call's stack; NULL: the call is over */
	bool timed;
};

static OFTEN void end_step(struct walk *walk, bool failed)
{
	if (walk->timed)
		span_end(walk->span, 0, failed);
	walk->timed = false;
}

static OFTEN PyObject *on_step(PyObject *bytes, PyObject *step)
{
	struct walk *walk = (void *)py.PyByteArray_AsString(bytes);

	if (walk->span) {
		end_step(walk, false);
		walk->timed = begin_step(walk->span, step, "transform", "transform");
	}
	py.Py_IncRef(step);
	return step;
}

static PyMethodDef step_method = {"step", (py_wrapper)(void (*)(void))on_step, PY_ONE_ARGUMENT,
				  NULL};

/* Returns map(on_step, compose.transforms), or NULL if Compose has another form. */
static OFTEN PyObject *timed_steps(PyObject *compose, PyObject *bytes)
{
	OWNED PyObject *steps = api_get_again(compose, &transforms_name);
	OWNED PyObject *function = steps ? py.PyCFunction_NewEx(&step_method, bytes, NULL) : NULL;

	return function ? py.PyObject_CallFunctionObjArgs(py.map_type, function, steps, NULL)
			: NULL;
}

/* Wraps Compose.__call__(self, sample) and Compose.forward(self, *samples). */
static OFTEN PyObject *steps_compose(PyObject *original, PyObject *args, PyObject *kwargs)
{
	OWNED PyObject *bytes = NULL, *steps = NULL, *standing = NULL, *replaced = NULL;
	struct walk *walk;
	struct span span;
	PyObject *self, *result;

	if (!activate_on() || !thread_loading())
		return py.PyObject_Call(original, args, kwargs);
	self = py.PyTuple_GetItem(args, 0);
	if (self && compose_class(original))
		bytes = py.PyByteArray_FromStringAndSize((const char *)&(struct walk){&span, false},
							 sizeof(*walk));
	if (bytes)
		steps = timed_steps(self, bytes);
	if (steps)
		standing = standin_make(compose_class(original), self);
	if (standing && standin_keep(standing, &transforms_name, steps))
		replaced = api_slice(args, 0);
	if (replaced)
		py.PyTuple_SetItem(replaced, 0, api_take(&standing));
	py.PyErr_Clear();
	result = py.PyObject_Call(original, replaced ? replaced : args, kwargs);
	if (bytes) {
		walk = (void *)py.PyByteArray_AsString(bytes);
		end_step(walk, !result);
		walk->span = NULL;
	}
	return result;
}

static struct {
	const char *class;
	PyMethodDef method;
} rows[] = {
#define STEPS(id, module, class, name, wrapper)                                                    \
	{class, {name, wrapper, PY_VARARGS_KEYWORDS, NULL}},
#include "python/sample/steps.def"
};

#define COMPOSE_MAX 2 /* number of rows of steps.def with steps_compose */

static struct patch_guest composes[COMPOSE_MAX];
static size_t compose_count HOT_DATA = 0;
static uint32_t loading HOT_DATA = 0; /* loads under way in all threads; under the GIL */

/* Patch Compose during loads only: torch.compile and torch.export must find the original. */
static OFTEN void begin_load(void)
{
	if (loading++)
		return;
	for (size_t i = 0; i < compose_count; i++)
		patch_guest_comes(&composes[i]);
}

static OFTEN void end_load(void)
{
	if (--loading)
		return;
	for (size_t i = 0; i < compose_count; i++)
		patch_guest_goes(&composes[i]);
}

static bool add_compose(PyObject *class, PyMethodDef *method)
{
	struct patch_guest made = {0};

	/* Making the guest may release the GIL, so another thread may have filled the list. */
	if (!patch_guest_make(&made, class, method) || compose_count == COMPOSE_MAX)
		return false;
	composes[compose_count++] = made;
	if (loading)
		patch_guest_comes(&composes[compose_count - 1]);
	return true;
}

void steps_patch(PyObject *module, size_t row)
{
	OWNED PyObject *class = api_get_named(module, rows[row].class);
	PyMethodDef *method = &rows[row].method;
	bool set = false;

	if (class)
		set = method->ml_meth == steps_compose ? add_compose(class, method)
						       : patch_method(class, method);
	if (set)
		patch_note(rows[row].class, method->ml_name, true);
}

static PyObject *on_collate(PyObject *original, PyObject *args, PyObject *kwargs)
{
	struct span span = {.fd = -1, .name = "collate_fn"};
	bool recorded = activate_on() && span_begin(&span, DLPROF_CLASS_COLLATE);
	PyObject *batch = py.PyObject_Call(original, args, kwargs);

	if (recorded)
		span_end(&span, 0, !batch);
	return batch;
}

PyMethodDef loading_collate = {"collate_fn", on_collate, PY_VARARGS_KEYWORDS, NULL};

uint32_t loading_count(PyObject *indices)
{
	ssize_t size;

	/* A number (batch_size=None) is one sample; asking it for a size would be slow. */
	if (!indices || api_is_int(indices))
		return 1;
	size = py.PyObject_Size(indices);
	py.PyErr_Clear();
	return size < 0 ? 1 : (uint32_t)size;
}

PyObject *loading_call(struct thread *thread, uint32_t samples, PyObject *original, PyObject *args,
		       PyObject *kwargs)
{
	struct scope_load load;
	/* A thread of a pool in the training's process is no worker. */
	const bool is_worker =
		thread->worker >= 0 && thread->tid == (uint32_t)segment_first()->header.pid;
	PyObject *batch;

	later_load_begin(is_worker);
	begin_load();
	scope_load_begin(thread, &load);
	batch = py.PyObject_Call(original, args, kwargs);
	if (batch || !py.PyErr_ExceptionMatches(*py.stop_iteration))
		scope_load_end(thread, &load, samples, !batch);
	else
		scope_load_cancel(thread, &load);
	/* A worker only loads, so Compose's wrappers stay. Elsewhere they go after each load. */
	if (!is_worker)
		end_load();
	return batch;
}
