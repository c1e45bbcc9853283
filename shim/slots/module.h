/* SPDX-License-Identifier: Apache-2.0 */
/* module.h - the modules that ld.so has loaded, and their addresses. */
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
	MODULE_PENDING, /* ld.so is not done with it, or has not bound all slots that matter */
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
	void **slot; /* a slot that was changed, or NULL */
};

/* Modules by descending address, nearly the order in which the kernel maps them. */
struct module_table {
	struct module modules[MODULE_MAX];
	uint32_t count;
};

/*
 * Takes the lock: one thread at a time looks at modules and changes them, and none during a fork().
 * Returns false after a while: the holder may be a thread of the process that we were forked from.
 */
bool module_lock(void);
void module_unlock(void);

/*
 * Called around fork(), in the parent. If another thread walked the modules meanwhile, glibc would
 * leave ld.so's lock held in the child, whose next dlopen() would wait for ever. So fork() waits
 * until we are done: microseconds, the first time milliseconds. Also in a process that does not
 * record yet, as another thread may begin to during the fork().
 */
void module_fork_begins(void);
void module_fork_ended(void);

/* Called in the child, where no other thread exists, so no lock is held. */
void module_forked(void);

/*
 * Called before the process records, when none of its threads uses this module yet. False: it was
 * forked while another thread held ld.so's lock for us, which stays held for good.
 */
bool module_begin(void);

/* With the lock: whether modules came or went after module_collect(). */
bool module_is_changed(void);

/* With the lock: lists the loaded modules again. */
struct module_table *module_collect(void);

/* With the lock: calls dl_iterate_phdr(), noted for children made without fork() meanwhile. */
int module_iterate(int (*each)(struct dl_phdr_info *, size_t, void *), void *data);

/*
 * Does module_iterate() without the lock, which is taken if possible. Returns 0 and walks nothing
 * if ld.so is locked for good in this process.
 */
int module_walk(int (*each)(struct dl_phdr_info *, size_t, void *), void *data);

/* Returns the module at `address`, in any namespace, or NULL. Takes no lock. */
struct module *module_at(const void *address);

/* Whether module_add_foreign() added this module. */
bool module_is_foreign(const struct module *module);

/* Returns the module that is this library. */
const struct module *module_self(void);

/*
 * Finds the modules of another namespace, to which `map` belongs: dl_iterate_phdr() does not show
 * them. Returns their number, 0 for the program's own namespace. `found` has room for
 * MODULE_FOREIGN_MAX. Takes ld.so's lock, so not to be called with ours.
 */
uint32_t module_find_foreign(const struct link_map *map, struct module *found);

/* With the lock: makes module_at() find these modules. Returns the new ones, and their number. */
struct module *module_add_foreign(const struct module *found, uint32_t *count);

/* With the lock: forgets the modules of other namespaces, since some unknown module was closed. */
void module_forget_foreign(void);

bool module_in_text(const struct module *module, const void *address);

/* Reads a module's tables by elf_open(). */
bool module_open(const struct module *module, struct elf_module *elf);
