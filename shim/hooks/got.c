/* SPDX-License-Identifier: Apache-2.0 */
/*
 * got.c
 *
 * What may go wrong, and what is done about it.
 * - Another thread is in dlopen() and ld.so still relocates the module we look at: we would take
 *   its work for done, and close the pages that it writes to. A module whose RELRO pages are still
 *   writable is left for the next time.
 * - dlsym() is called from a constructor, under ld.so's lock: nothing here takes that lock. Only
 *   dl_iterate_phdr() is called, whose lock is held for a moment by whoever holds it, and nothing that
 *   loads, looks up by name, allocates or changes what dlerror() says.
 * - A thread forks while another is in dl_iterate_phdr(): glibc leaves the lock taken in the child
 *   for good. A child that was forked from our own use of it does not sweep.
 * - A module is gone and another lies in its place: the list is made anew when one went, and what
 *   a wrapper stands for is an address, right whoever lives there.
 */
#include "hooks/got.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "hooks/dl.h"
#include "hooks/elf.h"
#include "scope.h"
#include "segment.h"
#include "sys.h"
#include "text.h"

#define MODULE_MAX  1024
#define FOREIGN_MAX 32
#define WANTED_MAX  160
#define ROUND_MAX   4
#define WAIT_MAX    20000
#define TRY_MAX	    200

static_assert(WANTED_MAX > DECODE_ROW_MAX, "every row may be wanted");

enum state {
	STATE_NEW,
	STATE_DONE,
	STATE_PENDING,	/* ld.so is not done with it, or has not bound all that is of interest */
};

struct module {
	uintptr_t base;
	uintptr_t begin;	/* of all its loadable parts */
	uintptr_t end;
	uintptr_t text_begin;	/* of its executable ones */
	uintptr_t text_end;
	const ElfW(Phdr) *headers;
	uint16_t header_count;
	uint8_t state;
	uint8_t try_count;
	uint32_t name_hash;
	void **slot;		/* one that was changed, or NULL */
};

/* By descending address, which is nearly the order in which the kernel hands them out. */
struct table {
	struct module modules[MODULE_MAX];
	uint32_t count;
};

static struct {
	_Atomic uint32_t locked;
	_Atomic uint32_t iterating;
	bool stuck;		/* ld.so's lock was taken when this process was forked */
	struct table tables[2];
	struct table *_Atomic table;
	struct module foreign[FOREIGN_MAX];
	uint32_t foreign_count;
	uint64_t adds;		/* dlpi_adds and dlpi_subs of the last sweep */
	uint64_t subs;
	bool pending;
	uint32_t closes;	/* dl_closes then */
	uint64_t noted;		/* libraries that were reached, a bit each */
	bool full_noted;
	bool sealed_noted;
	bool pool_noted;
	uintptr_t page_bytes;
	struct module self;
} got;

/* A symbol of a module, and the row of its name. */
struct wanted {
	uint32_t symbol;
	uint8_t row;
};

/* Not for ever: whoever holds it may be a thread of the process that we were forked from. */
static bool lock(void)
{
	for (int i = 0; i < WAIT_MAX; i++) {
		if (!atomic_exchange_explicit(&got.locked, 1, memory_order_acquire))
			return true;
		sys_call0(SYS_sched_yield);
	}
	return false;
}

static void unlock(void)
{
	atomic_store_explicit(&got.locked, 0, memory_order_release);
}

static void iterate(int (*each)(struct dl_phdr_info *, size_t, void *), void *data)
{
	atomic_fetch_add(&got.iterating, 1);
	dl_iterate_phdr(each, data);
	atomic_fetch_sub(&got.iterating, 1);
}

static void note_module(const char *before, const struct module *module, const char *after)
{
	struct elf_module elf;
	TEXT(note, 200);

	text_add(&note, before);
	if (elf_open(&elf, module->base, module->headers, module->header_count) == 0 && elf.soname)
		text_add(&note, elf.soname);
	else
		text_add(&note, "a module");
	text_add(&note, after);
	segment_note('w', note.buffer);
}

