/* SPDX-License-Identifier: Apache-2.0 */
#include "python/interpreter/importing.h"

#include <stdint.h>

#include "python/interpreter/patch.h"
#include "record/thread.h"

static PyObject *on_find_and_load(PyObject *original, PyObject *args, PyObject *kwargs)
{
	struct thread *thread = thread_self;
	const uint32_t life = thread_life;
	PyObject *module;

	if (!thread || thread->life != life)
		return py.PyObject_Call(original, args, kwargs);
	thread->import_depth++;
	module = py.PyObject_Call(original, args, kwargs);
	if (thread_is_in_life(life)) /* false in a child that was forked in the call */
		thread->import_depth--;
	return module;
}

void importing_patch(PyObject *module, size_t row)
{
	static PyMethodDef method = {"_find_and_load", on_find_and_load, PY_VARARGS_KEYWORDS,
				     "_find_and_load($self, /, *args, **kwargs)\n--\n\n"};

	patch_attribute(module, &method);
}
