/* SPDX-License-Identifier: Apache-2.0 */
#include "python/patch.h"

#include "base/note.h"
#include "base/text.h"
#include "record/activate.h"

#define POINT_MAX 64

/* Modules are patched when imported, long before the process begins to record. */
static struct {
	const char *where;
	const char *name;
	bool found;
} points[POINT_MAX];
static size_t point_count;

static void report(size_t i)
{
	TEXT(line, 160);

	text_add(&line, points[i].where);
	text_add(&line, ".");
	text_add(&line, points[i].name);
	note_add(points[i].found ? '+' : '-', line.buffer);
}

void patch_note(const char *where, const char *name, bool found)
{
	if (point_count == POINT_MAX)
		return;
	points[point_count].where = where;
	points[point_count].name = name;
	points[point_count].found = found;
	if (activate_on())
		report(point_count);
	point_count++;
}

void patch_report(void)
{
	for (size_t i = 0; i < point_count; i++)
		report(i);
}

static bool set_wrapper(PyObject *owner, PyMethodDef *method, bool bind)
{
	OWNED PyObject *original = api_get_named(owner, method->ml_name);
	OWNED PyObject *function =
		original ? py.PyCFunction_NewEx(method, original, NULL) : NULL;
	OWNED PyObject *bound = function && bind ? py.PyInstanceMethod_New(function) : NULL;
	PyObject *wrapper = bind ? bound : function;
	bool set = wrapper && py.PyObject_SetAttrString(owner, method->ml_name, wrapper) == 0;

	if (!set)
		py.PyErr_Clear();
	return set;
}

bool patch_method(PyObject *owner, const char *where, PyMethodDef *method)
{
	bool set = owner && set_wrapper(owner, method, true);

	patch_note(where, method->ml_name, set);
	return set;
}

bool patch_class(PyObject *owner, PyMethodDef *method)
{
	return set_wrapper(owner, method, true);
}

bool patch_attribute(PyObject *object, PyMethodDef *method)
{
	return set_wrapper(object, method, false);
}

bool patch_function(PyObject *module, const char *name, PyMethodDef *method, PyObject **original)
{
	OWNED PyObject *string = NULL, *function = NULL;
	bool set = false;

	*original = api_get_named(module, method->ml_name);
	if (!*original)
		return false;
	string = py.PyUnicode_FromString(name);
	if (string)
		function = py.PyCFunction_NewEx(method, NULL, string);
	if (function)
		set = py.PyObject_SetAttrString(module, method->ml_name, function) == 0;
	py.PyErr_Clear();
	return set;
}
