/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch/torch_set.h"

#include <stdint.h>

#include "base/config.h"
#include "base/note.h"
#include "base/text.h"
#include "dlprof/units.h"
#include "python/torch/identity.h"
#include "slots/module.h"

#define POOLS_MOST 32

static const struct {
	const char *module, *get, *set;
} modules[] = {
	{"torch", "get_num_threads", "set_num_threads"},
	{"cv2", "getNumThreads", "setNumThreads"},
};

/* Functions that Python cannot call. OpenBLAS has other names for its own in NumPy's wheels. */
static const struct {
	const char *get, *set;
} functions[] = {
	{"openblas_get_num_threads", "openblas_set_num_threads"},
	{"openblas_get_num_threads64_", "openblas_set_num_threads64_"},
	{"scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"},
	{"scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"},
	{"MKL_Get_Max_Threads", "MKL_Set_Num_Threads"},
	{"omp_get_max_threads", "omp_set_num_threads"},
};

struct pools {
	struct pool {
		int (*get)(void);
		void (*set)(int count);
	} at[POOLS_MOST];
	size_t count;
};

static int find(struct dl_phdr_info *info, size_t size, void *context)
{
	struct pools *pools = context;
	struct elf_module elf;

	if (elf_open(&elf, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0)
		return 0;
	for (size_t i = 0; i < ARRAY_COUNT(functions) && pools->count < POOLS_MOST; i++) {
		const char *get = functions[i].get, *set = functions[i].set;
		struct pool pool = {elf_function(&elf, get, elf_hash(get)),
				    elf_function(&elf, set, elf_hash(set))};

		if (pool.get && pool.set)
			pools->at[pools->count++] = pool;
	}
	return 0;
}

static int32_t set_module(size_t i, int32_t wanted)
{
	PyObject *module = api_module(modules[i].module);
	OWNED PyObject *get = NULL, *set = NULL, *before = NULL, *value = NULL, *result = NULL;
	int32_t count;

	py.PyErr_Clear();
	get = api_get_path(module, modules[i].get);
	set = api_get_path(module, modules[i].set);
	before = get ? py.PyObject_CallObject(get, NULL) : NULL;
	count = before ? (int32_t)api_number(before, 0) : 0;
	value = set ? py.PyLong_FromLongLong(wanted) : NULL;
	result = value ? py.PyObject_CallFunctionObjArgs(set, value, NULL) : NULL;
	py.PyErr_Clear();
	return result ? count : 0;
}

/* Sets all libraries' numbers of threads. Returns the largest one replaced; `wanted`: none was. */
static int32_t torch_threads_set(int32_t wanted)
{
	struct pools pools = {.count = 0};
	int32_t most = 0;

	/* Call the functions after the walk, during which ld.so is locked. */
	module_walk(find, &pools);
	for (size_t i = 0; i < pools.count; i++) {
		int32_t count = pools.at[i].get();

		if (count == wanted)
			continue;
		most = count > most ? count : most;
		pools.at[i].set(wanted);
	}
	for (size_t i = 0; i < ARRAY_COUNT(modules); i++) {
		int32_t count = set_module(i, wanted);

		if (count != wanted)
			most = count > most ? count : most;
	}
	return most ? most : wanted;
}

#define PREFETCH 2	/* PyTorch's default prefetch_factor with workers */
#define LOADS    2	/* threads are set before a worker's first and second load */

int torch_set_loads;

struct setting {
	PyObject *loader, *fields; /* fields: the loader's __dict__, since __setattr__ may refuse */
	const char *place;
	struct text *note;
};

static const char *word(enum dlprof_set key, int64_t value, char *buffer, size_t size)
{
	const char *words = dlprof_set_rows[key].words;
	struct text text;

	text_init(&text, buffer, size);
	if (!*words) {
		text_add_number(&text, value);
		return buffer;
	}
	for (; value > 0 && strchr(words, '|'); value--)
		words = strchr(words, '|') + 1;
	text_add_bytes(&text, words, strcspn(words, "|"));
	return buffer;
}

/* Notes what was set. `before` < 0: the loader had no value before. */
static void tell(const struct setting *setting, enum dlprof_set key, int64_t before, int64_t after)
{
	char words[2][32];

	if (before == after)
		return;
	text_format(setting->note, "%s%s %s -> %s", setting->note->length ? ", " : "",
		    dlprof_set_rows[key].key,
		    before < 0 ? "none" : word(key, before, words[0], sizeof(words[0])),
		    after < 0 ? "none" : word(key, after, words[1], sizeof(words[1])));
}

static void put(const struct setting *setting, const char *name, PyObject *value)
{
	OWNED PyObject *owned = value;

	if (!value || py.PyDict_SetItemString(setting->fields, name, value) < 0)
		py.PyErr_Clear();
}

static PyObject *none(void)
{
	py.Py_IncRef(py.none);
	return py.none;
}

static bool has_field(const struct setting *setting, const char *name)
{
	return py.PyDict_GetItemString(setting->fields, name) != NULL;
}

/* Notes, once for each loader, why a setting is not made. Returns -1, which means no setting. */
static int32_t refuse(const struct setting *setting, enum dlprof_set key, const char *why)
{
	TEXT(refused, 48);

	text_format(&refused, "_dlprof_no_%s", dlprof_set_rows[key].key);
	if (!has_field(setting, refused.buffer))
		note_format('w', "%s was not set at %s: %s", dlprof_set_rows[key].key,
			    setting->place ? setting->place : "a loader", why);
	put(setting, refused.buffer, py.PyBool_FromLong(1));
	return -1;
}

static int64_t prefetch_of(PyObject *loader)
{
	return api_get_number(loader, "prefetch_factor", -1);
}

/* Sets and returns the number of workers. If it is 0, removes settings that need workers. */
static int64_t set_workers(const struct setting *setting, int64_t wanted)
{
	const int64_t before = api_get_number(setting->loader, "num_workers", 0);

	if (wanted < 0)
		return before;
	tell(setting, DLPROF_SET_WORKERS, before, wanted);
	put(setting, "num_workers", py.PyLong_FromLongLong(wanted));
	if (wanted == 0) {
		put(setting, "prefetch_factor", none());
		put(setting, "persistent_workers", py.PyBool_FromLong(0));
		put(setting, "timeout", py.PyLong_FromLongLong(0));
	} else if (prefetch_of(setting->loader) < 0) {
		put(setting, "prefetch_factor", py.PyLong_FromLongLong(PREFETCH));
	}
	return wanted;
}

static void set_flag(const struct setting *setting, enum dlprof_set key, int32_t wanted)
{
	const char *name = dlprof_set_rows[key].key;

	if (!has_field(setting, name)) {
		refuse(setting, key, "this PyTorch has no such setting");
	} else {
		tell(setting, key, api_get_flag(setting->loader, name, false), wanted);
		put(setting, name, py.PyBool_FromLong(wanted));
	}
}

/* Sets the context of multiprocessing. Its name is enough: PyTorch's setter makes the context. */
static void set_context(const struct setting *setting, int32_t wanted)
{
	static struct api_name name = {"multiprocessing_context", NULL};
	static const char *const made[] = {"_dlprof_context", NULL};
	char buffer[32];
	OWNED PyObject *value = py.PyUnicode_FromString(
		word(DLPROF_SET_CONTEXT, wanted, buffer, sizeof(buffer)));
	bool is_set = value && api_name(&name) &&
		      py.PyObject_SetAttr(setting->loader, name.string, value) == 0;

	py.PyErr_Clear();
	if (!is_set) {
		refuse(setting, DLPROF_SET_CONTEXT, "PyTorch refuses it");
		return;
	}
	if (!has_field(setting, made[0])) {
		text_format(setting->note, "%scontext -> %s", setting->note->length ? ", " : "",
			    buffer);
		put(setting, made[0], py.PyBool_FromLong(1));
	}
}

static void set_sharing(int32_t wanted, struct text *note)
{
	OWNED PyObject *get = NULL, *set = NULL, *now = NULL, *value = NULL, *result = NULL;
	PyObject *module = api_module("torch.multiprocessing");
	char buffer[32];

	py.PyErr_Clear();
	get = api_get_path(module, "get_sharing_strategy");
	set = api_get_path(module, "set_sharing_strategy");
	now = get ? py.PyObject_CallObject(get, NULL) : NULL;
	word(DLPROF_SET_SHARING, wanted, buffer, sizeof(buffer));
	if (now && set && py.PyUnicode_CompareWithASCIIString(now, buffer) != 0)
		value = py.PyUnicode_FromString(buffer);
	result = value ? py.PyObject_CallFunctionObjArgs(set, value, NULL) : NULL;
	if (result && note)
		text_format(note, "%ssharing -> %s", note->length ? ", " : "", buffer);
	py.PyErr_Clear();
}

/* Returns false up to PyTorch 2.6, whose loaders ask torch.cuda despite torch.accelerator. */
static bool asks_accelerator(void)
{
	static const char path[] = "_BaseDataLoaderIter.__init__.__code__.co_names";
	OWNED PyObject *names = api_get_path(api_module("torch.utils.data.dataloader"), path);
	OWNED PyObject *text = names ? py.PyObject_Repr(names) : NULL;
	const char *found = text ? py.PyUnicode_AsUTF8(text) : NULL;

	return found && strstr(found, "'accelerator'");
}

/* Asks if there is a device to pin memory for, as PyTorch does itself right after this. */
static int ask_device(PyObject *loader)
{
	const bool is_newer = asks_accelerator();
	OWNED PyObject *ask = api_get_path(
		api_module(is_newer ? "torch.accelerator" : "torch.cuda"), "is_available");
	OWNED PyObject *device = api_get_named(loader, "pin_memory_device");
	/* If the program names a device, PyTorch up to 2.6 does not ask whether there is one. */
	const bool is_named = !is_newer && device && py.PyObject_IsTrue(device) == 1;
	OWNED PyObject *answer = ask && !is_named ? py.PyObject_CallObject(ask, NULL) : NULL;

	api_clear_run();
	if (is_named)
		return 1;
	return answer ? py.PyObject_IsTrue(answer) : -1;
}

static void set_all(const struct setting *setting)
{
	int32_t wanted[DLPROF_SET_MAX];
	int64_t workers = 0;

	for (int key = DLPROF_SET_WORKERS; key < DLPROF_SET_MAX; key++) {
		wanted[key] = dlprof_set_wanted(&config.set, (enum dlprof_set)key, setting->place);
		if (key == DLPROF_SET_WORKERS)
			workers = set_workers(setting, wanted[key]);
		else if (key == DLPROF_SET_PIN && wanted[key] == 1 &&
			 ask_device(setting->loader) == 0)
			wanted[key] = refuse(setting, key, "PyTorch sees no GPU to pin memory for");
		else if (key != DLPROF_SET_PIN && key != DLPROF_SET_SHARING && wanted[key] >= 0 &&
			 !workers)
			wanted[key] = refuse(setting, key,
					     "only workers get it, and there are none");
	}
	if (wanted[DLPROF_SET_PREFETCH] >= 0) {
		tell(setting, DLPROF_SET_PREFETCH, prefetch_of(setting->loader),
		     wanted[DLPROF_SET_PREFETCH]);
		put(setting, "prefetch_factor",
		    py.PyLong_FromLongLong(wanted[DLPROF_SET_PREFETCH]));
	}
	for (int key = DLPROF_SET_PERSISTENT; key <= DLPROF_SET_PIN; key++)
		if (wanted[key] >= 0)
			set_flag(setting, key, wanted[key]);
	if (wanted[DLPROF_SET_CONTEXT] >= 0)
		set_context(setting, wanted[DLPROF_SET_CONTEXT]);
	if (wanted[DLPROF_SET_SHARING] >= 0)
		set_sharing(wanted[DLPROF_SET_SHARING], setting->note);
}

void torch_set_loader(PyObject *loader)
{
	static struct api_name name = {"__dict__", NULL};
	PyObject *string = api_name(&name);
	OWNED PyObject *fields = NULL, *type = NULL;
	TEXT(note, 256);
	struct setting setting = {.loader = loader, .note = &note};

	if (likely(!config.set.count) || !loader || !string || api_in_daemon())
		return;
	fields = py.PyObject_GenericGetAttr(loader, string);
	type = fields ? py.PyObject_Type(fields) : NULL;
	py.PyErr_Clear();
	if (type != py.dict_type)
		return;
	setting.fields = fields;
	setting.place = identity_made_at(loader);
	set_all(&setting);
	if (note.length)
		note_format('s', "%s: %s", setting.place ? setting.place : "a loader", note.buffer);
}

void torch_set_worker(void)
{
	const int32_t sharing = dlprof_set_wanted(&config.set, DLPROF_SET_SHARING, NULL);

	/* A spawned worker does not inherit this. */
	if (sharing >= 0)
		set_sharing(sharing, NULL);
	torch_set_loads = dlprof_set_wanted(&config.set, DLPROF_SET_THREADS, NULL) >= 0 ? LOADS : 0;
}

void torch_set_load(void)
{
	const int32_t wanted = dlprof_set_wanted(&config.set, DLPROF_SET_THREADS, NULL);
	TEXT(note, 64);

	torch_set_loads--;
	tell(&(struct setting){.note = &note}, DLPROF_SET_THREADS, torch_threads_set(wanted),
	     wanted);
	if (note.length)
		note_format('s', "in each worker: %s", note.buffer);
}
