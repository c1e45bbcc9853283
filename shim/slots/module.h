/* SPDX-License-Identifier: Apache-2.0 */
/* module.h - which modules ld.so has loaded, and where they lie. */
#ifndef MODULE_H
#define MODULE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "slots/elf.h"

#define MODULE_MAX         1024
#define MODULE_FOREIGN_MAX 32

enum module_state {
	MODULE_NEW,
	MODULE_DONE,
	MODULE_PENDING, /* ld.so is not done with it, or has not bound all that is of interest */
};

struct module {
	uintptr_t base;
	uintptr_t begin; /* of all its loadable parts */
	uintptr_t end;
	uintptr_t text_begin; /* of its executable ones */
	uintptr_t text_end;
	const ElfW(Phdr) * headers;
	uint16_t header_count;
	uint8_t state; /* enum module_state */
	uint8_t try_count;
	uint32_t name_hash;
	void **slot; /* one that was changed, or NULL */
};

/* By descending address, which is nearly the order in which the kernel hands them out. */
struct module_table {
	struct module modules[MODULE_MAX];
	uint32_t count;
};

/*
 * One thread at a time looks and changes, and none while one is in fork(). Not waited for for ever:
 * who holds the lock may be a thread of the process that we were forked from.
 */
bool module_lock(void);
void module_unlock(void);

/*
 * Around fork(), in the parent. glibc leaves ld.so's lock taken in a child that is forked while
 * another thread walks the modules, and the child's next dlopen() waits for ever. So it is not
 * forked while we do: that takes microseconds, the first time milliseconds. Also before the process
 * records: another thread may begin to, and walk, while this one is in fork().
 */
void module_fork_begins(void);
void module_fork_ended(void);

/* In the child: the threads that held what is held are not here. */
void module_forked(void);

/*
 * In a process that is about to record: no thread of it is in here yet, but perhaps in fork().
 * False: it was forked while another thread held ld.so's lock for us, which nobody will give back.
 */
bool module_begin(void);

/* With the lock: whether modules came or went since module_collect(). */
bool module_is_changed(void);

/* With the lock: lists what is loaded now, in place of what was. */
struct module_table *module_collect(void);

/* With the lock: dl_iterate_phdr(), and remembered for a child that is made without fork(). */
void module_iterate(int (*each)(struct dl_phdr_info *, size_t, void *), void *data);

/*
 * dl_iterate_phdr() of who does not have the lock, for as long as it is to be had. Nothing is
 * walked, and 0, in a process whose ld.so is locked for good.
 */
int module_walk(int (*each)(struct dl_phdr_info *, size_t, void *), void *data);

/* The one that `address` lies in, also of another namespace, or NULL. Takes no lock. */
struct module *module_at(const void *address);

/* With the lock: what was added as of another namespace. */
bool module_is_foreign(const struct module *module);

/* The library that this is in. */
const struct module *module_self(void);

/*
 * What is loaded in the namespace of `map`, which dl_iterate_phdr() does not show; nothing if it is
 * the program's own. `found` has room for MODULE_FOREIGN_MAX. Takes ld.so's lock: not with ours.
 */
uint32_t module_find_foreign(const struct link_map *map, struct module *found);

/* With the lock: those of the `count` found that are new, as module_at() finds them from now on. */
struct module *module_add_foreign(const struct module *found, uint32_t *count);

/* With the lock: something was closed, and it is not known what. */
void module_forget_foreign(void);

bool module_in_text(const struct module *module, const void *address);

/* elf_open() */
bool module_open(const struct module *module, struct elf_module *elf);

#endif
