/* SPDX-License-Identifier: Apache-2.0 */
/*
 * got.c - puts wrappers into slots. What could go wrong, and how that is avoided:
 *
 * - Another thread's ld.so may still relocate a module whose pages we would make read-only. So a
 *   module with writable RELRO pages waits for the next sweep.
 * - A constructor, which runs under ld.so's lock, may call dlsym(). So nothing here takes that
 *   lock: no loading, lookup by name or allocation. dl_iterate_phdr() has a lock of its own.
 * - A fork during dl_iterate_phdr() would leave its lock taken in the child for ever. So fork()
 *   waits (process.c), and a child of clone() or _Fork() does not sweep.
 * - A module may lie where a closed one was. So the list is made again after each dlclose(). A
 *   wrapper stands for an address, so it is right for any module.
 */
#include "slots/got.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/note.h"
#include "base/sys.h"
#include "slots/lookup.h"
#include "slots/elf.h"
#include "slots/module.h"
#include "slots/pool.h"

#define ROUND_MAX  4
#define TRY_MAX    200

static_assert(WRAP_ROW_MAX <= UINT8_MAX, "a row is a byte");

static struct {
	const struct module_table *table;
	bool stuck;                       /* this process was forked while ld.so's lock was held */
	bool pending;
	bool sealed_noted;
	_Atomic uint32_t closes; /* value of lookup_closes when the last sweep began */
	uint32_t lost_count;
	uint32_t lost_looks;
	uintptr_t page_bytes;
	uintptr_t open_page;	 /* read-only page that we have made writable; 0: none */
} got;

struct wanted {
	uint32_t symbol;
	uint8_t row;
};

static void note_module(const char *before, const struct module *module, const char *after)
{
	struct elf_module elf;
	const bool is_named = module_open(module, &elf) && elf.soname;

	note_format('w', "%s%s%s", before, is_named ? elf.soname : "a module", after);
}

/* Returns 1 if writable, 0 if not, or -errno: the kernel tries an atomic "or" with zero. */
static int is_writable(uintptr_t address)
{
	long r = sys_call6(SYS_futex, (long)address, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0,
			   (long)address, FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0));

	if (r == -EFAULT)
		return 0;
	return r < 0 ? (int)r : 1;
}

/* Returns true for a PLT entry "push number; jmp": lazily bound wrappers may call nothing else. */
static bool is_lazy_entry(const struct module *module, const uint8_t *code, uint32_t number)
{
#if defined(__x86_64__)
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint32_t pushed;

	if (!module_in_text(module, code) || !module_in_text(module, code + 16))
		return false;
	if (memcmp(code, endbr64, sizeof(endbr64)) == 0)
		code += sizeof(endbr64);
	memcpy(&pushed, code + 1, sizeof(pushed));
	return code[0] == 0x68 && pushed == number;
#else
	return false;
#endif
}

/* Returns true if only the known library has this name, so that ld.so can bind nothing else. */
static bool is_unmistakable(const struct module_table *table, int row)
{
	const struct wrap_row *wanted = &wrap_rows[row];
	bool found = false;

	for (uint32_t i = 0; i < table->count; i++) {
		const struct module *module = &table->modules[i];
		struct elf_module elf;

		if (!module_open(module, &elf) || !elf_function(&elf, wanted->name, wanted->hash))
			continue;
		found = true;
		if (!pool_is_of_library(module, wanted))
			return false;
	}
	return found;
}

static uintptr_t page_of(uintptr_t address)
{
	return address & ~(got.page_bytes - 1);
}

static long protect(uintptr_t page, int protection)
{
	return sys_call3(SYS_mprotect, page, got.page_bytes, protection);
}

static void seal(void)
{
	if (got.open_page)
		protect(got.open_page, PROT_READ);
	got.open_page = 0;
}