/*
 * Whether a word can be written to: the kernel tries, by or-ing zero to it in one go. 1, 0, or
 * -errno: it does not say.
 */
static int is_writable(uintptr_t address)
{
	long r = sys_call6(SYS_futex, (long)address, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0,
			   (long)address, FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0));

	if (r == -EFAULT)
		return 0;
	return r < 0 ? (int)r : 1;
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

static bool in_text(const struct module *module, const void *address)
{
	return module && (uintptr_t)address >= module->text_begin &&
	       (uintptr_t)address < module->text_end;
}

/* Takes no lock: the other table is filled meanwhile, this one only two sweeps later. */
static struct module *find_module(struct table *table, uintptr_t address)
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

static struct module *module_at(const void *address)
{
	struct module *module = find_module(atomic_load(&got.table), (uintptr_t)address);

	for (uint32_t i = 0; !module && i < got.foreign_count; i++)
		if ((uintptr_t)address >= got.foreign[i].begin &&
		    (uintptr_t)address < got.foreign[i].end)
			module = &got.foreign[i];
	return module;
}

bool got_knows(const void *address)
{
	return got.closes == dl_closes && module_at(address);
}

/* Instances. */

static bool exports_mark(const struct elf_module *elf, const struct decode_library *library)
{
	return !library->mark || elf_function(elf, library->mark, elf_hash(library->mark));
}

static bool has_mark(const struct module *module, const struct decode_library *library)
{
	struct elf_module elf;

	return module && elf_open(&elf, module->base, module->headers, module->header_count) == 0 &&
	       exports_mark(&elf, library);
}

static void find_helpers(struct decode_target *target, const struct decode_library *library,
			 const void *real)
{
	const struct module *module = module_at(real);
	struct elf_module elf;

	if (!module || elf_open(&elf, module->base, module->headers, module->header_count) < 0)
		return;
	for (int i = 0; i < 2 && library->helpers[i]; i++)
		target->helpers[i] = elf_function(&elf, library->helpers[i],
						  elf_hash(library->helpers[i]));
}

static void note_reached(enum decode_library_id library)
{
	if (decode_libraries[library].sort == DECODE_SORT_IMAGE ||
	    decode_libraries[library].sort == DECODE_SORT_STREAM)
		scope_decoders_reached();
	if (got.noted & UINT64_C(1) << library)
		return;
	got.noted |= UINT64_C(1) << library;
	segment_note('d', decode_libraries[library].name);
}

/* A free one, or one whose function is gone with its library. */
static struct decode_target *free_target(int row)
{
	struct decode_target *targets = decode_targets[row];

	for (int i = 0; i < DECODE_INSTANCE_MAX; i++)
		if (!targets[i].real)
			return &targets[i];
	for (int i = 0; i < DECODE_INSTANCE_MAX; i++)
		if (!module_at(targets[i].real))
			return &targets[i];
	return NULL;
}

static int find_target(int row, const void *real)
{
	for (int i = 0; i < DECODE_INSTANCE_MAX; i++)
		if (__atomic_load_n(&decode_targets[row][i].real, __ATOMIC_ACQUIRE) == real)
			return i;
	return -1;
}

/* With the lock. `slot`: lazily bound, and `real` is the way to ld.so. NULL: leave it alone. */
static void *wrapper_for(int row, void *real, void **slot)
{
	enum decode_library_id library = decode_rows[row].library;
	int at = find_target(row, real);
	struct decode_target *target;

	if (at >= 0)
		return decode_rows[row].wrappers[at];
	if (!slot && (!in_text(module_at(real), real) ||
		      !has_mark(module_at(real), &decode_libraries[library])))
		return NULL;
	target = free_target(row);
	if (!target) {
		if (!got.pool_noted)
			segment_note('w', "too many copies of one decode library: some are not observed");
		got.pool_noted = true;
		return NULL;
	}
	memset(target->helpers, 0, sizeof(target->helpers));
	target->slot = slot;
	if (!slot)
		find_helpers(target, &decode_libraries[library], real);
	__atomic_store_n(&target->real, real, __ATOMIC_RELEASE);
	note_reached(library);
	return decode_rows[row].wrappers[target - decode_targets[row]];
}

