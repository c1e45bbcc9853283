/* SPDX-License-Identifier: Apache-2.0 */
#include "python/loaders/batch_fn.h"

#include <string.h>

#include "base/config.h"
#include "python/interpreter/patch.h"
#include "python/loaders/loader.h"

static struct {
	char module[CONFIG_BATCH_FN_MAX];
	char where[CONFIG_BATCH_FN_MAX];
	char owner[CONFIG_BATCH_FN_MAX]; /* class, as "Outer.Inner"; "": none */
	char name[CONFIG_BATCH_FN_MAX];
} target;

bool batch_fn_pending HOT_DATA = false;

const char *batch_fn_module(void)
{
	const char *value = config_batch_fn();
	const char *colon, *dot;

	if (!value)
		return NULL;
	colon = strchr(value, ':');
	dot = strrchr(colon, '.');
	memcpy(target.module, value, (size_t)(colon - value));
	if (dot) {
		memcpy(target.where, value, (size_t)(dot - value));
		memcpy(target.owner, colon + 1, (size_t)(dot - colon - 1));
	} else {
		strcpy(target.where, target.module);
	}
	strcpy(target.name, (dot ? dot : colon) + 1);
	if (loader_is_known(target.module, target.owner, target.name))
		return NULL;
	patch_note(target.where, target.name, false);
	batch_fn_pending = strcmp(target.module, "__main__") == 0 && !target.owner[0];
	return target.module;
}

void batch_fn_patch(PyObject *module, size_t row)
{
	OWNED PyObject *owner = api_get_path(module, target.owner);

	if (owner)
		loader_patch_users(owner, target.owner[0] != '\0', target.where, target.name);
}

static bool is_named(PyObject *object, const char *attribute, const char *value)
{
	OWNED PyObject *name = api_get_named(object, attribute);

	return name && api_is_string(name) && py.PyUnicode_CompareWithASCIIString(name, value) == 0;
}

/* Wraps __build_class__, which each class statement calls. */
static PyObject *on_class(PyObject *original, PyObject *args, PyObject *kwargs)
{
	static bool done;
	PyObject *class = py.PyObject_Call(original, args, kwargs);
	OWNED PyObject *builtins = NULL;

	if (!class || done || !is_named(class, "__qualname__", target.owner) ||
	    !is_named(class, "__module__", target.module))
		return class;
	done = true;
	loader_patch_users(class, true, target.where, target.name);
	builtins = py.PyImport_ImportModule("builtins");
	if (builtins)
		py.PyObject_SetAttrString(builtins, "__build_class__", original);
	py.PyErr_Clear();
	return class;
}

void batch_fn_main(void)
{
	static PyMethodDef method = {"__build_class__", on_class, PY_VARARGS_KEYWORDS, NULL};
	static bool done;
	OWNED PyObject *builtins = NULL;

	if (done || strcmp(target.module, "__main__") != 0 || !target.owner[0])
		return;
	done = true;
	builtins = py.PyImport_ImportModule("builtins");
	if (builtins)
		patch_attribute(builtins, &method);
	py.PyErr_Clear();
}

void batch_fn_look(void)
{
	PyObject *module = api_module(target.module);
	OWNED PyObject *function = module ? api_get_named(module, target.name) : NULL;

	if (!function)
		return;
	batch_fn_pending = false;
	loader_patch_users(module, false, target.where, target.name);
}
