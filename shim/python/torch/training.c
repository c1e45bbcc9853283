/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch/training.h"

#include "base/sys.h"
#include "batch/taker.h"
#include "batch/training.h"
#include "python/interpreter/patch.h"
#include "python/interpreter/wrapper.h"
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

struct point {
	const char *module;
	enum dlprof_part part;
	PyMethodDef method;
};

static PyObject *on_part(PyObject *original, PyObject *args, PyObject *kwargs,
			 const PyMethodDef *method)
{
	return call_part(WRAPPER_ROW(method, struct point, method)->part, original, args, kwargs);
}

static struct point points[] = {
#define POINT(id, module, function, part)                                                          \
	{module, DLPROF_PART_##part, WRAPPER_METHOD(function, on_part)},
#include "python/torch/training.def"
};

static py_fast backward_call;

/* Does what call_part() does without tuple and dict, which would touch many more cache lines. */
static OFTEN PyObject *on_fast_backward(PyObject *function, PyObject *const *args, size_t count,
					PyObject *names)
{
	struct training_call call;
	PyObject *result;

	if (unlikely(!activate_on()))
		return backward_call(function, args, count, names);
	taker_trains();
	training_call_begin(&call, DLPROF_PART_BACKWARD);
	result = backward_call(function, args, count, names);
	training_call_end(&call);
	return result;
}

/* Makes calls of a Python function run on_fast_backward(). False: this CPython cannot do that. */
static bool enter_backward(PyObject *module, const char *name)
{
	OWNED PyObject *function = py.PyVectorcall_Function ? api_get_named(module, name) : NULL;
	OWNED PyObject *type = function ? py.PyObject_Type(function) : NULL;

	if (!function || type != py.function_type || backward_call)
		return false;
	backward_call = py.PyVectorcall_Function(function);
	py.PyFunction_SetVectorcall(function, on_fast_backward);
	return true;
}

/* Patches a point, if the module has it: versions of PyTorch save by different functions. */
void training_patch(PyObject *module, size_t row)
{
	const char *name = points[row].method.ml_name;

	if ((row == TRAINING_backward && enter_backward(module, name)) ||
	    patch_method(module, &points[row].method))
		patch_note(points[row].module, name, true);
}

/* Wraps the closure that step() gets, which runs the forward and the backward pass. */
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

/* Wraps the closure among a step()'s arguments. Returns new (args, kwargs); NULL: as before. */
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
	/* A call's keywords belong to that call alone, so they can be changed in place. */
	py.PyDict_SetItemString(kwargs, "closure", wrapped);
	return NULL;
}

/* Called by both hooks, with the optimizer and its step()'s arguments (a tuple and a dict). */
static OFTEN PyObject *on_step(PyObject *hook, PyObject *const *args, size_t count, PyObject *names)
{
	PyObject *changed = NULL;

	taker_trains();
	if (training_optimizer_begin() && (count & ~PY_COUNT_FLAG) == 3 &&
	    unlikely(py.PyDict_Size(args[2]) || py.PyTuple_Size(args[1]) != 1)) {
		changed = with_closure(args[1], args[2]);
		py.PyErr_Clear();
	}
	if (!changed)
		py.Py_IncRef(changed = py.none);
	return changed;
}

static OFTEN PyObject *on_stepped(PyObject *hook, PyObject *const *args, size_t count,
				  PyObject *names)
{
	training_optimizer_end();
	py.Py_IncRef(py.none);
	return py.none;
}

/* torch.compile refuses a C function as a hook, so the hooks are Python functions. */
static const char hooks_text[] = "def begins(optimizer, args, kwargs):\n"
				 " if not compiles():\n"
				 "  return begin(optimizer, args, kwargs)\n"
				 "def ends(optimizer, args, kwargs):\n"
				 " if not compiles():\n"
				 "  return end(optimizer, args, kwargs)\n";

static PyObject *hook_names; /* globals of the hooks; NULL: they are not made yet */
static PyObject *compiles;   /* torch.compiler's function that says if it compiles, or NULL */

/* Gives the hooks the function that says if they are compiled; an older one would warn. */
void training_patch_compiler(PyObject *module, size_t row)
{
	compiles = api_get_named(module, "is_dynamo_compiling");
	if (compiles && hook_names)
		py.PyDict_SetItemString(hook_names, "compiles", compiles);
	py.PyErr_Clear();
}

/* Makes the hooks' globals. Without torch.compiler, torch._utils says if torch compiles. */
static PyObject *make_names(void)
{
	static PyMethodDef begin = {"begin", (py_wrapper)(void (*)(void))on_step,
				    PY_FAST_KEYWORDS, NULL};
	static PyMethodDef end = {"end", (py_wrapper)(void (*)(void))on_stepped, PY_FAST_KEYWORDS,
				  NULL};
	OWNED PyObject *builtins = py.PyImport_ImportModule("builtins"), *names = py.PyDict_New();
	OWNED PyObject *run = builtins ? api_get_named(builtins, "exec") : NULL;
	OWNED PyObject *older = api_get_path(api_module("torch._utils"), "is_compiling");
	OWNED PyObject *on_begin = py.PyCFunction_NewEx(&begin, NULL, NULL);
	OWNED PyObject *on_end = py.PyCFunction_NewEx(&end, NULL, NULL), *done = NULL;
	OWNED PyObject *source = py.PyUnicode_FromString(hooks_text);
	PyObject *tells = older ? older : py.bool_type; /* bool() is False */

	if (run && names && on_begin && on_end && source &&
	    py.PyDict_SetItemString(names, "begin", on_begin) == 0 &&
	    py.PyDict_SetItemString(names, "end", on_end) == 0 &&
	    py.PyDict_SetItemString(names, "compiles", compiles ? compiles : tells) == 0)
		done = py.PyObject_CallFunctionObjArgs(run, source, names, NULL);
	return done ? api_take(&names) : NULL;
}

static bool add_hook(PyObject *module, const char *adder, const char *name, py_fast call)
{
	PyObject *hook = hook_names ? py.PyDict_GetItemString(hook_names, name) : NULL;
	OWNED PyObject *add = api_get_named(module, adder);
	OWNED PyObject *handle =
		hook && add ? py.PyObject_CallFunctionObjArgs(add, hook, NULL) : NULL;

	if (handle && py.PyFunction_SetVectorcall)
		py.PyFunction_SetVectorcall(hook, call);
	return handle;
}

void training_patch_optimizer(PyObject *module, size_t row)
{
	hook_names = make_names();
	if (add_hook(module, "register_optimizer_step_post_hook", "ends", on_stepped) &&
	    add_hook(module, "register_optimizer_step_pre_hook", "begins", on_step))
		patch_note("torch.optim.optimizer", "register_optimizer_step_pre_hook", true);
	api_clear_run();
}

/* Wraps the class of which torch.compile makes an object for each optimizer that it compiles. */
static PyObject *on_compiled(PyObject *original, PyObject *args, PyObject *kwargs)
{
	training_optimizer_compiled();
	return py.PyObject_Call(original, args, kwargs);
}

void training_patch_dynamo(PyObject *module, size_t row)
{
	static struct patch_point made = PATCH_POINT("torch._dynamo.variables.optimizer",
						     "OptimizerVariable", "__init__", on_compiled);

	patch_optional(module, &made);
}
