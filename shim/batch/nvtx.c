/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/nvtx.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/environment.h"
#include "base/label.h"
#include "base/sys.h"
#include "batch/marks.h"
#include "record/activate.h"
#include "record/segment.h"
#include "record/thread.h"

#define VARIABLE      "NVTX_INJECTION64_PATH"
#define NO_TRACKING   (-2) /* what push and pop say without a tool */
#define CREDITS_MOST  256
#define CREDIT_NS     UINT64_C(5000000)
#define KEPT_MOST     20000
#define LATE_CREDITS  64
#define LATE_NS       UINT64_C(1000000000)
#define OTHERS_MOST   16               /* steps of others, and the leader is another */
#define SHORT_NS      UINT64_C(100000) /* so many steps that short are none */
#define SHORT_MOST    64
#define OPEN_MOST     64 /* ranges that are not pushed, of all threads */
#define ID_GENERATION UINT64_C(0x100)

/* The ABI of nvtxEventAttributes_t, version 2: up to the message. */
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

enum source_kind {
	SOURCE_NONE,
	SOURCE_TEXT,
	SOURCE_WIDE,
	SOURCE_REGISTERED,
};

/* A name that is not looked at unless it is wanted. */
struct source {
	int kind; /* enum source_kind, or anything */
	const void *text;
};

/* Which ranges are the steps: those of one name on one thread. */
static struct {
	_Atomic uint32_t life, tid, hash;
	_Atomic bool open;
	_Atomic uint32_t others; /* came since its last */
	_Atomic uint32_t short_count;
	_Atomic uint64_t last_ns;
	_Atomic bool none; /* there are no steps in this program */
} leader;

static struct open_range {
	_Atomic uint64_t id; /* 0: free; 1: being filled */
	bool step;
	uint64_t begin_ns;
	char label[LABEL_BYTES];
} open_ranges[OPEN_MOST];

static _Atomic uint64_t generation;
static _Atomic uint32_t kept_count;
static _Atomic bool attached, bound_noted;

/* DLPROF_NVTX as it was when the library came up; "": not asked for. */
static char asked[CONFIG_NVTX_MAX];

/* Domains, in the order in which they are made; further ones share the last place. */
static char domains[THREAD_DOMAIN_MAX];
static _Atomic uint32_t domain_count = 1;

static uint32_t domain_of(const void *handle)
{
	uintptr_t place = (uintptr_t)handle - (uintptr_t)domains;

	return place < THREAD_DOMAIN_MAX ? (uint32_t)place : 0;
}

static struct source source_of(const struct attributes *attributes)
{
	if (!attributes || attributes->size < sizeof(*attributes))
		return (struct source){SOURCE_NONE, NULL};
	return (struct source){attributes->message_type, attributes->message};
}

static void read_label(char *label, struct source source)
{
	switch (source.kind) {
	case SOURCE_TEXT:
		label_copy(label, source.text);
		break;
	case SOURCE_WIDE:
		label_copy_wide(label, source.text);
		break;
	case SOURCE_REGISTERED:
		label_copy(label, label_of(source.text));
		break;
	default:
		label_copy(label, NULL);
	}
}

/* One more may be kept: see nvtx.h. */
static bool take_credit(struct thread *thread, uint64_t now_ns)
{
	bool late = kept_count >= KEPT_MOST;
	uint32_t most = late ? LATE_CREDITS : CREDITS_MOST;
	uint64_t each_ns = late ? LATE_NS : CREDIT_NS;
	uint64_t more;

	if (!thread->range_credit_ns) {
		thread->range_credit_ns = now_ns;
		thread->range_credits = most;
	}
	more = (now_ns - thread->range_credit_ns) / each_ns;
	/* All at once when it is late, so that a whole step is seen and not a range here and there.
	 */
	if (more >= (late ? LATE_CREDITS : 1)) {
		thread->range_credits = more > most - thread->range_credits
						? most
						: thread->range_credits + (uint32_t)more;
		thread->range_credit_ns += more * each_ns;
	}
	if (thread->range_credits > most)
		thread->range_credits = most;
	if (thread->range_credits) {
		thread->range_credits--;
		kept_count++;
		return true;
	}
	if (!atomic_exchange(&bound_noted, true))
		segment_note('i', "there are more NVTX ranges than are kept, see the variable "
				  "DLPROF_NVTX: some are not among the marks");
	return false;
}

/* Steps of this length are an inner loop's. */
static bool are_none(uint64_t now_ns)
{
	if (now_ns - leader.last_ns > SHORT_NS)
		leader.short_count = 0;
	else if (++leader.short_count == SHORT_MOST) {
		leader.none = true;
		segment_note('i', "NVTX ranges that are called steps come every few microseconds: "
				  "they are not taken for steps any more");
	}
	return leader.none;
}

