/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.c - patches loaders' modules at the moment they are imported, unnoticed by Python code.
 *
 * Python raises an audit event before it takes a module's lock and imports the module. So the hook
 * imports a target itself, and patches it. Targets that are imported without an event are patched
 * at the next import, or before a fork.
 */
#include "python/audit.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/note.h"
#include "base/sys.h"
#include "base/text.h"
#include "dlprof/units.h"
#include "python/interpreter/api.h"
#include "python/interpreter/later.h"
#include "python/interpreter/patch.h"
#include "python/loaders/gluon.h"
#include "python/loaders/loader.h"
#include "python/loaders/paddle.h"
#include "python/sample/boundary.h"
#include "python/sample/steps.h"
#include "python/torch/handover.h"
#include "python/torch/torch.h"
#include "python/torch/training.h"
#include "record/thread.h"

/* Notes that a thread imports a module: what it decodes meanwhile is no data. */
static PyObject *on_find_and_load(PyObject *original, PyObject *args, PyObject *kwargs)
{
	struct thread *thread = thread_known();
	const uint32_t life = thread_life;
	PyObject *module;

	if (!thread)
		return py.PyObject_Call(original, args, kwargs);
	thread->import_depth++;
	module = py.PyObject_Call(original, args, kwargs);
	if (thread_is_in_life(life)) /* false in a child that was forked in the call */
		thread->import_depth--;
	return module;
}

static void importing_patch(PyObject *module, size_t row)
{
	static PyMethodDef method = {"_find_and_load", on_find_and_load, PY_VARARGS_KEYWORDS,
				     "_find_and_load($self, /, *args, **kwargs)\n--\n\n"};

	patch_attribute(module, &method);
}

typedef int (*audit_function)(const char *event, PyObject *args, void *data);

extern int PySys_AddAuditHook(audit_function hook, void *data) __attribute__((weak));

/* A function that only free-threaded builds of CPython (3.13t) have. */
extern int PyUnstable_Module_SetGIL(PyObject *module, void *gil) __attribute__((weak));

/* Returns false in a Python without a GIL. Nothing is patched there: the GIL guards our tables. */
static bool is_locked(void)
{
	return !PyUnstable_Module_SetGIL;
}

static struct target {
	const char *module;
	void (*patch)(PyObject *module, size_t row);
	size_t row;
	atomic_bool seen;	/* a module of this package was or is being imported */
	atomic_bool done; /* set before the nested import, so that the hook does not recurse */
} targets[] = {
#define TARGET(name, function, row) {name, function, row, false, false},
#include "python/targets.def"
#undef TARGET
#define POINT(id, module, ...) {module, training_patch, TRAINING_##id, false, false},
#include "python/torch/training.def"
#define LOADER(id, kind, module, ...) {module, loader_patch, LOADER_##id, false, false},
#include "python/loaders/loaders.def"
#undef LOADER
	/* The loader of DLPROF_BATCH_FN; its module is set later. */
	{.patch = loader_users_patch},
};

#define TARGET_COUNT ARRAY_COUNT(targets)

static uint32_t initials;	/* bits: first letters of the targets' packages */
static atomic_bool seen;

static int start_cores; /* size of the CPU mask before the first import of a target's package */

static const char *seen_package;
static int32_t seen_pid;

static void note_seen(const struct target *target)
{
	/* Do not note a module that only serves loaders, or the user's (the last target). */
	if (target->patch != descriptor_patch && target != &targets[TARGET_COUNT - 1] &&
	    !seen_package) {
		seen_package = target->module;
		seen_pid = sys_getpid();
	}
}

static void patch(const struct target *target, PyObject *module)
{
	note_seen(target);
	target->patch(module, target->row);
}

const char *audit_seen(void)
{
	static char package[32];
	struct text text;

	if (!seen_package || seen_pid != sys_getpid())
		return NULL;
	text_init(&text, package, sizeof(package));
	text_add_bytes(&text, seen_package, strcspn(seen_package, "."));
	return package;
}

/* Patches targets in sys.modules. PyImport_GetModuleDict() would abort when Python ends. */
static RARELY void sweep(void)
{
	PyObject *modules = py.PySys_GetObject("modules");

	for (size_t i = 0; modules && i < TARGET_COUNT; i++) {
		PyObject *module;

		if (!atomic_load(&targets[i].seen) || atomic_load(&targets[i].done))
			continue;
		module = py.PyDict_GetItemString(modules, targets[i].module);
		if (!module || later_is_importing(module) ||
		    atomic_exchange(&targets[i].done, true))
			continue;
		py.Py_IncRef(module);
		patch(&targets[i], module);
		py.Py_DecRef(module);
	}
}

