/* SPDX-License-Identifier: Apache-2.0 */
#include "python/interpreter/patch.h"

#include "base/note.h"
#include "python/interpreter/wrapper.h"
#include "record/activate.h"

#define POINT_MAX 64

/* Notes wait here, as modules are imported long before this process begins to record. */
static struct noted {
	const char *where, *name;
	bool found;
} noted[POINT_MAX];
static size_t noted_count;

static void report(size_t i)
{
	note_format(noted[i].found ? '+' : '-', "%s.%s", noted[i].where, noted[i].name);
}

void patch_note(const char *where, const char *name, bool found)
{
	if (noted_count == POINT_MAX)
		return;
	noted[noted_count] = (struct noted){where, name, found};
	if (activate_on())
		report(noted_count);
	noted_count++;
}

void patch_report(void)
{
	for (size_t i = 0; i < noted_count; i++)
		report(i);
}

bool patch_method(PyObject *owner, PyMethodDef *method)
{
	OWNED PyObject *original = api_get_named(owner, method->ml_name);
	OWNED PyObject *wrapper = original ? wrapper_make(owner, method, original) : NULL;
	const bool set = wrapper && py.PyObject_SetAttrString(owner, method->ml_name, wrapper) == 0;

	if (!set)
		py.PyErr_Clear();
	return set;
}

void patch_points(PyObject *module, struct patch_point *points, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		OWNED PyObject *class = api_get_named(module, points[i].class);

		patch_note(points[i].where, points[i].method.ml_name,
			   class && patch_method(class, &points[i].method));
	}
}

bool patch_has_method(PyObject *module, const struct patch_point *point)
{
	OWNED PyObject *class = api_get_named(module, point->class);
	OWNED PyObject *found = class ? api_get_named(class, point->method.ml_name) : NULL;

	return found;
}

bool patch_optional(PyObject *module, struct patch_point *point)
{
	if (!patch_has_method(module, point))
		return false;
	patch_points(module, point, 1);
	return true;
}

bool patch_guest_make(struct patch_guest *guest, PyObject *owner, PyMethodDef *method)
{
	guest->name.text = method->ml_name;
	guest->original = api_get_named(owner, method->ml_name);
	guest->wrapper = guest->original ? wrapper_make(owner, method, guest->original) : NULL;
	if (!guest->wrapper || !api_name(&guest->name))
		return false;
	py.Py_IncRef(owner);
	guest->owner = owner;
	return true;
}

static void swap(struct patch_guest *guest, const PyObject *before, PyObject *after)
{
	PyObject *type, *value, *traceback;

	py.PyErr_Fetch(&type, &value, &traceback);
	{
		OWNED PyObject *found = api_get_again(guest->owner, &guest->name);

		if (found == before)
			py.PyObject_SetAttr(guest->owner, guest->name.string, after);
		py.PyErr_Clear();
	}
	py.PyErr_Restore(type, value, traceback);
}

void patch_guest_comes(struct patch_guest *guest)
{
	swap(guest, guest->original, guest->wrapper);
}

void patch_guest_goes(struct patch_guest *guest)
{
	swap(guest, guest->wrapper, guest->original);
}

bool patch_attribute(PyObject *object, PyMethodDef *method)
{
	OWNED PyObject *original = api_get_named(object, method->ml_name);
	OWNED PyObject *function = original ? py.PyCFunction_NewEx(method, original, NULL) : NULL;
	const bool set =
		function && py.PyObject_SetAttrString(object, method->ml_name, function) == 0;

	if (!set)
		py.PyErr_Clear();
	return set;
}
