/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfstage.c - times the stages of tf.data's pipelines, and the kernels that they call. Has the set
 * of wrappers made from tfdata.def.
 *
 * A stage is an iterator. A kernel is an operation in a stage's function. Only kernels made while a
 * stage prepares its function are recorded, so kernels of the training are not.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "batch/stage.h"
#include "dlprof/event.h"
#include "dlprof/folder.h"
#include "python/loaders/tfdata.h"
#include "record/activate.h"
#include "slots/elf.h"
#include "slots/module.h"
#include "slots/wrap.h"

#define TFSTAGE_ITERATOR_NAME                                                                      \
	"_ZN10tensorflow4data19DatasetBaseIterator16BuildTraceMeNameB5cxx11Ev"
#define TFSTAGE_KERNEL_NAME                                                                        \
	"_ZNK10tensorflow8OpKernel11TraceStringB5cxx11ERKNS_15OpKernelContextEb"

/* Returns what the module that contains address `within` imports by this name, or NULL. */
static void *import_of(const void *within, const char *name)
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

/* libstdc++'s std::string since GCC 5. */
struct tf_string {
	char *bytes;
	size_t length;
	char local[16];
};

/* TensorFlow's function that returns a kernel's name. */
static void *_Atomic kernel_name;

/* Returns false if the string leaks, because no function to free it is found. */
static bool drop(struct tf_string *string, const void *within)
{
	static void *_Atomic known_within, *_Atomic known;
	void (*delete)(void *);

	if (string->bytes == string->local)
		return true;
	if (known_within != within) {
		known = import_of(within, "_ZdlPv");
		known_within = (void *)(uintptr_t)within;
	}
	delete = (void (*)(void *))known;
	if (delete)
		delete(string->bytes);
	return delete;
}

/* Returns the number in "#...,parallelism=2,...#", or -1 if there is none. */
static int32_t number_in(const char *facts, const char *key)
{
	const size_t length = strlen(key);
	uint64_t number;

	for (const char *at = facts; *at; at++) {
		if ((*at != ',' && *at != '#') || strncmp(at + 1, key, length) != 0)
			continue;
		at += 1 + length;
		return dlprof_take_number(&at, &number) && number <= INT32_MAX ? (int32_t)number
									       : -1;
	}
	return -1;
}

static int32_t first_of(int32_t one, int32_t other)
{
	return one >= 0 ? one : other;
}

static struct stage_facts facts_of(const char *facts)
{
	return (struct stage_facts){
		.flags = strstr(facts, ",autotune=true") || strstr(facts, "#autotune=true")
				 ? DLPROF_STAGE_AUTOTUNED
				 : 0,
		.parallel = number_in(facts, "parallelism="),
		.capacity = first_of(first_of(number_in(facts, "buffer_limit="),
					      number_in(facts, "buffer_size=")),
				     number_in(facts, "cycle_length=")),
		.threads = number_in(facts, "threadpool_size="),
	};
}

/*
 * Returns true if a stage, such as Interleave, has inputs that all do the same, and so count as one
 * stage. The inputs of Zip, for example, differ.
 */
static bool is_alike(const char *name)
{
	static const char *const stages[] = {"Interleave", "FlatMap", "Parallel", "Sample",
					     "Repeat"};

	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		const char *found = strstr(name, stages[i]);
		const char *colon = strstr(name, "::");

		if (found && (!colon || found < colon))
			return true;
	}
	return false;
}

/* Adds "Root::Interleave::Zip" for "Iterator::Root::Interleave[2]::Zip#facts#". */
static void add_path(struct text *path, const char *name)
{
	static const char first[] = "Iterator::";
	bool alike;

	if (strncmp(name, first, sizeof(first) - 1) == 0)
		name += sizeof(first) - 1;
	alike = is_alike(name);
	for (; *name && *name != '#'; name++) {
		if (name[0] == ':' && name[1] == ':')
			alike = is_alike(name + 2);
		if (alike && *name == '[') {
			while (*name && *name != ']')
				name++;
			continue;
		}
		text_add_bytes(path, name, 1);
	}
}

static void take(struct tf_string *string, const void *within, struct text *text)
{
	if (string->length < 1 << 20)
		text_add_bytes(text, string->bytes, string->length);
	drop(string, within);
}

static bool can_drop(const void *within)
{
	return import_of(within, "_ZdlPv");
}

static RARELY uint16_t name_iterator(const struct wrap_target *target, const struct wrap_copy *copy,
			      const void *iterator)
{
	struct tf_string (*build)(const void *) =
		(struct tf_string(*)(const void *))copy->helpers[0];
	struct tf_string string;
	struct stage_facts facts;
	const char *name;
	uint16_t number;
	TEXT(line, 1024);
	TEXT(path, STAGE_PATH + 1);

	if (!build || !can_drop(target->real))
		return STAGE_NONE;
	string = build(iterator);
	take(&string, target->real, &line);
	name = strchr(line.buffer, '#');
	facts = facts_of(name ? name : "");
	add_path(&path, line.buffer);
	if (!strstr(path.buffer, "::"))
		facts.flags |= DLPROF_STAGE_ROOT;
	number = stage_number(path.buffer, &facts, STAGE_NONE);
	stage_put(iterator, number);
	if (number)
		stage_empty(number);
	return number;
}