static struct later later[] = {
#define BOUNDARY(id, module, implied, class, ...)                                                  \
	{module, implied, boundary_patch, BOUNDARY_##id, (class) == NULL, false},
#include "python/sample/boundary.def"
#define STEPS(id, module, ...) {module, NULL, steps_patch, STEPS_##id, false, false},
#include "python/sample/steps.def"
	{"_frozen_importlib", NULL, importing_patch, 0, false, false},
};

static int import_target(struct target *target)
{
	PyObject *module;

	if (!is_locked()) {
		note_seen(target);
		return 0;
	}
	if (atomic_exchange(&target->done, true))
		return 0;
	module = py.PyImport_ImportModule(target->module);
	if (!module) {
		/* The import's exception goes to the program. A later import patches the module. */
		atomic_store(&target->done, false);
		return -1;
	}
	patch(target, module);
	py.Py_DecRef(module);
	sweep();
	return 0;
}

static uint32_t initial(const char *name)
{
	unsigned char c = (unsigned char)name[0] | 0x20;

	return c >= 'a' && c <= 'z' ? 1u << (c - 'a') : 0;
}

static int count_cores(void)
{
	unsigned long mask[1024 / sizeof(long)];
	long size = sys_call3(SYS_sched_getaffinity, 0, sizeof(mask), mask);
	int count = 0;

	for (long i = 0; i < size / (long)sizeof(*mask); i++)
		count += __builtin_popcountl(mask[i]);
	return count;
}

static bool note_package(const char *name)
{
	size_t length;

	if (!(initials & initial(name)))
		return atomic_load(&seen);
	length = strcspn(name, ".");
	for (size_t i = 0; i < TARGET_COUNT; i++)
		if (targets[i].module && !atomic_load(&targets[i].seen) &&
		    strncmp(targets[i].module, name, length) == 0 &&
		    (targets[i].module[length] == '.' || !targets[i].module[length])) {
			if (!start_cores)
				start_cores = count_cores();
			atomic_store(&targets[i].seen, true);
			atomic_store(&seen, true);
		}
	return atomic_load(&seen);
}

static RARELY int on_import(PyObject *args)
{
	PyObject *name = py.PyTuple_GetItem(args, 0);
	const char *text;

	if (!name) {
		py.PyErr_Clear();
		return 0;
	}
	if (!api_is_string(name))	/* any code may raise an event of this name */
		return 0;
	later_import(name);
	text = py.PyUnicode_AsUTF8(name);
	if (!text)
		py.PyErr_Clear();
	if (!text || !note_package(text) || !api_main_interpreter())
		return 0;
	for (size_t i = 0; i < TARGET_COUNT; i++)
		if (atomic_load(&targets[i].seen) && !atomic_load(&targets[i].done) &&
		    strcmp(text, targets[i].module) == 0)
			return import_target(&targets[i]);
	if (is_locked())
		sweep();
	return 0;
}

/*
 * With `-X dev`, Python changes to a debug allocator after the hook was added. The hook's entry
 * comes from the first allocator, and the debug allocator would abort the program when it frees the
 * entry. So this allocator frees all but the entry.
 */
static struct {
	struct py_allocator boot;
	struct py_allocator later;
	void *entry;
} guard;

static void *guard_malloc(void *context, size_t size)
{
	guard.entry = guard.boot.malloc(guard.boot.context, size);
	return guard.entry;
}

static void guard_free(void *context, void *address)
{
	if (address != guard.entry)
		guard.later.free(context, address);
}

static RARELY void guard_entry(void)
{
	struct py_allocator wrapped;

	py.PyMem_GetAllocator(PY_ALLOCATOR_RAW, &guard.later);
	if (guard.later.free == guard.boot.free || guard.later.free == guard_free)
		return;
	wrapped = guard.later;
	wrapped.free = guard_free;
	py.PyMem_SetAllocator(PY_ALLOCATOR_RAW, &wrapped);
}

static OFTEN int on_event(const char *event, PyObject *args, void *data)
{
	if (unlikely(loader_users_pending) && api_main_interpreter())
		loader_users_look();
	switch (event[0]) {
	case 'i':
		if (strcmp(event, "import") == 0)
			return on_import(args);
		break;
	case 'o':
		if (event[1] == 's' && atomic_load(&seen) && is_locked() &&
		    strcmp(event, "os.fork") == 0 && api_main_interpreter())
			sweep();
		break;
	case 'c':
		if (strcmp(event, "cpython._PySys_ClearAuditHooks") == 0)
			guard_entry();
		else if (strncmp(event, "cpython.run_", 12) == 0)
			loader_users_main();
		break;
	}
	return 0;
}

/* Notes if an import bound the process to fewer cores, which workers then inherit. */
static void report_cores(void)
{
	const int cores = count_cores();

	if (cores && cores < start_cores)
		note_format('m', "cores_at_start %d", start_cores);
}

void audit_report(void)
{
	report_cores();
	if (PySys_AddAuditHook && !is_locked())
		note_add('w',
			     "this Python runs without a global lock, where dlprof follows no "
			     "loader, only what dlprof.h marks");
}

void audit_install(void)
{
	struct py_allocator catching;

	if (!PySys_AddAuditHook || !api_resolve())
		return;
	targets[TARGET_COUNT - 1].module = is_locked() ? loader_users_module() : NULL;
	atomic_store(&targets[TARGET_COUNT - 1].seen, targets[TARGET_COUNT - 1].module != NULL);
	atomic_store(&seen, targets[TARGET_COUNT - 1].module != NULL);
	for (size_t i = 0; i < TARGET_COUNT; i++)
		initials |= targets[i].module ? initial(targets[i].module) : 0;
	py.PyMem_GetAllocator(PY_ALLOCATOR_RAW, &guard.boot);
	catching = guard.boot;
	catching.malloc = guard_malloc;
	py.PyMem_SetAllocator(PY_ALLOCATOR_RAW, &catching);
	later_ready(later, ARRAY_COUNT(later));
	PySys_AddAuditHook(on_event, NULL);
	py.PyMem_SetAllocator(PY_ALLOCATOR_RAW, &guard.boot);
}
