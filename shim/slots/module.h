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
	uintptr_t begin;
	uintptr_t end;
	uintptr_t text_begin;
	uintptr_t text_end;
	const ElfW(Phdr) * headers;
	uint16_t header_count;
	uint8_t state;
	uint8_t try_count;
	uint32_t name_hash;
	void **slot; /* a slot that was changed, or NULL */
};

/* Sorted by descending address, as the kernel maps most modules, so sorting moves few of them. */
struct module_table {
	struct module modules[MODULE_MAX];
	uint32_t count;
};

/* Returns false if the lock stays taken: a thread of the parent process may have held it. */
bool module_lock(void);
void module_unlock(void);

/*
 * Called around every fork(), recording or not. Waits until no thread walks the modules, as the
 * child would keep ld.so's lock for ever. This takes microseconds, and milliseconds the first time.
 */
void module_fork_begins(void);
void module_fork_ended(void);

/* Called in a forked child, where no other thread holds the lock. */
void module_forked(void);

/* Called before recording. Returns false if a fork happened under ld.so's lock: it stays held. */
bool module_begin(void);

/* Returns true if modules came or went since module_collect(). */
bool module_is_changed(void);

struct module_table *module_collect(void);

/* Calls dl_iterate_phdr(), and counts it: a child made meanwhile knows that ld.so is locked. */
int module_iterate(int (*each)(struct dl_phdr_info *, size_t, void *), void *data);

/* Like module_iterate(), but takes module_lock() itself. Returns 0 if ld.so is locked for ever. */
int module_walk(int (*each)(struct dl_phdr_info *, size_t, void *), void *data);

/* Returns the module at `address`, in any namespace, or NULL. Takes no lock. */
struct module *module_at(const void *address);

bool module_is_foreign(const struct module *module);

const struct module *module_self(void);

/* Returns how many modules of another namespace it found. Not to be called under module_lock(). */
uint32_t module_find_foreign(const struct link_map *map, struct module *found);

/* Makes module_at() find these modules. Returns the new ones, and their number in *count. */
struct module *module_add_foreign(const struct module *found, uint32_t *count);

void module_forget_foreign(void);

bool module_in_text(const struct module *module, const void *address);

bool module_open(const struct module *module, struct elf_module *elf);
