/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - reads bytes, unwind tables and symbols from the files that a process has mapped.
 *
 * The files named in /proc/PID/maps are read with pread(). That needs no right to trace the
 * process; and for a file that is truncated meanwhile, pread() returns an error, where a mapping
 * would raise SIGBUS.
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
 * Returns the cached list of a running process. Listing mappings takes longer than all that is done
 * with them, and forked processes share a list until they load more code. Returns NULL if memory is
 * short or the process (0: none) is not found.
 */
struct modules *modules_of(int32_t pid);

/*
 * Lists the mappings again, but not within 15 s after the last listing, nor before the time since
 * the first listing has doubled. For lists from modules_of(), which itself notices new code.
 * Returns false if the process is gone or must not be read.
 */
bool modules_update(struct modules *modules, uint64_t now_ns);

/* Returns mapping `number` in *ret; false if there is none. */
bool modules_get(const struct modules *modules, size_t number, struct maps_line *ret);

/* Returns a number that is different for each list of mappings, of any process. */
uint64_t modules_generation(const struct modules *modules);

/* Reads bytes from a mapped file, by their address in the process. */
bool module_read(struct modules *modules, uint64_t address, void *bytes, size_t size);

/* The .eh_frame_hdr of the module at an address; all members are addresses in the process. */
struct module_table {
	uint64_t begin, end;	/* begin and end of the mapping */
	uint64_t header;	/* address to which the table's offsets are relative */
	uint64_t entries;	/* address of the table, pairs of 32-bit offsets */
	uint64_t entry_count;
};

bool module_find_table(struct modules *modules, uint64_t address, struct module_table *ret_table);

/* Names an address: "symbol+0x1f libjpeg.so.62"; without a symbol, "+0x4711 libjpeg.so.62". */
bool module_name(struct modules *modules, uint64_t address, char *name, size_t size);
