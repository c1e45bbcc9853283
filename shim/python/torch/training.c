/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch/training.h"

#include "base/sys.h"
#include "batch/taker.h"
#include "batch/training.h"
#include "dlprof/units.h"
#include "python/interpreter/patch.h"
#include "record/activate.h"

static OFTEN PyObject *call_part(enum dlprof_part part, PyObject *original, PyObject *args,
				 PyObject *kwargs)
{
	struct training_call call;
	PyObject *result;

	if (likely(!activate_on()))
		return py.PyObject_Call(original, args, kwargs);
	if (part == DLPROF_PART_BACKWARD)
		taker_trains();
	training_call_begin(&call, part);
	result = py.PyObject_Call(original, args, kwargs);
	training_call_end(&call);
	return result;
}

#define POINT(id, module, function, part)                                                          \
	static PyObject *on_##id(PyObject *original, PyObject *args, PyObject *kwargs)             \
	{                                                                                          \
		return call_part(DLPROF_PART_##part, original, args, kwargs);                      \
	}
#include "python/torch/training.def"
#undef POINT

static struct {
	const char *module;
	PyMethodDef method;
} points[] = {
#define POINT(id, module, function, part)                                                          \
	{module, {function, on_##id, PY_VARARGS_KEYWORDS, NULL}},
#include "python/torch/training.def"
#undef POINT
};

/* Patches a point, if the module has it: versions of PyTorch save by different functions. */
void training_patch(PyObject *module, size_t row)
{
	if (patch_method(module, &points[row].method))
		patch_note(points[row].module, points[row].method.ml_name, true);
}

/* A closure runs the forward and the backward pass. */
static PyObject *on_closure(PyObject *original, PyObject *args, PyObject *kwargs)
{
	return call_part(DLPROF_PART_MAX, original, args, kwargs);
}

static PyMethodDef closure_method = {"closure", on_closure, PY_VARARGS_KEYWORDS,
				     "closure()\n--\n\n"};

static PyObject *wrap_closure(PyObject *closure)
{
	static const char *const known[] = {
		"function", "method", "builtin_function_or_method", "partial", NULL,
	};

	if (!closure || !api_is_of_type(closure, known))
		return NULL;
	return py.PyCFunction_NewEx(&closure_method, closure, NULL);
}

/* Returns new (args, kwargs), or NULL to use the old ones. */
static PyObject *with_closure(PyObject *args, PyObject *kwargs)
{
	const bool is_first = py.PyTuple_Size(args) > 1;
	OWNED PyObject *wrapped =
		wrap_closure(is_first ? py.PyTuple_GetItem(args, 1)
				      : api_argument(args, kwargs, -1, "closure"));
	OWNED PyObject *replaced = NULL;

	if (!wrapped)
		return NULL;
	if (is_first) {
		replaced = api_slice(args, 0);
		if (replaced && py.PyTuple_SetItem(replaced, 1, api_take(&wrapped)) < 0)
			return NULL;
		return replaced ? py.PyTuple_Pack(2, replaced, kwargs) : NULL;
	}
	/* Nobody else has a call's keywords, so they are changed in place. */
	py.PyDict_SetItemString(kwargs, "closure", wrapped);
	return NULL;
}

static OFTEN PyObject *on_step(PyObject *none, PyObject *args, PyObject *kwargs)
{
	PyObject *changed = NULL, *step_args, *step_kwargs;

	taker_trains();
	training_sees_optimizers = true;
	if (training_optimizer_begin()) {
		step_args = py.PyTuple_GetItem(args, 1);
		step_kwargs = py.PyTuple_GetItem(args, 2);
		if (step_args && step_kwargs)
			changed = with_closure(step_args, step_kwargs);
		py.PyErr_Clear();
	}
	if (!changed)
		py.Py_IncRef(changed = py.none);
	return changed;
}

static OFTEN PyObject *on_stepped(PyObject *none, PyObject *args, PyObject *kwargs)
{
	training_optimizer_end();
	py.Py_IncRef(py.none);
	return py.none;
}

/* torch.compile refuses C functions in a hook. In 2.0 and 2.1 only torch._utils tells of it. */
static PyObject *make_hook(PyMethodDef *method)
{
	static const char text[] =
		"import torch\n"
		"def hook(optimizer, args, kwargs):\n"
		" compiles = getattr(getattr(torch, 'compiler', None), 'is_compiling', None)\n"
		" if compiles is None:\n"
		"  compiles = getattr(torch._utils, 'is_compiling', None)\n"
		" if compiles is None or not compiles():\n"
		"  return call(optimizer, args, kwargs)\n";
	OWNED PyObject *builtins = py.PyImport_ImportModule("builtins"), *names = py.PyDict_New();
	OWNED PyObject *run = builtins ? api_get_named(builtins, "exec") : NULL;
	OWNED PyObject *call = py.PyCFunction_NewEx(method, NULL, NULL), *args = NULL, *done = NULL;
	OWNED PyObject *source = py.PyUnicode_FromString(text);
	PyObject *hook = NULL;

	if (run && call && names && source && py.PyDict_SetItemString(names, "call", call) == 0)
		args = py.PyTuple_Pack(2, source, names);
	if (args)
		done = py.PyObject_CallObject(run, args);
	if (done)
		hook = py.PyDict_GetItemString(names, "hook");
	if (hook)
		py.Py_IncRef(hook);
	return hook;
}

static bool add_hook(PyObject *module, const char *name, PyMethodDef *method)
{
	OWNED PyObject *add = api_get_named(module, name);
	OWNED PyObject *hook = add ? make_hook(method) : NULL;
	OWNED PyObject *args = hook ? py.PyTuple_Pack(1, hook) : NULL;
	OWNED PyObject *handle = args ? py.PyObject_CallObject(add, args) : NULL;

	api_clear_run();
	return handle;
}

void training_patch_optimizer(PyObject *module, size_t row)
{
	static PyMethodDef begins = {"dlprof_step_begins", on_step, PY_VARARGS_KEYWORDS,
				     "dlprof_step_begins(optimizer, args, kwargs)\n--\n\n"};
	static PyMethodDef ends = {"dlprof_step_ends", on_stepped, PY_VARARGS_KEYWORDS,
				   "dlprof_step_ends(optimizer, args, kwargs)\n--\n\n"};

	if (add_hook(module, "register_optimizer_step_post_hook", &ends) &&
	    add_hook(module, "register_optimizer_step_pre_hook", &begins))
		patch_note("torch.optim.optimizer", "register_optimizer_step_pre_hook", true);
}