void *got_substitute(int row, void *real)
{
	int at = find_target(row, real);
	void *wrapper;

	if (at >= 0)
		return decode_rows[row].wrappers[at];
	if (in_text(&got.self, real) || !lock())
		return real;
	wrapper = wrapper_for(row, real, NULL);
	unlock();
	return wrapper ? wrapper : real;
}

void got_bound(struct decode_target *target)
{
	int row = (int)((target - decode_targets[0]) / DECODE_INSTANCE_MAX);
	void **slot, *real, *wrapper;

	if (!lock())
		return;
	slot = target->slot;
	real = slot ? __atomic_load_n(slot, __ATOMIC_ACQUIRE) : NULL;
	if (!real || in_text(&got.self, real) || real == target->real)
		goto done;
	/* What was on its way through ld.so still gets there: an instance of its own if there is one. */
	if (find_target(row, real) < 0) {
		find_helpers(target, &decode_libraries[decode_rows[row].library], real);
		__atomic_store_n(&target->real, real, __ATOMIC_RELEASE);
		target->slot = NULL;
	}
	wrapper = wrapper_for(row, real, NULL);
	if (wrapper)
		__atomic_store_n(slot, wrapper, __ATOMIC_RELEASE);
done:
	unlock();
}

/* Slots. */

/*
 * The way to ld.so for relocation `number`: "push number; jmp". Only where the code says so may it
 * be called from elsewhere; other linkers, and aarch64, pass the number otherwise.
 */
static bool is_lazy_entry(const struct module *module, const uint8_t *code, uint32_t number)
{
#if defined(__x86_64__)
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint32_t pushed;

	if (!in_text(module, code) || !in_text(module, code + 16))
		return false;
	if (memcmp(code, endbr64, sizeof(endbr64)) == 0)
		code += sizeof(endbr64);
	memcpy(&pushed, code + 1, sizeof(pushed));
	return code[0] == 0x68 && pushed == number;
#else
	(void)module;
	(void)code;
	(void)number;
	return false;
#endif
}

/* Whichever of the loaded ones ld.so will choose, it is the library that we know. */
static bool is_unmistakable(int row)
{
	const struct table *table = atomic_load(&got.table);
	const struct decode_library *library = &decode_libraries[decode_rows[row].library];
	uint32_t hash = elf_hash(decode_rows[row].name);
	bool found = false;

	for (uint32_t i = 0; i < table->count; i++) {
		const struct module *module = &table->modules[i];
		struct elf_module elf;

		if (elf_open(&elf, module->base, module->headers, module->header_count) < 0 ||
		    !elf_function(&elf, decode_rows[row].name, hash))
			continue;
		found = true;
		if (!has_mark(module, library))
			return false;
	}
	return found;
}

static uintptr_t page_of(uintptr_t address)
{
	return address & ~(got.page_bytes - 1);
}

/* RELRO pages are opened for the store and closed again; never made executable. */
static bool store(const struct module *module, void **slot, void *wrapper)
{
	uintptr_t page = page_of((uintptr_t)slot);
	int writable = is_writable((uintptr_t)slot);

	if (writable == 0 && sys_call3(SYS_mprotect, page, got.page_bytes, PROT_READ | PROT_WRITE) < 0) {
		if (!got.sealed_noted)
			note_module("the imports of ", module, " cannot be changed: its decoding is not observed");
		got.sealed_noted = true;
		return false;
	}
	if (writable < 0)
		return false;
	__atomic_store_n(slot, wrapper, __ATOMIC_RELEASE);
	if (writable == 0)
		sys_call3(SYS_mprotect, page, got.page_bytes, PROT_READ);
	return true;
}

