/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - reads bytes, unwind tables and symbols from the files that a process has mapped.
 *
 * pread() needs no right to trace, and fails where a truncated file's mapping would raise SIGBUS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/modules/maps.h"

struct modules;

struct modules *modules_open(int32_t pid);
void modules_close(struct modules *modules);

/* Returns a process's cached list, or NULL. Forked processes share a list until they load code. */
struct modules *modules_of(int32_t pid);

/* Lists the mappings again, at first every 15 s, then more rarely. Returns false if not allowed. */
bool modules_update(struct modules *modules, uint64_t now_ns);

bool modules_get(const struct modules *modules, size_t number, struct maps_line *ret);

/* Returns a number that is different for each list of mappings, of any process. */
uint64_t modules_generation(const struct modules *modules);

/* Reads what a mapped file has at `address` of the process. */
bool module_read(struct modules *modules, uint64_t address, void *bytes, size_t size);

/* The .eh_frame_hdr of a module; all members are addresses in the process. */
struct module_table {
	uint64_t begin, end;
	uint64_t header;  /* address to which the table's offsets are relative */
	uint64_t entries; /* address of the table, pairs of 32-bit offsets */
	uint64_t entry_count;
};

bool module_find_table(struct modules *modules, uint64_t address, struct module_table *ret_table);

/* Names an address: "symbol+0x1f libjpeg.so.62"; without a symbol, "+0x4711 libjpeg.so.62". */
bool module_name(struct modules *modules, uint64_t address, char *name, size_t size);
