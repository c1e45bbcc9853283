/* SPDX-License-Identifier: Apache-2.0 */
#include "slots/import.h"

#include <string.h>

#include "slots/elf.h"
#include "slots/module.h"

void *import_of(const void *within, const char *name)
{
	const struct module *module = module_at(within);
	struct elf_cursor cursor = {0};
	struct elf_module elf;
	struct elf_slot slot;
	uint32_t symbol;

	if (!module || !module_open(module, &elf))
		return NULL;
	symbol = elf_find(&elf, name, elf_hash(name));
	/* The GNU hash lists no imports, so search them one by one. */
	for (uint32_t i = 1; !symbol && i < elf.import_limit; i++)
		if (elf_is_import(&elf, i) && strcmp(elf_name(&elf, i), name) == 0)
			symbol = i;
	if (!symbol)
		return NULL;
	elf_want(&cursor, symbol);
	while (elf_next_slot(&elf, &cursor, &slot))
		if (slot.symbol == symbol)
			return __atomic_load_n((void **)slot.address, __ATOMIC_ACQUIRE);
	return NULL;
}