static bool leads(const struct thread *thread, uint32_t hash)
{
	return leader.life == thread_life && leader.tid == thread->tid && leader.hash == hash;
}

/* A range of a step's name begins, within none of the leader's on this thread; whether it is one.
 */
static bool begin_step(const struct thread *thread, uint32_t hash, uint64_t now_ns)
{
	if (!leads(thread, hash)) {
		if (leader.life == thread_life && (leader.open || ++leader.others < OTHERS_MOST))
			return false;
		leader.tid = thread->tid;
		leader.hash = hash;
		leader.life = thread_life;
		leader.short_count = 0;
	}
	leader.others = 0;
	if (are_none(now_ns))
		return false;
	leader.open = true;
	leader.last_ns = now_ns;
	marks_told_step("nvtx", false, now_ns);
	return true;
}

static bool is_step(const struct thread *thread, const char *label, uint64_t now_ns)
{
	const char *wanted = strcmp(asked, "1") == 0 ? NULL : asked;
	uint32_t hash;

	/* A worker of a loader trains nothing. */
	if (leader.none || thread->load_depth || thread->worker >= 0 ||
	    !label_is_step(label, wanted, &hash))
		return false;
	for (uint32_t i = 0; i < thread->range_count; i++)
		if (thread->ranges[i].step)
			return false;
	return begin_step(thread, hash, now_ns);
}

static void send(struct thread *thread, const char *label, uint64_t begin_ns, uint64_t end_ns)
{
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_MARK,
		.flags = end_ns ? DLPROF_FLAG_RANGE : 0,
		.worker = -1,
		.begin_ns = begin_ns,
		.duration_ns = end_ns > begin_ns ? end_ns - begin_ns : 0,
	};

	memcpy(event.mark, label, LABEL_BYTES);
	thread_push(thread, &event);
}

/* Later than the last of this thread, which is what tells them apart in the database. */
static uint64_t begin_of(struct thread *thread)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns <= thread->range_last_ns)
		now_ns = thread->range_last_ns + 1;
	thread->range_last_ns = now_ns;
	return now_ns;
}

static void push(uint32_t domain, struct source source)
{
	struct thread *thread = marks_enter(false);
	struct thread_range *range;

	if (!thread)
		return;
	if (thread->range_count == THREAD_RANGE_MAX || thread->deeper[domain]) {
		thread->deeper[domain]++;
		return;
	}
	range = &thread->ranges[thread->range_count];
	read_label(range->label, source);
	range->begin_ns = begin_of(thread);
	range->domain = domain;
	range->step = is_step(thread, range->label, range->begin_ns);
	range->kept = range->label[0] && take_credit(thread, range->begin_ns);
	thread->range_count++;
}

static void pop(uint32_t domain)
{
	struct thread *thread = activate_on() ? thread_self : NULL;
	struct thread_range *range;
	uint32_t at;

	if (!thread || thread->life != thread_life)
		return;
	if (thread->deeper[domain]) {
		thread->deeper[domain]--;
		return;
	}
	for (at = thread->range_count; at && thread->ranges[at - 1].domain != domain; at--)
		continue;
	if (!at)
		return;
	range = &thread->ranges[at - 1];
	if (range->step)
		leader.open = false;
	if (range->kept)
		send(thread, range->label, range->begin_ns, clock_now_ns());
	memmove(range, range + 1, (thread->range_count - at) * sizeof(*range));
	thread->range_count--;
}

static uint64_t start(struct source source)
{
	struct thread *thread = marks_enter(false);
	struct open_range *range = NULL;
	uint64_t id = 0;

	for (uint32_t i = 0; thread && i < OPEN_MOST && !range; i++, id = 0)
		if (atomic_compare_exchange_strong(&open_ranges[i].id, &id, 1))
			range = &open_ranges[i];
	if (!range)
		return 0;
	read_label(range->label, source);
	range->begin_ns = begin_of(thread);
	range->step = is_step(thread, range->label, range->begin_ns);
	if (!range->step && !(range->label[0] && take_credit(thread, range->begin_ns))) {
		atomic_store(&range->id, 0);
		return 0;
	}
	id = ++generation * ID_GENERATION + (uint64_t)(range - open_ranges) + 2;
	atomic_store(&range->id, id);
	return id;
}

static void end(uint64_t id)
{
	struct thread *thread = id ? marks_enter(false) : NULL;
	uint64_t place = id % ID_GENERATION - 2;
	struct open_range copy;

	if (!thread || place >= OPEN_MOST)
		return;
	copy.step = open_ranges[place].step;
	copy.begin_ns = open_ranges[place].begin_ns;
	memcpy(copy.label, open_ranges[place].label, LABEL_BYTES);
	/* Ended twice, or never begun. */
	if (!atomic_compare_exchange_strong(&open_ranges[place].id, &id, 0))
		return;
	if (copy.step)
		leader.open = false;
	send(thread, copy.label, copy.begin_ns, clock_now_ns());
}