static void change_slot(struct module *module, const struct elf_module *elf,
			const struct elf_slot *slot, int row)
{
	void **at = (void **)slot->address;
	void *real = __atomic_load_n(at, __ATOMIC_ACQUIRE), *wrapper;

	if (in_text(&got.self, real)) {
		module->slot = at;
		return;
	}
	if (in_text(module, real) && slot->jump && elf_is_import(elf, slot->symbol)) {
		if (!is_lazy_entry(module, real, slot->number)) {
			module->state = STATE_PENDING;
			return;
		}
		wrapper = is_unmistakable(row) ? wrapper_for(row, real, at) : NULL;
	} else {
		wrapper = wrapper_for(row, real, NULL);
	}
	if (wrapper && store(module, at, wrapper))
		module->slot = at;
}

static uint32_t find_wanted(const struct elf_module *elf, struct wanted *wanted)
{
	uint32_t count = 0;
	bool own = false;

	for (uint32_t i = 1; i < elf->import_limit && count < WANTED_MAX; i++) {
		const char *name = elf_is_import(elf, i) ? elf_name(elf, i) : NULL;
		int row = name ? decode_row_of(name) : -1;

		if (row >= 0)
			wanted[count++] = (struct wanted){i, (uint8_t)row};
	}
	/* What it exports and calls through slots of its own, as others may take its place. */
	for (uint32_t row = 0; row < DECODE_ROW_MAX && count < WANTED_MAX; row++) {
		enum decode_library_id library = decode_rows[row].library;
		uint32_t symbol;

		if (row == 0 || library != decode_rows[row - 1].library)
			own = exports_mark(elf, &decode_libraries[library]);
		symbol = own ? elf_find(elf, decode_rows[row].name, decode_hashes[row]) : 0;
		if (symbol && (symbol >= elf->import_limit || !elf_is_import(elf, symbol)))
			wanted[count++] = (struct wanted){symbol, (uint8_t)row};
	}
	return count;
}

/* ld.so closes a module's RELRO pages when it is done with its slots. */
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

static void change_module(struct module *module)
{
	struct wanted wanted[WANTED_MAX];
	struct elf_cursor cursor = {0};
	struct elf_module elf;
	struct elf_slot slot;
	uint32_t count;

	module->state = STATE_DONE;
	if (elf_open(&elf, module->base, module->headers, module->header_count) < 0)
		return;
	count = find_wanted(&elf, wanted);
	if (!count)
		return;
	for (uint32_t i = 0; i < count; i++)
		cursor.mask |= UINT64_C(1) << wanted[i].symbol % 64;
	if (!is_relocated(module)) {
		module->state = STATE_PENDING;
	} else {
		while (elf_next_slot(&elf, &cursor, &slot))
			for (uint32_t i = 0; i < count; i++)
				if (wanted[i].symbol == slot.symbol)
					change_slot(module, &elf, &slot, wanted[i].row);
	}
	if (module->state == STATE_PENDING && ++module->try_count == TRY_MAX)
		module->state = STATE_DONE;
}

/* Sweeps. */

static bool is_off_limits(const struct module *module)
{
	const void *libc = (const void *)(uintptr_t)dl_real;

	return module->base == getauxval(AT_BASE) || module->base == got.self.base ||
	       module->begin == getauxval(AT_SYSINFO_EHDR) || in_text(module, libc);
}

/* What is known about it from the last sweep, if it is still the same module. */
static void recall(struct module *module)
{
	const struct module *old = find_module(atomic_load(&got.table), module->begin);

	if (!old || old->base != module->base || old->headers != module->headers ||
	    old->name_hash != module->name_hash || old->end != module->end)
		return;
	/* Closed and opened again: its slots are as ld.so made them. */
	if (old->slot && !in_text(&got.self, __atomic_load_n(old->slot, __ATOMIC_RELAXED)))
		return;
	module->state = old->state;
	module->try_count = old->try_count;
	module->slot = old->slot;
}

