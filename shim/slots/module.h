/* SPDX-License-Identifier: Apache-2.0 */
/* module.h - lists the modules that ld.so has loaded, with their addresses. */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "slots/elf.h"

#define MODULE_MAX         1024
#define MODULE_FOREIGN_MAX 32

enum module_state {
	MODULE_NEW,
	MODULE_DONE,
	MODULE_PENDING, /* ld.so still works on it, or has not bound all slots that matter */
};

struct module {
	uintptr_t base;
	uintptr_t begin; /* begin of all its loadable parts */
	uintptr_t end;
	uintptr_t text_begin; /* begin of its executable parts */
	uintptr_t text_end;
	const ElfW(Phdr) * headers;
	uint16_t header_count;
	uint8_t state; /* enum module_state */
	uint8_t try_count;
	uint32_t name_hash;
	void **slot; /* one of the slots that were changed, or NULL */
};

/* Modules by descending address, which is nearly the order in which the kernel maps them. */
struct module_table {
	struct module modules[MODULE_MAX];
	uint32_t count;
};

/*
 * Takes the lock: one thread at a time reads and changes modules, and none does during a fork().
 * Returns false after a while: the holder may be a thread of the parent process.
 */
bool module_lock(void);
void module_unlock(void);

/*
 * Called in the parent around fork(). If another thread walked the modules meanwhile, glibc would
 * leave ld.so's lock held in the child, whose next dlopen() would wait for ever. So fork() waits
 * until the walk is over: microseconds, the first time milliseconds. Also called in a process that
 * does not record yet, as another thread may begin to during the fork().
 */
void module_fork_begins(void);
void module_fork_ended(void);

/* Called in a forked child, which has no other thread, so nobody holds the lock. */
void module_forked(void);

/*
 * Prepares the module list; called before the process records, when no thread uses it yet. Returns
 * false if the process was forked while another thread held ld.so's lock for us: it stays held for
 * ever.
 */
bool module_begin(void);

/* Returns true if modules came or went since module_collect(). The caller has the lock. */
bool module_is_changed(void);

/* Lists the loaded modules again. The caller has the lock. */
struct module_table *module_collect(void);

/* Calls dl_iterate_phdr(), noted for children made without fork(). The caller has the lock. */
int module_iterate(int (*each)(struct dl_phdr_info *, size_t, void *), void *data);

/*
 * Like module_iterate(), for a caller without the lock, which is taken if possible. Returns 0 and
 * walks nothing if ld.so is locked for ever in this process.
 */
int module_walk(int (*each)(struct dl_phdr_info *, size_t, void *), void *data);

/* Returns the module at `address`, in any namespace, or NULL. Takes no lock. */
struct module *module_at(const void *address);

/* Returns true if module_add_foreign() added this module. */
bool module_is_foreign(const struct module *module);

/* Returns the module of this library. */
const struct module *module_self(void);

/*
 * Finds the modules in the namespace of `map`, which dl_iterate_phdr() does not show. Returns their
 * number; 0 for the program's own namespace. `found` has room for MODULE_FOREIGN_MAX. Takes ld.so's
 * lock, so the caller must not have ours.
 */
uint32_t module_find_foreign(const struct link_map *map, struct module *found);

/* Makes module_at() find modules. Returns the new ones and their count. The caller has the lock. */
struct module *module_add_foreign(const struct module *found, uint32_t *count);

/* Forgets the modules of other namespaces, as one may have been closed. The caller has the lock. */
void module_forget_foreign(void);

bool module_in_text(const struct module *module, const void *address);

/* Reads a module's tables by elf_open(). */
bool module_open(const struct module *module, struct elf_module *elf);
