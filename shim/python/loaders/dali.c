/* SPDX-License-Identifier: Apache-2.0 */
#include "python/loaders/dali.h"

#include <stdatomic.h>
#include <string.h>

#include "base/text.h"
#include "batch/stage.h"
#include "dlprof/event.h"
#include "record/activate.h"
#include "record/tally.h"

#define KNOWN_COUNT 256
#define CALL_COUNT  128
#define NUMBER_BITS 14
#define IGNORED     ((1 << NUMBER_BITS) - 1)

/* A cache of stages' numbers. An entry is tally_id() of the name << NUMBER_BITS | the number. */
static _Atomic uint64_t known[KNOWN_COUNT];

static struct stage_call calls[CALL_COUNT];
static atomic_bool taken[CALL_COUNT];

static const struct stage_facts facts = {0, -1, -1, -1};
static const struct stage_facts of_root = {DLPROF_STAGE_ROOT, -1, -1, -1};
static const struct stage_facts of_kernel = {DLPROF_STAGE_KERNEL, -1, -1, -1};

static bool begins(const char *name, const char *begin, const char **ret_rest)
{
	const size_t length = strlen(begin);

	*ret_rest = name + length;
	return strncmp(name, begin, length) == 0;
}

/* "readers__File#2" is an operator "readers__File". "__Resize_2" is a Resize without a name. */
static uint16_t operator_of(const char *name, const char *root)
{
	size_t length = strcspn(name, " #");
	const char *rest;
	TEXT(path, STAGE_PATH);

	text_add(&path, begins(name, "__Image", &rest) ? "=decoders__" : "=");
	if (begins(name, "__", &rest) && length > 2) {
		length -= 2;
		while (length > 1 && (text_is_digit(rest[length - 1]) || rest[length - 1] == '_'))
			length--;
		name = rest;
	}
	text_add_bytes(&path, name, length);
	return stage_number(path.buffer, &of_kernel, stage_number(root, &of_root, STAGE_NONE));
}

static uint16_t reader(void)
{
	stage_number("PopOutputs", &of_root, STAGE_NONE);
	stage_number("PopOutputs::ConsumerWait", &facts, STAGE_NONE);
	return stage_number("PopOutputs::ConsumerWait::DataReader", &facts, STAGE_NONE);
}

static RARELY uint16_t find(const char *name)
{
	const char *rest;

	if (begins(name, "[DALI][CPU op] Run ", &rest))
		return operator_of(rest, "PopOutputs");
	/* Executors that are not dynamic use operators' own names, and run() has no range. */
	if (begins(name, "[DALI][CPU op] ", &rest) && !strchr(rest, ' '))
		return operator_of(rest, "RunCPU");
	if (begins(name, "[DALI][Executor] RunCPU", &rest))
		return stage_number("RunCPU", &of_root, STAGE_NONE);
	if (begins(name, "[DALI][Executor] PopOutputs", &rest) ||
	    begins(name, "[DALI][Executor] ShareOutputs", &rest))
		return stage_number("PopOutputs", &of_root, STAGE_NONE);
	if (begins(name, "[DALI][Executor] Launch", &rest))
		return stage_number("PopOutputs::Launch", &facts, STAGE_NONE);
	if (begins(name, "[DALI][DataReader] ConsumerWait", &rest))
		return stage_number("PopOutputs::ConsumerWait", &facts, STAGE_NONE);
	if (begins(name, "[DALI][DataReader] Prefetch", &rest))
		return reader();
	if (begins(name, "[DALI][Loader] ReadOne", &rest))
		return stage_number("=ReadOne", &of_kernel, reader());
	return STAGE_NONE;
}

static uint16_t number_of(const char *name)
{
	const uint64_t id = tally_id(name) << NUMBER_BITS;
	_Atomic uint64_t *place = &known[(id >> NUMBER_BITS) % KNOWN_COUNT];
	uint64_t entry = atomic_load_explicit(place, memory_order_relaxed);
	uint16_t number;

	if (likely((entry ^ id) >> NUMBER_BITS == 0))
		return (entry & IGNORED) == IGNORED ? STAGE_NONE : (uint16_t)(entry & IGNORED);
	number = find(name);
	atomic_store_explicit(place, id | (number ? number : IGNORED), memory_order_relaxed);
	return number;
}

/* Returns a free entry, or NULL if too many ranges are open. */
static struct stage_call *take(const void *range)
{
	/* Threads have different stacks, so they start searching at different places. */
	const uint32_t from = (uint32_t)((uintptr_t)range >> 12);

	for (uint32_t i = 0; i < CALL_COUNT; i++) {
		const uint32_t at = (from + i) % CALL_COUNT;

		if (!atomic_load_explicit(&taken[at], memory_order_relaxed) &&
		    !atomic_exchange(&taken[at], true))
			return &calls[at];
	}
	return NULL;
}

static void begin_range(const void *range, const char *name)
{
	uint16_t number = name && *name ? number_of(name) : STAGE_NONE;
	struct stage_call *call = number ? take(range) : NULL;

	if (!call)
		return;
	if (stage_begin_at(call, number, (uintptr_t)range))
		stage_put(range, (uint16_t)(call - calls + 1));
	else
		atomic_store(&taken[call - calls], false);
}

static void end_range(const void *range)
{
	const uint16_t at = stage_of(range);

	if (likely(!at) || at > CALL_COUNT)
		return;
	stage_forget(range);
	stage_end(&calls[at - 1], true);
	atomic_store(&taken[at - 1], false);
}

#define BEGIN           activate_on()
#define END_RANGE       begin_range(object, name)
#define BEGIN_RANGE_END , (end_range(object), false)
#define JUMPS_RANGE_END , true
#define END_RANGE_END

static const struct wrap_library libraries[] = {{.mark = NULL}};

#define WRAP_ROWS        "python/loaders/dali.def"
#define WRAP_SET         dali_slots
#define WRAP_LIBRARIES   libraries
#define WRAP_LIBRARY(id) 0
#define WRAP_REACHED     NULL
#include "slots/wrap_rows.h"