static int collect_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct table *table = data;
	struct module module = {
		.base = info->dlpi_addr,
		.headers = info->dlpi_phdr,
		.header_count = info->dlpi_phnum,
		.name_hash = elf_hash(info->dlpi_name),
	};
	uint32_t at;

	(void)size;
	got.adds = info->dlpi_adds;
	got.subs = info->dlpi_subs;
	measure(&module);
	if (module.begin >= module.end)
		return 0;
	if (table->count == MODULE_MAX) {
		if (!got.full_noted)
			segment_note('w', "too many modules: decoding in some is not observed");
		got.full_noted = true;
		return 1;
	}
	recall(&module);
	if (module.begin <= (uintptr_t)&got_sweep && (uintptr_t)&got_sweep < module.end)
		got.self = module;
	for (at = table->count++; at && table->modules[at - 1].begin < module.begin; at--)
		table->modules[at] = table->modules[at - 1];
	table->modules[at] = module;
	return 0;
}

/* Under ld.so's lock, so that nothing goes away while we look at it. */
static int change_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct table *table = data;

	(void)size;
	for (uint32_t i = 0; i < table->count; i++) {
		struct module *module = &table->modules[i];

		if (module->base != info->dlpi_addr || module->headers != info->dlpi_phdr)
			continue;
		if (module->state != STATE_DONE && !is_off_limits(module))
			change_module(module);
		got.pending |= module->state == STATE_PENDING;
		break;
	}
	return 0;
}

static int compare_counts(struct dl_phdr_info *info, size_t size, void *data)
{
	bool *changed = data;

	(void)size;
	*changed = info->dlpi_adds != got.adds || info->dlpi_subs != got.subs;
	return 1;
}

static bool is_changed(void)
{
	bool changed = false;

	iterate(compare_counts, &changed);
	return changed;
}

static void sweep_once(void)
{
	struct table *table = &got.tables[atomic_load(&got.table) == &got.tables[0]];

	got.closes = dl_closes;
	got.pending = false;
	table->count = 0;
	iterate(collect_one, table);
	atomic_store(&got.table, table);
	iterate(change_one, table);
}

void got_sweep(void)
{
	if (got.stuck || (!got.pending && got.closes == dl_closes && !is_changed()) || !lock())
		return;
	if (!got.page_bytes) {
		got.page_bytes = getauxval(AT_PAGESZ);
		decode_index();
	}
	for (int round = 0; round < ROUND_MAX; round++) {
		sweep_once();
		if (!is_changed())
			break;
	}
	unlock();
}

void got_begin(void)
{
	if (atomic_load(&got.iterating)) {
		got.stuck = true;
		segment_note('w', "forked while modules were being looked at: "
				  "decoders that are loaded from now on are not observed");
	}
	atomic_store(&got.iterating, 0);
	unlock();
	got_sweep();
}

/* Foreign namespaces: dl_iterate_phdr() does not show them, their own list does. */

static void add_foreign(const struct link_map *map)
{
	struct module *module = &got.foreign[got.foreign_count];
	const ElfW(Ehdr) *header;
	Dl_info info;

	/* The dynamic section is there for sure; what else is, the headers say. */
	if (got.foreign_count == FOREIGN_MAX || !map->l_ld || !dladdr(map->l_ld, &info))
		return;
	header = info.dli_fbase;
	if (module_at(header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return;
	*module = (struct module){
		.base = map->l_addr,
		.headers = (const ElfW(Phdr) *)((const char *)header + header->e_phoff),
		.header_count = header->e_phnum,
	};
	measure(module);
	if (module->begin < module->end)
		got.foreign_count++;
}

void got_sweep_foreign(const void *address)
{
	uint32_t before = got.foreign_count;
	struct link_map *map = NULL;
	Dl_info info;

	if (module_at(address) || !dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map ||
	    !lock())
		return;
	while (map->l_prev)
		map = map->l_prev;
	for (; map; map = map->l_next)
		add_foreign(map);
	for (uint32_t i = before; i < got.foreign_count; i++)
		change_module(&got.foreign[i]);
	unlock();
}
