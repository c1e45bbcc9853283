/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch/made.h"

#include "base/clock.h"

#define FIRST_MOST   2
#define EVERY	     16
#define DEPTH_MOST   6
#define TENSORS_MOST 4096
#define OBJECTS_MOST 16384 /* at most so many objects are looked at, which takes 0.5 ms */

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
	PyObject *module;

	if (known->class)
		return known->class;
	module = api_module(known->module);
	py.PyErr_Clear();
	known->class = module ? api_get_named(module, known->name) : NULL;
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
	/* Not of a subclass, which may run any Python code. */
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

void made_look(struct thread *thread, PyObject *batch)
{
	const uint32_t number = thread->fetch_count++;
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_MADE,
		.worker = thread->worker,
		.stream = thread->stream,
		.generation = thread->generation,
		.task = thread->task,
	};
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
