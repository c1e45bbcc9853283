/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - the files that a process has mapped: their bytes, unwind tables and symbols.
 *
 * They are read with pread() from the files named in /proc/PID/maps. This takes no right to trace
 * the process, and a file that is cut short meanwhile is an error and no SIGBUS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/modules/maps.h"

struct modules;

/* Makes an empty list of a process's mappings. */
struct modules *modules_open(int32_t pid);
void modules_close(struct modules *modules);

/*
 * The kept list of a running process. Listing mappings takes longer than all that is done with the
 * list, and a forked process has the same ones until it loads more code. NULL: no memory, or the
 * process (0: none) is not found.
 */
struct modules *modules_of(int32_t pid);

/*
 * Lists the mappings, unless a list is newer than 15 s, or than the time that it was already known
 * for. False: the process is gone, or not ours to look at. For lists of modules_of(), which notices
 * more code at once.
 */
bool modules_update(struct modules *modules, uint64_t now_ns);

/* Gives mapping `number`; false: there is none. */
bool modules_get(const struct modules *modules, size_t number, struct maps_line *ret);

/* A number that differs for every list of mappings, of whatever process. */
uint64_t modules_generation(const struct modules *modules);

/* Reads bytes of a mapped file, by their address in the process. */
bool module_read(struct modules *modules, uint64_t address, void *bytes, size_t size);

/* .eh_frame_hdr of the module that holds an address, all by addresses in the process. */
struct module_table {
	uint64_t begin, end;	/* the mapping */
	uint64_t header;	/* address that the offsets count from */
	uint64_t entries;	/* address of the table, pairs of 32-bit offsets */
	uint64_t entry_count;
};

bool module_find_table(struct modules *modules, uint64_t address, struct module_table *ret_table);

/* Names an address: "symbol+0x1f libjpeg.so.62"; without symbol "+0x4711 libjpeg.so.62". */
bool module_name(struct modules *modules, uint64_t address, char *name, size_t size);
