/* SPDX-License-Identifier: Apache-2.0 */
#include "slots/module.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "base/note.h"
#include "base/sys.h"

#define YIELD_MAX 1000
#define WAIT_MAX  2000 /* most tries to lock; the last ones nap 100 us each */

enum { HELD = 1, FORKING = 2 };

static struct {
	_Atomic uint32_t lock; /* HELD if a thread has the lock, plus FORKING for each in fork() */
	_Atomic uint32_t iterating;
	_Atomic int pid; /* process that uses `lock` and `iterating` */
	bool stuck;
	struct module_table tables[2];
	struct module_table *_Atomic table;
	struct module foreign[MODULE_FOREIGN_MAX];
	uint32_t foreign_count;
	uint64_t adds; /* dlpi_adds and dlpi_subs at the last listing */
	uint64_t subs;
	bool full_noted;
	struct module self;
} list;

bool module_lock(void)
{
	for (int try = 0; try < WAIT_MAX; try++) {
		uint32_t before = 0;

		if (atomic_compare_exchange_strong(&list.lock, &before, HELD))
			return true;
		sys_pause(try, YIELD_MAX);
	}
	return false;
}

void module_unlock(void)
{
	atomic_fetch_and(&list.lock, ~(uint32_t)HELD);
}

void module_fork_begins(void)
{
	list.pid = sys_getpid();
	atomic_fetch_add(&list.lock, FORKING);
	for (int try = 0; try < WAIT_MAX && atomic_load(&list.lock) & HELD; try++)
		sys_pause(try, YIELD_MAX);
}

void module_fork_ended(void)
{
	atomic_fetch_sub(&list.lock, FORKING);
}

void module_forked(void)
{
	list.stuck |= atomic_exchange(&list.iterating, 0) > 0;
	atomic_store(&list.lock, 0);
	list.pid = sys_getpid();
}

int module_iterate(int (*each)(struct dl_phdr_info *, size_t, void *), void *data)
{
	int r;

	atomic_fetch_add(&list.iterating, 1);
	r = dl_iterate_phdr(each, data);
	atomic_fetch_sub(&list.iterating, 1);
	return r;
}

int module_walk(int (*each)(struct dl_phdr_info *, size_t, void *), void *data)
{
	bool locked;
	int r;

	if (list.stuck)
		return 0;
	locked = module_lock();
	r = module_iterate(each, data);
	if (locked)
		module_unlock();
	return r;
}

static void measure(struct module *module)
{
	module->begin = module->text_begin = UINTPTR_MAX;
	module->end = module->text_end = 0;
	for (int i = 0; i < module->header_count; i++) {
		const ElfW(Phdr) *header = &module->headers[i];
		uintptr_t begin = module->base + header->p_vaddr, end = begin + header->p_memsz;

		if (header->p_type != PT_LOAD)
			continue;
		module->begin = begin < module->begin ? begin : module->begin;
		module->end = end > module->end ? end : module->end;
		if (!(header->p_flags & PF_X))
			continue;
		module->text_begin = begin < module->text_begin ? begin : module->text_begin;
		module->text_end = end > module->text_end ? end : module->text_end;
	}
}

bool module_in_text(const struct module *module, const void *address)
{
	return module && (uintptr_t)address >= module->text_begin &&
	       (uintptr_t)address < module->text_end;
}

/* Takes no lock: a sweep fills the other table, and only the next sweep changes this one. */
static struct module *find_module(struct module_table *table, uintptr_t address)
{
	uint32_t low = 0, high = table ? table->count : 0;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (address < table->modules[middle].begin)
			low = middle + 1;
		else
			high = middle;
	}
	if (table && low < table->count && address < table->modules[low].end)
		return &table->modules[low];
	return NULL;
}

struct module *module_at(const void *address)
{
	struct module *module = find_module(atomic_load(&list.table), (uintptr_t)address);

	for (uint32_t i = 0; !module && i < list.foreign_count; i++)
		if ((uintptr_t)address >= list.foreign[i].begin &&
		    (uintptr_t)address < list.foreign[i].end)
			module = &list.foreign[i];
	return module;
}