static void mark(struct source source)
{
	struct thread *thread = marks_enter(false);
	char label[LABEL_BYTES];
	uint64_t now_ns;

	if (!thread)
		return;
	read_label(label, source);
	now_ns = begin_of(thread);
	if (label[0] && take_credit(thread, now_ns))
		send(thread, label, now_ns, 0);
}

static void mark_ex(const struct attributes *attributes)
{
	mark(source_of(attributes));
}

static void mark_a(const char *text)
{
	mark((struct source){SOURCE_TEXT, text});
}

static void mark_w(const wchar_t *text)
{
	mark((struct source){SOURCE_WIDE, text});
}

static uint64_t start_ex(const struct attributes *attributes)
{
	return start(source_of(attributes));
}

static uint64_t start_a(const char *text)
{
	return start((struct source){SOURCE_TEXT, text});
}

static uint64_t start_w(const wchar_t *text)
{
	return start((struct source){SOURCE_WIDE, text});
}

static int push_ex(const struct attributes *attributes)
{
	push(0, source_of(attributes));
	return NO_TRACKING;
}

static int push_a(const char *text)
{
	push(0, (struct source){SOURCE_TEXT, text});
	return NO_TRACKING;
}

static int push_w(const wchar_t *text)
{
	push(0, (struct source){SOURCE_WIDE, text});
	return NO_TRACKING;
}

static int pop_any(void)
{
	pop(0);
	return NO_TRACKING;
}

static void domain_mark_ex(const void *domain, const struct attributes *attributes)
{
	(void)domain;
	mark(source_of(attributes));
}

static uint64_t domain_start_ex(const void *domain, const struct attributes *attributes)
{
	(void)domain;
	return start(source_of(attributes));
}

static void domain_end(const void *domain, uint64_t id)
{
	(void)domain;
	end(id);
}

static int domain_push_ex(const void *domain, const struct attributes *attributes)
{
	push(domain_of(domain), source_of(attributes));
	return NO_TRACKING;
}

static int domain_pop(const void *domain)
{
	pop(domain_of(domain));
	return NO_TRACKING;
}

static const void *register_a(const void *domain, const char *text)
{
	char label[LABEL_BYTES];

	(void)domain;
	label_copy(label, text);
	return label_register(label);
}

static const void *register_w(const void *domain, const wchar_t *text)
{
	char label[LABEL_BYTES];

	(void)domain;
	label_copy_wide(label, text);
	return label_register(label);
}

static const void *create_domain(const void *name)
{
	uint32_t place = atomic_fetch_add(&domain_count, 1);

	(void)name;
	return &domains[place < THREAD_DOMAIN_MAX ? place : THREAD_DOMAIN_MAX - 1];
}

typedef void slot_function(void);

/* Which functions NVTX has room for, by module and number; the others stay what they are without a
 * tool. */
static const struct {
	uint32_t module, number;
	slot_function *function;
} slots[] = {
#define SLOT(module, number, function)                                                             \
	{                                                                                          \
		module, number, (slot_function *)function                                          \
	}
	SLOT(1, 1, mark_ex),
	SLOT(1, 2, mark_a),
	SLOT(1, 3, mark_w),
	SLOT(1, 4, start_ex),
	SLOT(1, 5, start_a),
	SLOT(1, 6, start_w),
	SLOT(1, 7, end),
	SLOT(1, 8, push_ex),
	SLOT(1, 9, push_a),
	SLOT(1, 10, push_w),
	SLOT(1, 11, pop_any),
	SLOT(5, 1, domain_mark_ex),
	SLOT(5, 2, domain_start_ex),
	SLOT(5, 3, domain_end),
	SLOT(5, 4, domain_push_ex),
	SLOT(5, 5, domain_pop),
	SLOT(5, 10, register_a),
	SLOT(5, 11, register_w),
	SLOT(5, 12, create_domain),
	SLOT(5, 13, create_domain),
#undef SLOT
};

#define TABLE_CALLBACKS 1

struct callbacks {
	size_t size;
	int (*get_table)(uint32_t module, slot_function ****ret_table, unsigned int *ret_count);
};

static void note_attached(void)
{
	segment_note('m', "nvtx recorded");
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
		segment_note('m', "nvtx not recorded: " VARIABLE " is another tool's");
	else if (attached)
		note_attached();
}

/* What NVTX calls in each library that uses it. 0: there is no tool. */
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
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
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