/* `name` is "node:Op" or "node:Op#facts#". */
static RARELY uint16_t name_kernel(const struct wrap_target *target, const void *kernel,
			    const void *context)
{
	static const struct stage_facts facts = {DLPROF_STAGE_KERNEL, -1, -1, -1};
	struct tf_string (*trace)(const void *, const void *, bool) =
		(struct tf_string(*)(const void *, const void *, bool))kernel_name;
	struct tf_string string;
	uint16_t number;
	char *name;
	TEXT(line, STAGE_PATH);

	if (!trace || !can_drop(target->real))
		return STAGE_NONE;
	string = trace(kernel, context, false);
	take(&string, target->real, &line);
	line.buffer[strcspn(line.buffer, "#")] = '\0';
	name = strrchr(line.buffer, ':');
	number = stage_number(name ? name + 1 : line.buffer, &facts, stage_current());
	stage_put(kernel, number);
	return number;
}

/* Begins the first call seen of an object that was just named. False: it is not counted. */
static RARELY bool begin_named(struct stage_call *call, uint16_t number)
{
	if (number)
		stage_begin_first(call, number);
	return number;
}

static bool tfstage_instantiate(struct stage_call *call)
{
	if (!activate_on())
		return false;
	stage_begin_first(call, STAGE_NONE);
	return true;
}

static void tfstage_born(const struct wrap_copy *copy, const void *kernel)
{
	if (!stage_is_inside())
		return;
	if (copy->helpers[1])
		kernel_name = copy->helpers[1];
	stage_put(kernel, STAGE_UNNAMED);
}

static bool tfstage_next(struct stage_call *call, const struct wrap_target *target,
			 const struct wrap_copy *copy, const void *iterator)
{
	if (!activate_on())
		return false;
	if (unlikely(!stage_begin(call, iterator)))
		return begin_named(call, name_iterator(target, copy, iterator));
	return true;
}

/* Returns true if stage_end() must follow. */
static bool tfstage_compute(struct stage_call *call, const struct wrap_target *target,
			    const void *kernel, const void *context)
{
	const uint16_t number = activate_on() ? stage_begin_leaf(call, kernel) : STAGE_NONE;

	if (unlikely(number == STAGE_UNNAMED))
		return begin_named(call, name_kernel(target, kernel, context));
	return number;
}

/* absl::Time, passed by value. */
struct tf_time {
	uint64_t high;
	uint32_t low;
};

#if defined(__aarch64__)
/*
 * A C++ function that returns an object gets the object's address in x8, which no C function can
 * take or pass on. These jumps move x8 into our function's first argument, and back afterwards.
 */
#define STATUS_ENTRY(type, name, number, params, args)                                             \
	__attribute__((used, noinline)) static type from_##name##_##number params                  \
	{                                                                                          \
		return call_##name(STRIP args, &targets[number][ROW_##name]);                      \
	}                                                                                          \
	HIDDEN type name##_##number params;                                                        \
	JUMP(name##_##number, "mov x4, x3; mov x3, x2; mov x2, x1; mov x1, x0; mov x0, x8; "       \
			      "b from_" TEXT_OF(name##_##number));
#define TEXT_OF(name) #name
#define JUMP(name, code)                                                                           \
	__asm__(".text; .balign 16; .global " TEXT_OF(name) "; .type " TEXT_OF(name)               \
		", %function; " TEXT_OF(name) ": hint #34 /* bti c */; " code)

HIDDEN void *tfstage_call(void *status, void *object, void *context, void *more, bool *end,
			  void *real);
JUMP(tfstage_call, "mov x8, x0; mov x0, x1; mov x1, x2; mov x2, x3; mov x3, x4; mov x16, x5; "
		   "br x16");

#define ENTRY_NEXT        , STATUS_ENTRY
#define ENTRY_INSTANTIATE , STATUS_ENTRY
#define CALLS_NEXT        , tfstage_call(status, object, context, tensors, end, (void *)real)
#define CALLS_INSTANTIATE , tfstage_call(status, object, context, function, NULL, (void *)real)
#endif

#define BEGIN         activate_on()
#define END_MADE      tfdata_made(handle)
#define END_ASKED     tfdata_asked(handle)
#define END_WAITED    tfdata_waited(wait_us)
#define END_FETCHED   tfdata_fetched(bytes)
#define BEGIN_DROPPED , (begin_ns = activate_on() ? clock_now_ns() : 0) != 0
#define END_DROPPED   tfdata_dropped(begin_ns)

/* GONE: an object that is destroyed is forgotten, since another may get its address. */
#define BEGIN_NEXT        , tfstage_next(&call, target, copy, object)
#define JUMPS_NEXT        , true
#define END_NEXT          stage_end(&call, !*end)
#define BEGIN_INSTANTIATE , tfstage_instantiate(&call)
#define END_INSTANTIATE   stage_end(&call, false)
#define BEGIN_COMPUTE     , tfstage_compute(&call, target, object, context)
#define JUMPS_COMPUTE     , true
#define END_COMPUTE       stage_end(&call, true)
#define END_BORN          tfstage_born(copy, object)
#define BEGIN_GONE        , (stage_forget(object), false)
#define JUMPS_GONE        , true
#define END_GONE

enum { TFDATA, TFSTAGE };

static const struct wrap_library libraries[] = {
	[TFDATA] = {.mark = NULL},
	[TFSTAGE] = {.helpers = {TFSTAGE_ITERATOR_NAME, TFSTAGE_KERNEL_NAME}},
};

#define WRAP_ROWS        "python/loaders/tfdata.def"
#define WRAP_SET         tfdata_slots
#define WRAP_LIBRARIES   libraries
#define WRAP_LIBRARY(id) id
#define WRAP_STATE                                                                                 \
	struct stage_call call __attribute__((unused));                                            \
	uint64_t begin_ns __attribute__((unused))
#define WRAP_REACHED NULL
#include "slots/wrap_rows.h"
