/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch/torch_threads.h"

#include "dlprof/units.h"
#include "python/interpreter/api.h"
#include "slots/module.h"

#define POOLS_MOST 32

static const struct {
	const char *module, *get, *set;
} modules[] = {
	{"torch", "get_num_threads", "set_num_threads"},
	{"cv2", "getNumThreads", "setNumThreads"},
};

/* Functions of libraries that Python cannot call. In wheels, OpenBLAS's have other names. */
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
	OWNED PyObject *get = NULL, *set = NULL, *before = NULL, *args = NULL, *value = NULL;
	OWNED PyObject *result = NULL;
	int32_t count;

	py.PyErr_Clear();
	get = module ? api_get_named(module, modules[i].get) : NULL;
	set = module ? api_get_named(module, modules[i].set) : NULL;
	before = get ? py.PyObject_CallObject(get, NULL) : NULL;
	count = before ? (int32_t)api_number(before, 0) : 0;
	value = set ? py.PyLong_FromLongLong(wanted) : NULL;
	args = value ? py.PyTuple_Pack(1, value) : NULL;
	result = args ? py.PyObject_CallObject(set, args) : NULL;
	py.PyErr_Clear();
	return result ? count : 0;
}

int32_t torch_threads_set(int32_t wanted)
{
	struct pools pools = {.count = 0};
	int32_t most = 0;

	/* Not during the walk, in which ld.so is locked. */
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
