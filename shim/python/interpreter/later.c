/* SPDX-License-Identifier: Apache-2.0 */
#include "python/interpreter/later.h"

#include "base/sys.h"
#include "batch/scope.h"
#include "record/activate.h"

static struct later *later;
static size_t later_count;

/* true: there may be modules left to patch, or functions, which only workers patch */
static atomic_bool later_due HOT_DATA = true, functions_due HOT_DATA = true;

void later_ready(struct later *modules, size_t count)
{
	later = modules;
	later_count = count;
}

bool later_is_importing(PyObject *module)
{
	OWNED PyObject *spec = api_get_named(module, "__spec__");

	return spec && api_get_flag(spec, "_initializing", false);
}

/* Returns the module (borrowed) or NULL. As long as `implied` is being imported, returns that. */
static PyObject *find_module(PyObject *modules, const struct later *wanted)
{
	PyObject *module = py.PyDict_GetItemString(modules, wanted->module);

	if (module || !wanted->implied)
		return module;
	module = py.PyDict_GetItemString(modules, wanted->implied);
	if (!module || later_is_importing(module))
		return module;
	module = py.PyImport_ImportModule(wanted->module);
	if (module)
		py.Py_DecRef(module);	/* sys.modules keeps it alive */
	else
		api_clear_run();
	return module;
}

/* Returns sys.modules. Loads call this, as PySys_GetObject() would make a string each time. */
static PyObject *modules_of_main(void)
{
	static struct api_name name = {"modules", NULL};
	static PyObject *system; /* sys.__dict__ */
	PyObject *string = api_main_interpreter() ? api_name(&name) : NULL;

	if (!string)
		return NULL;
	if (unlikely(!system))
		system = api_get_path(api_module("sys"), "__dict__");
	return system ? py.PyDict_GetItemWithError(system, string) : NULL;
}

static void look(PyObject *modules, bool functions)
{
	bool missed = false;

	atomic_store(&later_due, false);
	atomic_store(&functions_due, !functions);
	for (size_t i = 0; i < later_count; i++) {
		PyObject *module;

		if (atomic_load(&later[i].done))
			continue;
		module = find_module(modules, &later[i]);
		if (!module)
			continue;
		if (later[i].is_function && !functions) {
			missed = true;
			continue;
		}
		if (later_is_importing(module)) {
			atomic_store(&later_due, true);
			continue;
		}
		atomic_store(&later[i].done, true);
		py.Py_IncRef(module);
		later[i].patch(module, later[i].row);
		py.Py_DecRef(module);
	}
	scope_decoders_missed(missed);
}

void later_load_begin(bool functions)
{
	static _Atomic ssize_t known_count;
	PyObject *modules = modules_of_main();
	ssize_t count = modules ? py.PyDict_Size(modules) : 0;

	if (count < 0)	/* sys.modules was replaced by another mapping */
		py.PyErr_Clear();
	/* Some imports raise no audit event, but change the number of modules. */
	if (!modules ||
	    likely(!atomic_load(&later_due) && !(functions && atomic_load(&functions_due)) &&
		   count == atomic_load(&known_count)))
		return;
	atomic_store(&known_count, count);
	look(modules, functions);
}

OFTEN void later_opened(void)
{
	PyObject *modules = unlikely(atomic_load(&later_due)) ? modules_of_main() : NULL;

	if (modules)
		look(modules, false);
}

/* Returns true if module `name` has functions to patch, and is not patched yet. */
static bool is_awaited(PyObject *name)
{
	for (size_t i = 0; i < later_count; i++)
		if (!atomic_load(&later[i].done) &&
		    py.PyUnicode_CompareWithASCIIString(name, later[i].module) == 0)
			return true;
	return false;
}

void later_import(PyObject *name)
{
	atomic_store_explicit(&later_due, true, memory_order_relaxed);
	if (unlikely(activate_on()) && is_awaited(name))
		scope_decoders_missed(true);
}
