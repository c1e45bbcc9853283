/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/modules/stacks.h"

#include "dlprof/stack.h"
#include "drain/modules/module.h"

#if defined(HAVE_LIBUNWIND) && defined(__x86_64__)

#include <libunwind.h>
#include <stdio.h>
#include <string.h>

#include "drain/base/now.h"

#define FRAME_MAX 16
#define STEP_MAX  64

/* libunwind exports this search of a sorted .eh_frame_hdr, but declares it in no header. */
#define search_table UNW_OBJ(dwarf_search_unwind_table)
extern int search_table(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *info,
			unw_proc_info_t *proc, int need_unwind_info, void *context);

struct walk {
	const struct dlprof_stack *stack;
	struct modules *modules;
};

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *proc,
			  int need_unwind_info, void *context)
{
	const struct walk *walk = context;
	unw_dyn_info_t info;
	struct module_table table;

	if (!module_find_table(walk->modules, ip, &table))
		return -UNW_ENOINFO;
	memset(&info, 0, sizeof(info));
	info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	info.start_ip = table.begin;
	info.end_ip = table.end;
	info.u.rti.segbase = table.header;
	info.u.rti.table_data = table.entries;
	info.u.rti.table_len = table.entry_count * 8 / sizeof(unw_word_t);
	return search_table(space, ip, &info, proc, need_unwind_info, context);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *proc, void *context)
{
}

static int get_dyn_info(unw_addr_space_t space, unw_word_t *address, void *context)
{
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
		      void *context)
{
	const struct walk *walk = context;
	uint64_t base = walk->stack->registers[DLPROF_STACK_RSP];
	uint32_t size = walk->stack->size;

	if (write)
		return -UNW_EREADONLYREG;
	if (address >= base && address - base < size && size - (address - base) >= sizeof(*value)) {
		memcpy(value, walk->stack->bytes + (address - base), sizeof(*value));
		return 0;
	}
	return module_read(walk->modules, address, value, sizeof(*value)) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write,
		      void *context)
{
	static const int8_t registers[] = {
		[UNW_X86_64_RIP] = DLPROF_STACK_RIP + 1, [UNW_X86_64_RSP] = DLPROF_STACK_RSP + 1,
		[UNW_X86_64_RBP] = DLPROF_STACK_RBP + 1, [UNW_X86_64_RBX] = DLPROF_STACK_RBX + 1,
		[UNW_X86_64_R12] = DLPROF_STACK_R12 + 1, [UNW_X86_64_R13] = DLPROF_STACK_R13 + 1,
		[UNW_X86_64_R14] = DLPROF_STACK_R14 + 1, [UNW_X86_64_R15] = DLPROF_STACK_R15 + 1,
	};
	const struct walk *walk = context;

	if (write || number < 0 || (size_t)number >= sizeof(registers) || !registers[number])
		return -UNW_EBADREG;
	*value = walk->stack->registers[registers[number] - 1];
	return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write,
			void *context)
{
	return -UNW_EBADREG;
}

/* Returns true for a frame of the interpreter. Of frames in a row, only the first is written. */
static bool is_interpreter(const char *line)
{
	const char *leaf = strchr(line, ' ');

	return leaf &&
	       (strncmp(leaf + 1, "python", 6) == 0 || strncmp(leaf + 1, "libpython", 9) == 0);
}

static int walk_frames(const struct walk *walk, unw_cursor_t *cursor, char *text, size_t size)
{
	bool interpreted = false;
	size_t used = 0;
	int count = 0;

	for (int i = 0; i < STEP_MAX && count < FRAME_MAX; i++) {
		char line[160];
		unw_word_t ip;
		int length;

		if (unw_get_reg(cursor, UNW_REG_IP, &ip) < 0 || !ip)
			break;
		/* A return address may begin the next function, so the byte before it is used. */
		if (!module_name(walk->modules, i ? ip - 1 : ip, line, sizeof(line)))
			break;
		if (!strstr(line, " libdlprof.so") && !(interpreted && is_interpreter(line))) {
			interpreted = is_interpreter(line);
			length =
				snprintf(text + used, size - used, "%s%s", count ? "\n" : "", line);
			if (length < 0 || (size_t)length >= size - used) {
				text[used] = '\0';
				break;
			}
			used += (size_t)length;
			count++;
		}
		if (unw_step(cursor) <= 0)
			break;
	}
	return count;
}

/* Returns libunwind's address space. Its cache is emptied when another list of modules is used. */
static unw_addr_space_t space_of(const struct modules *modules)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
	};
	static unw_addr_space_t space;
	static uint64_t generation;

	if (!space) {
		space = unw_create_addr_space(&accessors, 0);
		if (space)
			unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
	}
	if (space && generation != modules_generation(modules))
		unw_flush_cache(space, 0, 0);
	generation = modules_generation(modules);
	return space;
}

/*
 * Unwinds a copied stack, which is not trusted, with tables and symbols of the modules' files.
 * Writes lines like "name+0x1f libjpeg.so.62", innermost first, and returns their number.
 */
static int unwind_text(struct modules *modules, const struct dlprof_stack *stack, char *text,
		       size_t size)
{
	struct walk walk = {stack, modules};
	unw_addr_space_t space;
	unw_cursor_t cursor;
	int count = 0;

	text[0] = '\0';
	if (!modules_update(modules, now_ns()))
		return 0;
	space = space_of(modules);
	if (space && unw_init_remote(&cursor, space, &walk) == 0)
		count = walk_frames(&walk, &cursor, text, size);
	module_close_file();
	return count;
}

#else

static int unwind_text(struct modules *modules, const struct dlprof_stack *stack, char *text,
		       size_t size)
{
	if (size)
		text[0] = '\0';
	return 0;
}

#endif

/* a stack is dropped after this many attempts without the row of its operation */
#define PATIENCE 3

static int take(struct writer *writer, struct segment *segment, size_t place,
		const struct dlprof_stack *stack)
{
	static char text[4096];
	struct modules *modules = modules_of(alive_number(&segment->alive));
	bool found = true;
	int r = 0;

	if (modules && unwind_text(modules, stack, text, sizeof(text)) > 0)
		r = writer_stack(writer, (int64_t)stack->begin_ns, stack->tid, text, &found);
	if (r < 0)
		return r;
	if (!found && ++segment->stack_tries[place] < PATIENCE)
		return 0;
	segment->stack_tries[place] = 0;
	return segment_free_stack(segment, place);
}

int stacks_take(struct writer *writer, struct segment *segment, int most, int *ret_done)
{
	static struct dlprof_stack stack;
	int r = 0;

	*ret_done = 0;
	for (size_t i = 0; r == 0 && i < DLPROF_STACK_COUNT && *ret_done < most; i++) {
		bool full;

		r = segment_read_stack(segment, i, &stack, &full);
		if (r < 0 || !full)
			continue;
		r = take(writer, segment, i, &stack);
		++*ret_done;
	}
	return r;
}
