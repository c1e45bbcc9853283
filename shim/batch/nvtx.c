/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/nvtx.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/environment.h"
#include "base/note.h"
#include "base/sys.h"
#include "base/text.h"
#include "batch/marks.h"
#include "dlprof/units.h"
#include "record/activate.h"
#include "record/thread.h"

#define VARIABLE    "NVTX_INJECTION64_PATH"
#define NO_TRACKING (-2) /* what push and pop return if a tool does not count nested ranges */
#define KEPT_MOST   20000
#define SHORT_NS    UINT64_C(100000) /* steps begin at least this long after each other */

/* Layout of NVTX's nvtxEventAttributes_t, version 2, up to the message. */
struct attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t unused;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

static_assert(sizeof(struct attributes) == 48, "as NVTX lays it out");

#define MESSAGE_TEXT 1 /* value of message_type if `message` is a string of char */

static _Atomic uint32_t kept_count;
static _Atomic bool attached;
static uint64_t step_ns;

/* The value of DLPROF_NVTX when the library started. */
static char asked[CONFIG_NVTX_MAX];

/* Returns the range's name, or NULL if there is none that we can read. */
static const char *text_of(const struct attributes *attributes)
{
	return attributes && attributes->size >= sizeof(*attributes) &&
			       attributes->message_type == MESSAGE_TEXT
		       ? attributes->message
		       : NULL;
}

/* Returns true if half of the ring is free: ranges must leave room for more important records. */
static bool has_room(const struct dlprof_slot *slot)
{
	return slot->head - slot->tail < DLPROF_RING_CAPACITY / 2;
}

static bool take_room(const struct thread *thread)
{
	if (kept_count < KEPT_MOST && has_room(thread->slot)) {
		kept_count++;
		return true;
	}
	note_once('i', "there are more NVTX ranges than are kept, see the variable DLPROF_NVTX: "
		       "some are not among the marks");
	return false;
}

/* Records a step if the range has a step's name and is in no range that is a step. */
static bool begin_step(const struct thread *thread, const char *label, uint64_t now_ns)
{
	uint64_t since_ns;

	/* Only the main thread of a process that is no worker trains. */
	if (thread->load_depth || thread->worker >= 0 ||
	    !label_is_step(label, strcmp(asked, "1") == 0 ? NULL : asked) ||
	    thread->tid != (uint32_t)sys_getpid())
		return false;
	for (uint32_t i = 0; i < thread->range_depth && i < THREAD_RANGE_MAX; i++)
		if (thread->ranges[i].step)
			return false;
	since_ns = now_ns - step_ns;
	step_ns = now_ns;
	/* A range that begins this soon after a step's begin belongs to a loop within the step. */
	if (since_ns < SHORT_NS)
		return false;
	marks_step("nvtx", false, now_ns);
	return true;
}

static void send(struct thread *thread, const struct thread_range *range)
{
	const uint64_t end_ns = clock_now_ns();
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_MARK,
		.flags = DLPROF_FLAG_RANGE,
		.worker = -1,
		.begin_ns = range->begin_ns,
		.duration_ns = end_ns > range->begin_ns ? end_ns - range->begin_ns : 0,
	};

	memcpy(event.mark, range->label, LABEL_BYTES);
	thread_push(thread, &event);
}

static void begin(struct thread *thread, struct thread_range *range, const char *text)
{
	uint64_t now_ns = clock_now_ns();

	/* A range is identified by its begin, so no two ranges of a thread may begin at once. */
	if (now_ns <= thread->range_last_ns)
		now_ns = thread->range_last_ns + 1;
	thread->range_last_ns = now_ns;
	label_copy(range->label, text);
	range->begin_ns = now_ns;
	range->kept = range->label[0] && take_room(thread);
}

static int push(const char *text)
{
	struct thread *thread = marks_enter();
	struct thread_range *range;

	if (!thread)
		return NO_TRACKING;
	if (thread->range_depth < THREAD_RANGE_MAX) {
		range = &thread->ranges[thread->range_depth];
		begin(thread, range, text);
		range->step = begin_step(thread, range->label, range->begin_ns);
	}
	thread->range_depth++;
	return NO_TRACKING;
}

static int pop(void)
{
	struct thread *thread = activate_on() ? thread_known() : NULL;

	if (!thread || !thread->range_depth)
		return NO_TRACKING;
	thread->range_depth--;
	if (thread->range_depth < THREAD_RANGE_MAX && thread->ranges[thread->range_depth].kept)
		send(thread, &thread->ranges[thread->range_depth]);
	return NO_TRACKING;
}

static int domain_pop(const void *domain)
{
	return pop();
}

static int push_ex(const struct attributes *attributes)
{
	return push(text_of(attributes));
}

static int domain_push_ex(const void *domain, const struct attributes *attributes)
{
	return push(text_of(attributes));
}

/* Counts a range with a name in wide characters, as its pop will follow. The name is not read. */
static int push_wide(const void *text)
{
	return push(NULL);
}

typedef void slot_function(void);

/* Our functions, by the module and number that NVTX gives them. */
static const struct {
	uint32_t module, number;
	slot_function *function;
} slots[] = {
#define SLOT(module, number, function)                                                             \
	{                                                                                          \
		module, number, (slot_function *)function                                          \
	}
	SLOT(1, 8, push_ex),
	SLOT(1, 9, push),
	SLOT(1, 10, push_wide),
	SLOT(1, 11, pop),
	SLOT(5, 4, domain_push_ex),
	SLOT(5, 5, domain_pop),
#undef SLOT
};

#define TABLE_CALLBACKS 1

struct callbacks {
	size_t size;
	int (*get_table)(uint32_t module, slot_function ****ret_table, unsigned int *ret_count);
};

static void note_attached(void)
{
	note_add('m', "nvtx recorded");
}

void nvtx_prepare(void)
{
	const char *value = config_nvtx();

	if (!value)
		return;
	strcpy(asked, value);
	environment_inject(VARIABLE);
}

void nvtx_begin(void)
{
	if (!asked[0])
		return;
	if (environment_is_others(VARIABLE))
		note_add('m', "nvtx not recorded: " VARIABLE " is another tool's");
	else if (attached)
		note_attached();
}

/* Called by NVTX in each library that uses it. Returns 0 if there is no tool. */
__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t));

int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t))
{
	const struct callbacks *callbacks;
	slot_function ***table = NULL;
	unsigned int count = 0, filled = 0;
	uint32_t module = 0;

	if (!asked[0] || !get_export_table)
		return 0;
	callbacks = get_export_table(TABLE_CALLBACKS);
	if (!callbacks || callbacks->size < sizeof(*callbacks))
		return 0;
	for (size_t i = 0; i < ARRAY_COUNT(slots); i++) {
		if (slots[i].module != module) {
			module = slots[i].module;
			if (!callbacks->get_table(module, &table, &count))
				table = NULL;
		}
		if (!table || slots[i].number >= count || !table[slots[i].number])
			continue;
		*table[slots[i].number] = slots[i].function;
		filled++;
	}
	if (filled && !atomic_exchange(&attached, true) && activate_on())
		note_attached();
	return filled > 0;
}
