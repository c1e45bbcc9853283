/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - the files that a process has mapped: their bytes, unwind tables and symbols.
 *
 * Read with pread() from the files of /proc/PID/maps, so that it takes no right to trace the
 * process, and a file that is cut short under our hands is an error and no SIGBUS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/modules/maps.h"

struct modules;

/* Of this process, and so far none. */
struct modules *modules_open(int32_t pid);
void modules_close(struct modules *modules);

/*
 * Of a process that runs, kept: to list what it has mapped takes longer than all else that is done
 * with the list, and what was forked has mapped the same until it loads more code. NULL: out of
 * memory, or the process (0: none) is not to be found.
 */
struct modules *modules_of(int32_t pid);

/*
 * What it has mapped now, or some time ago: 15 s, or as long as it was known by then. False: it is
 * gone, or not ours to look at. For who asks modules_of(), which tells of more code at once.
 */
bool modules_update(struct modules *modules, uint64_t now_ns);

/* One mapping after the other; false: there is none of that number. */
bool modules_get(const struct modules *modules, size_t number, struct maps_line *ret);

/* Another number for every list of mappings, of whatever process. */
uint64_t modules_generation(const struct modules *modules);

/* Bytes of a mapped file by the address they have in the process. */
bool module_read(struct modules *modules, uint64_t address, void *bytes, size_t size);

/* .eh_frame_hdr of the module that holds an address, by addresses of the process. */
struct module_table {
	uint64_t begin, end;	/* of the mapping */
	uint64_t header;	/* what the table's offsets count from */
	uint64_t entries;	/* the table: pairs of 32-bit offsets */
	uint64_t entry_count;
};

bool module_find_table(struct modules *modules, uint64_t address, struct module_table *ret_table);

/* "symbol+0x1f libjpeg.so.62"; without a symbol "+0x4711 libjpeg.so.62". False: no module. */
bool module_name(struct modules *modules, uint64_t address, char *name, size_t size);