static void recall(struct module *module)
{
	const struct module *old = find_module(atomic_load(&list.table), module->begin);

	if (!old || old->base != module->base || old->headers != module->headers ||
	    old->name_hash != module->name_hash || old->end != module->end)
		return;
	/* The slot no longer has our wrapper, so the module was closed and loaded again. */
	if (old->slot && !module_in_text(&list.self, __atomic_load_n(old->slot, __ATOMIC_RELAXED)))
		return;
	module->state = old->state;
	module->try_count = old->try_count;
	module->slot = old->slot;
}

static int collect_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct module_table *table = data;
	struct module module = {
		.base = info->dlpi_addr,
		.headers = info->dlpi_phdr,
		.header_count = info->dlpi_phnum,
		.name_hash = elf_hash(info->dlpi_name),
	};
	uint32_t at;

	list.adds = info->dlpi_adds;
	list.subs = info->dlpi_subs;
	measure(&module);
	if (module.begin >= module.end)
		return 0;
	if (table->count == MODULE_MAX) {
		if (!list.full_noted)
			note_add('w', "too many modules: decoding in some is not observed");
		list.full_noted = true;
		return 1;
	}
	recall(&module);
	if (module.begin <= (uintptr_t)&module_collect && (uintptr_t)&module_collect < module.end)
		list.self = module;
	for (at = table->count++; at && table->modules[at - 1].begin < module.begin; at--)
		table->modules[at] = table->modules[at - 1];
	table->modules[at] = module;
	return 0;
}

static int compare_counts(struct dl_phdr_info *info, size_t size, void *data)
{
	bool *changed = data;

	*changed = info->dlpi_adds != list.adds || info->dlpi_subs != list.subs;
	return 1;
}

bool module_is_changed(void)
{
	bool changed = false;

	module_iterate(compare_counts, &changed);
	return changed;
}

struct module_table *module_collect(void)
{
	struct module_table *table = &list.tables[atomic_load(&list.table) == &list.tables[0]];

	table->count = 0;
	module_iterate(collect_one, table);
	atomic_store(&list.table, table);
	return table;
}

/* A module's dynamic section is always mapped; dladdr() finds the ELF header. */
static bool describe_foreign(const struct link_map *map, struct module *module)
{
	const ElfW(Ehdr) * header;
	Dl_info info;

	if (!map->l_ld || !dladdr(map->l_ld, &info))
		return false;
	header = info.dli_fbase;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	*module = (struct module){
		.base = map->l_addr,
		.headers = (const ElfW(Phdr) *)((const char *)header + header->e_phoff),
		.header_count = header->e_phnum,
	};
	measure(module);
	return module->begin < module->end;
}

uint32_t module_find_foreign(const struct link_map *map, struct module *found)
{
	uint32_t count = 0;

	while (map->l_prev)
		map = map->l_prev;
	/* If we have listed the first module, it is the program: this is our own namespace. */
	if (find_module(atomic_load(&list.table), (uintptr_t)map->l_ld))
		return 0;
	for (; map && count < MODULE_FOREIGN_MAX; map = map->l_next)
		count += describe_foreign(map, &found[count]);
	return count;
}

struct module *module_add_foreign(const struct module *found, uint32_t *count)
{
	struct module *added = &list.foreign[list.foreign_count];
	const struct module *const end = found + *count;

	for (; found < end && list.foreign_count < MODULE_FOREIGN_MAX; found++)
		if (!module_at((void *)found->begin))
			list.foreign[list.foreign_count++] = *found;
	*count = (uint32_t)(&list.foreign[list.foreign_count] - added);
	return added;
}

bool module_is_foreign(const struct module *module)
{
	return module >= list.foreign && module < list.foreign + MODULE_FOREIGN_MAX;
}

void module_forget_foreign(void)
{
	list.foreign_count = 0;
}

const struct module *module_self(void)
{
	return &list.self;
}

bool module_open(const struct module *module, struct elf_module *elf)
{
	return elf_open(elf, module->base, module->headers, module->header_count) == 0;
}

bool module_begin(void)
{
	if (list.pid && list.pid != sys_getpid())
		module_forked();
	list.pid = sys_getpid();
	return !list.stuck;
}
