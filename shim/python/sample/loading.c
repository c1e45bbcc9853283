/* SPDX-License-Identifier: Apache-2.0 */
#include "python/sample/loading.h"

#include "batch/scope.h"
#include "python/interpreter/later.h"
#include "python/sample/steps.h"
#include "record/activate.h"
#include "record/segment.h"
#include "record/span.h"

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
	steps_load_begin();
	scope_load_begin(thread, &load);
	batch = py.PyObject_Call(original, args, kwargs);
	if (batch || !py.PyErr_ExceptionMatches(*py.stop_iteration))
		scope_load_end(thread, &load, samples, !batch);
	else
		scope_load_cancel(thread, &load);
	/* A worker only loads, so Compose's wrappers stay. Elsewhere they go after each load. */
	if (!is_worker)
		steps_load_end();
	return batch;
}
