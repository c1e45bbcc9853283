/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - reads bytes, unwind tables and symbols from the files that a process has mapped.
 *
 * It uses pread(): that needs no right to trace, and fails where a mapping would raise SIGBUS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/modules/maps.h"

/* Reads from the mapped file. If its path leads to another file by now, nothing is read. */
bool module_read_file(const struct maps_line *of, uint64_t offset, void *bytes, size_t size);

/* Closes the file that was read last. Its pages stay in the cache. */
void module_close_file(void);

struct modules;

struct modules *modules_open(int32_t pid);
void modules_close(struct modules *modules);

/* Returns a process's cached list, or NULL. A forked child shares the list until it loads code. */
struct modules *modules_of(int32_t pid);

/* Lists the mappings again if due: after 15 s at first, then more rarely. False: not allowed. */
bool modules_update(struct modules *modules, uint64_t now_ns);

bool modules_get(const struct modules *modules, size_t number, struct maps_line *ret);

/* Returns a number that differs between all lists of mappings, of any process. */
uint64_t modules_generation(const struct modules *modules);

/* Reads the bytes at `address` of the process from the mapped file. */
bool module_read(struct modules *modules, uint64_t address, void *bytes, size_t size);

/* The .eh_frame_hdr of a module, with addresses in the process. */
struct module_table {
	uint64_t begin, end;
	uint64_t header;  /* the table's offsets count from this address */
	uint64_t entries; /* address of the table, which has pairs of 32-bit offsets */
	uint64_t entry_count;
};

bool module_find_table(struct modules *modules, uint64_t address, struct module_table *ret_table);

/* Names an address: "symbol+0x1f libjpeg.so.62"; without a symbol, "+0x4711 libjpeg.so.62". */
bool module_name(struct modules *modules, uint64_t address, char *name, size_t size);