/* Makes the slot's page writable, if it is not. Returns false to leave the slot alone. */
static bool open_slot(const struct module *module, uintptr_t slot)
{
	const uintptr_t page = page_of(slot);
	int writable;

	if (page == got.open_page)
		return true;
	seal();
	writable = is_writable(slot);
	if (writable)
		return writable > 0;
	if (protect(page, PROT_READ | PROT_WRITE) >= 0) {
		got.open_page = page;
		return true;
	}
	if (!got.sealed_noted)
		note_module("the imports of ", module,
			    " cannot be changed: its decoding is not observed");
	got.sealed_noted = true;
	return false;
}

static bool is_lazy(const struct module *module, const struct elf_module *elf,
		    const struct elf_slot *slot, const void *real)
{
	return module_in_text(module, real) && slot->jump && elf_is_import(elf, slot->symbol);
}

static void change_slot(struct module *module, const struct elf_module *elf,
			const struct elf_slot *slot, int row)
{
	void **at = (void **)slot->address;
	void *real = __atomic_load_n(at, __ATOMIC_ACQUIRE), *wrapper;

	if (module_in_text(module_self(), real)) {
		module->slot = at;
		return;
	}
	if (is_lazy(module, elf, slot, real)) {
		if (!is_lazy_entry(module, real, slot->number)) {
			module->state = MODULE_PENDING;
			return;
		}
		wrapper = is_unmistakable(got.table, row) ? pool_wrapper(row, real, at) : NULL;
	} else {
		wrapper = pool_wrapper_of_slot(row, real, at);
	}
	if (!wrapper || !open_slot(module, slot->address))
		return;
	__atomic_store_n(at, wrapper, __ATOMIC_RELEASE);
	module->slot = at;
}

static uint32_t find_wanted(const struct elf_module *elf, struct wanted *wanted)
{
	const char *const begin_limit = elf->strings + elf->strings_bytes - sizeof(uint64_t);
	uint32_t count = 0;
	bool own = false;

	for (uint32_t i = 1; i < elf->import_limit && count < WRAP_ROW_MAX; i++) {
		const char *name = elf_is_import(elf, i) ? elf_name(elf, i) : NULL;
		int row;

		if (!name || (name < begin_limit && !wrap_may_be_row(name)))
			continue;
		row = wrap_row_of(name);
		if (row >= 0)
			wanted[count++] = (struct wanted){i, (uint8_t)row};
	}
	/* A module may also call its own exports by slots, so find these symbols, too. */
	for (int i = 0; i < wrap_row_count && count < WRAP_ROW_MAX; i++) {
		const struct wrap_row *row = &wrap_rows[i];
		uint32_t symbol;

		if (i == 0 || row->library != row[-1].library)
			own = pool_is_library(elf, row);
		symbol = own ? elf_find(elf, row->name, row->hash) : 0;
		if (symbol && (symbol >= elf->import_limit || !elf_is_import(elf, symbol)))
			wanted[count++] = (struct wanted){symbol, (uint8_t)i};
	}
	return count;
}

/* ld.so makes RELRO pages read-only once it has finished a module. */
static bool is_relocated(const struct module *module)
{
	for (int i = 0; i < module->header_count; i++) {
		const ElfW(Phdr) *header = &module->headers[i];
		uintptr_t begin = module->base + header->p_vaddr;

		if (header->p_type == PT_GNU_RELRO &&
		    page_of(begin) != page_of(begin + header->p_memsz))
			return is_writable(page_of(begin)) != 1;
	}
	return true;
}

static void change_slots(struct module *module)
{
	struct wanted wanted[WRAP_ROW_MAX];
	struct elf_cursor cursor = {0};
	struct elf_module elf;
	struct elf_slot slot;
	uint32_t count;

	if (!module_open(module, &elf))
		return;
	count = find_wanted(&elf, wanted);
	if (!count)
		return;
	for (uint32_t i = 0; i < count; i++)
		elf_want(&cursor, wanted[i].symbol);
	if (!is_relocated(module)) {
		module->state = MODULE_PENDING;
		return;
	}
	while (elf_next_slot(&elf, &cursor, &slot))
		for (uint32_t i = 0; i < count; i++)
			if (wanted[i].symbol == slot.symbol)
				change_slot(module, &elf, &slot, wanted[i].row);
	seal();
}

/* Changes a module's slots. Sets the state last, since got_knows() takes no lock. */
static void change_module(struct module *module)
{
	module->state = MODULE_NEW;
	change_slots(module);
	if (module->state == MODULE_NEW || ++module->try_count == TRY_MAX)
		module->state = MODULE_DONE;
}

static bool is_off_limits(const struct module *module)
{
	const void *libc = (const void *)(uintptr_t)lookup_real;

	return module->base == getauxval(AT_BASE) || module->base == module_self()->base ||
	       module->begin == getauxval(AT_SYSINFO_EHDR) || module_in_text(module, libc);
}

/* No module can be unloaded during dl_iterate_phdr(). */
static int change_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct module_table *table = data;

	for (uint32_t i = 0; i < table->count; i++) {
		struct module *module = &table->modules[i];

		if (module->base != info->dlpi_addr || module->headers != info->dlpi_phdr)
			continue;
		if (is_off_limits(module))
			module->state = MODULE_DONE;
		if (module->state != MODULE_DONE)
			change_module(module);
		got.pending |= module->state == MODULE_PENDING;
		break;
	}
	return 0;
}

static void sweep_once(void)
{
	const uint32_t closes = lookup_closes;
	struct module_table *table;

	got.pending = false;
	if (got.closes != closes)
		module_forget_foreign();
	table = module_collect();
	got.table = table;
	module_iterate(change_one, table);
	/* Set last, because the old list may have a module that was closed and loaded again. */
	got.closes = closes;
}

static void sweep(void)
{
	for (int round = 0; round < ROUND_MAX; round++) {
		sweep_once();
		if (!module_is_changed())
			break;
	}
}

/* Returns false if a dlclose() may have put another module in the place of a listed one. */
static bool is_listed_for_good(void)
{
	return !lookup_closing && got.closes == lookup_closes;
}

/* Returns true, up to TRY_MAX times, while lazily bound calls run: longjmp() may have left one. */
static bool look_for_lost(void)
{
	uint32_t count = pool_lost_count();

	if (likely(!count))
		return false;
	if (count != got.lost_count)
		got.lost_looks = 0;
	got.lost_count = count;
	if (got.lost_looks++ >= TRY_MAX)
		return false;
	pool_unsettle();
	return true;
}

void got_sweep(void)
{
	if (got.stuck || !module_lock())
		return;
	if (!got.page_bytes) {
		got.page_bytes = getauxval(AT_PAGESZ);
		wrap_index();
	}
	if (look_for_lost() || got.pending || !is_listed_for_good() || module_is_changed())
		sweep();
	module_unlock();
}

bool got_knows(const void *address)
{
	const struct module *module;

	if (!is_listed_for_good())
		return false;
	module = module_at(address);
	return module && module->state == MODULE_DONE;
}

void got_begin(void)
{
	if (!module_begin()) {
		got.stuck = true;
		note_add('w', "forked while modules were being looked at: "
				  "decoders that are loaded from now on are not observed");
	}
}

/* musl lacks dladdr1(), and has no other namespaces. */
#pragma weak dladdr1

void got_sweep_foreign(const void *address)
{
	struct module found[MODULE_FOREIGN_MAX];
	struct link_map *map = NULL;
	struct module *added;
	uint32_t count;
	Dl_info info;

	/* While a module is being closed, module_at() may not know a module of our namespace. */
	if (!dladdr1 || module_at(address) ||
	    !dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return;
	/* Call this before module_lock(): it takes ld.so's lock, whose holder may wait for ours. */
	count = module_find_foreign(map, found);
	if (!module_lock())
		return;
	added = module_add_foreign(found, &count);
	for (uint32_t i = 0; i < count; i++)
		change_module(&added[i]);
	module_unlock();
}
