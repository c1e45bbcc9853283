/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/stage.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/table.h"
#include "base/text.h"
#include "record/activate.h"
#include "record/segment.h"
#include "record/thread.h"

#define WINDOW_NS UINT64_C(250000000)
#define WINDOWS   256 /* after this many windows of time, their length doubles */
#define YOUNG     8   /* a new epoch ends a window that has at least 1/8 of its full length */
#define MIXED_NS  UINT64_C(10000000) /* loaders that take turns of less than this share a window */
/* CPU time has a slow clock: it is read once in this many ns of a stage's calls, on average */
#define CLOCKED_NS     1000000
#define EXACT_NS       50000 /* if a stage's calls are longer, all of them are timed */
#define ROUND_MAX      32    /* of this many calls, at least one is timed */
#define CLOCKED_MAX    1024  /* of this many timed calls, at least one has its CPU time read */
#define LEDGER_COUNT   512   /* this many threads have a ledger of their own */
#define BUCKET_COUNT   2048
#define BUCKET_OBJECTS 8
#define NUMBER_BITS    16
#define FORGOTTEN      1 /* entry of an object that was forgotten: an object's address is never 0 */

struct stage {
	char path[STAGE_PATH];
	struct stage_facts facts;
	uint16_t parent;
	uint32_t life;
	/* Calls of this stage contain other stages' calls, so its own CPU time is unknown. */
	atomic_bool has_inner;
	uint64_t sent[STAGE_SUM_MAX];
	/* If this stage is a queue, the elements put in and taken out. Many threads count them. */
	alignas(64) _Atomic uint64_t got;
	alignas(64) _Atomic uint64_t gave;
};

static_assert(sizeof(struct stage_sums) == 64, "one cache line");

struct ledger {
	_Atomic uint32_t tid; /* 0: free. A dead thread's ledger goes on with another thread */
	uint64_t random;
	struct stage_sums sums[1 + STAGE_MAX];
};

static struct stage stages[1 + STAGE_MAX];
struct stage_queues stage_queues[1 + STAGE_MAX];
static _Atomic uint32_t stage_total;
TABLE(struct ledger, ledgers, LEDGER_COUNT)
static struct ledger shared; /* the ledger of threads for which no other ledger is left */
static _Atomic uint32_t ledger_total;
static uint64_t clock_cost_ticks, cpu_clock_cost_ns;
/* Hash table from objects to stages: address << NUMBER_BITS | number. 0 ends a bucket. */
TABLE(_Atomic uint64_t, objects, BUCKET_COUNT * BUCKET_OBJECTS)

static struct {
	uint64_t begin_ns; /* when the window began; 0: there is no window */
	uint64_t length_ns;
	uint64_t stream; /* stream of the loader's newest epoch */
	uint32_t generation;
	uint32_t loader; /* number of the loader, whose iterators have different streams */
	uint32_t life;
	uint32_t count;
	bool is_mixed;
} window;

static _Atomic uint32_t busy;

__thread struct stage_self stage_self __attribute__((tls_model("initial-exec")));

static _Atomic uint64_t *bucket_of(const void *object)
{
	static _Atomic uint64_t only[BUCKET_OBJECTS]; /* used if there is no memory for the table */
	_Atomic uint64_t *all = objects();
	const uint64_t at = ((uintptr_t)object >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 53;

	return likely(all) ? &all[at * BUCKET_OBJECTS] : only;
}

/* Returns an object's key in its bucket. An address that does not fit into a key has no stage. */
static uint64_t key_of(const void *object)
{
	return (uint64_t)(uintptr_t)object << NUMBER_BITS;
}

static bool is_key(const void *object)
{
	return object && key_of(object) >> NUMBER_BITS == (uint64_t)(uintptr_t)object;
}

uint16_t stage_of(const void *object)
{
	_Atomic uint64_t *bucket = bucket_of(object);
	const uint64_t key = key_of(object);
	uint64_t entry;

	for (int i = 0; i < BUCKET_OBJECTS; i++) {
		entry = atomic_load_explicit(&bucket[i], memory_order_relaxed);
		if (!entry)
			break;
		if ((entry ^ key) <= UINT16_MAX)
			return (uint16_t)entry;
	}
	return STAGE_NONE;
}

void stage_forget(const void *object)
{
	_Atomic uint64_t *bucket = bucket_of(object);
	const uint64_t key = key_of(object);

	for (int i = 0; i < BUCKET_OBJECTS; i++) {
		uint64_t entry = atomic_load_explicit(&bucket[i], memory_order_relaxed);

		if (!entry)
			return;
		if ((entry ^ key) <= UINT16_MAX)
			atomic_compare_exchange_strong(&bucket[i], &entry, FORGOTTEN);
	}
}

static bool put_at(_Atomic uint64_t *place, uint64_t entry)
{
	uint64_t before = atomic_load_explicit(place, memory_order_relaxed);

	return (!before || before == FORGOTTEN) &&
	       atomic_compare_exchange_strong(place, &before, entry);
}

void stage_put(const void *object, uint16_t number)
{
	_Atomic uint64_t *bucket = bucket_of(object);

	stage_forget(object);
	if (!is_key(object) || !number)
		return;
	for (int i = 0; i < BUCKET_OBJECTS; i++)
		if (put_at(&bucket[i], key_of(object) | number))
			return;
	note_once('w', "more objects of a loader's pipeline than dlprof tracks: what some of its "
		       "stages do is not observed");
}

static uint16_t find(const char *path, size_t length)
{
	for (uint32_t i = 1; i <= stage_total; i++)
		if (strncmp(stages[i].path, path, length) == 0 && !stages[i].path[length])
			return (uint16_t)i;
	return STAGE_NONE;
}

/* Returns the length of the parent in a path ("A::B" in "A::B[1]::C"); 0: there is none. */
static size_t parent_length(const char *path)
{
	const char *end = path + strlen(path);

	while (end > path && !(end[0] == ':' && end[1] == ':'))
		end--;
	if (end > path && end[-1] == ']')
		while (end > path && *end != '[')
			end--;
	return (size_t)(end - path);
}

static const char *name_of(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (path[0] == ':' && path[1] == ':')
			name = path + 2;
	return *name == '=' ? name + 1 : name;
}

/* Finds the stage's parent and queue. Called again for each new stage, which may be the parent. */
static void join_stages(uint16_t number)
{
	struct stage *stage = &stages[number];
	const size_t length = parent_length(stage->path);

	if (length && !stage->parent)
		stage->parent = find(stage->path, length);
	stage_queues[number].in = stage_queues[stage->parent].out;
}

static uint16_t add(const char *path, const struct stage_facts *facts, uint16_t within)
{
	const uint16_t number = (uint16_t)(stage_total + 1);
	struct stage *stage = &stages[number];

	if (number > STAGE_MAX || strlen(path) >= sizeof(stage->path))
		return STAGE_NONE;
	strcpy(stage->path, path);
	stage->facts = *facts;
	stage->parent = within;
	if (!(facts->flags & DLPROF_STAGE_KERNEL) && strncmp(name_of(path), "Prefetch", 8) == 0)
		stage_queues[number].out = (uint8_t)number;
	stage->life = 0;
	atomic_store(&stage_total, number);
	for (uint16_t i = 1; i <= number; i++)
		join_stages(i);
	return number;
}

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Measures how long reading the clocks takes: that may be longer than a short call. */
static RARELY void measure_clocks(void)
{
	uint64_t least = UINT64_MAX, least_ns = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		uint64_t before = clock_ticks(), ticks = clock_ticks() - before;
		uint64_t before_ns = cpu_ns(), ns = cpu_ns() - before_ns;

		least = ticks < least ? ticks : least;
		least_ns = ns < least_ns ? ns : least_ns;
	}
	clock_cost_ticks = least + !least;
	cpu_clock_cost_ns = least_ns;
}

uint16_t stage_number(const char *path, const struct stage_facts *facts, uint16_t within)
{
	uint16_t number;

	thread_lock(&busy);
	if (!clock_cost_ticks)
		measure_clocks();
	number = find(path, strlen(path));
	if (!number)
		number = add(path, facts, within);
	thread_unlock(&busy);
	if (!number)
		note_once('w', "more stages in a loader's pipeline than dlprof tracks: what some "
			       "of them do is not observed");
	return number;
}

static bool is_dead(uint32_t tid)
{
	return sys_call3(SYS_tgkill, sys_getpid(), tid, 0) == -ESRCH;
}

static bool claim(struct ledger *ledger, uint32_t tid)
{
	uint32_t owner = atomic_load_explicit(&ledger->tid, memory_order_relaxed);

	return (!owner || owner == tid || is_dead(owner)) &&
	       atomic_compare_exchange_strong(&ledger->tid, &owner, tid);
}

static struct ledger *claim_any(uint32_t tid)
{
	for (uint32_t i = 0; i < LEDGER_COUNT && ledgers(); i++) {
		uint32_t total = ledger_total;

		if (!claim(&ledgers()[i], tid))
			continue;
		while (total <= i && !atomic_compare_exchange_weak(&ledger_total, &total, i + 1))
			continue;
		return &ledgers()[i];
	}
	note_once('w', "more threads in a loader's pipeline than dlprof tracks: what some of "
		       "them do is not observed");
	return &shared;
}

static RARELY void claim_ledger(void)
{
	stage_self.ledger = claim_any((uint32_t)sys_gettid());
	stage_self.life = thread_life;
}

static uint32_t random_below(uint32_t count)
{
	uint64_t *random = &stage_self.ledger->random;

	*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*random >> 32) * count >> 32);
}

/* Returns how often calls of this mean time fit into `ns`: at least 1, at most `most`. */
static uint32_t fits(uint64_t ns, uint64_t mean_ns, uint32_t most)
{
	const uint64_t count = mean_ns ? ns / mean_ns : 1;

	return count < 1 ? 1 : count > most ? most : (uint32_t)count;
}

/*
 * Returns the number of calls that this timed call stands for, and chooses which call is timed
 * next. The choice depends on earlier calls only, so mean times stay unbiased.
 */
static uint32_t weigh(struct stage_sums *sums)
{
	const uint32_t weight = sums->round + !sums->round;
	const uint32_t round = fits(EXACT_NS, sums->mean_ns, ROUND_MAX);
	const uint32_t after = random_below(round);

	sums->left = (uint8_t)(sums->after + (round - 1 - after));
	sums->after = (uint8_t)after;
	sums->round = (uint8_t)round;
	return weight;
}

/*
 * Decides at random whether to read this call's CPU time: as often for long calls as for short
 * ones. Returns the number of calls for which the time read counts, or 0 if it is not read.
 */
static uint32_t weigh_cpu(const struct stage_call *call)
{
	const uint64_t mean_ns = (uint64_t)call->sums->mean_ns * call->weight;
	const uint32_t count = fits(CLOCKED_NS, mean_ns, CLOCKED_MAX);

	return random_below(count) ? 0 : count * call->weight;
}

static uint64_t read_so_far(void)
{
	const struct thread *thread = thread_known();

	if (!thread)
		return 0;
	return thread->slot->counters[DLPROF_CLASS_READ].ns +
	       thread->slot->counters[DLPROF_CLASS_OPEN].ns;
}

static OFTEN void begin_timed(struct stage_call *call, uintptr_t address)
{
	struct stage *stage = &stages[call->number];

	/* An exception skipped the end of an inner call, so `top` is invalid. */
	if (unlikely(stage_self.top_address && stage_self.top_address <= address))
		stage_self.top = NULL;
	stage_self.top_address = address;
	call->address = address;
	call->outer = stage_self.top;
	call->inner_ticks = call->inner_read_ns = 0;
	call->outer_untimed = stage_self.untimed;
	stage_self.untimed = 0;
	call->life = thread_life;
	call->cpu_weight = 0;
	stage_self.top = call;
	if (!call->number)
		return;
	if (call->outer && !stages[call->outer->number].has_inner &&
	    !(stages[call->outer->number].facts.flags & DLPROF_STAGE_KERNEL))
		stages[call->outer->number].has_inner = true;
	if (unlikely(stage_queues[call->number].out)) {
		int64_t fill = (int64_t)(stage->got - stage->gave);

		if (fill > 0)
			stage_add(&call->sums->values[STAGE_READY], (uint64_t)fill * call->weight);
	}
	if (!stage->has_inner)
		call->cpu_weight = weigh_cpu(call);
	if (call->cpu_weight)
		call->cpu_ns = cpu_ns();
	call->read_ns = read_so_far();
	call->begin_ticks = clock_ticks();
}

static void begin(struct stage_call *call, uint32_t number)
{
	if (unlikely(stage_self.life != thread_life))
		claim_ledger();
	call->sums = &stage_self.ledger->sums[number];
	call->number = number;
}

void stage_begin_first(struct stage_call *call, uint16_t number)
{
	begin(call, number);
	call->weight = 1;
	begin_timed(call, (uintptr_t)call);
}

/* Begins a timed call, if it is this call's turn to be timed. Else returns false. */
static bool begin_due(struct stage_call *call, uint32_t number, uintptr_t address)
{
	begin(call, number);
	call->weight = call->sums->left ? 0 : weigh(call->sums);
	if (call->weight)
		begin_timed(call, address);
	else
		call->sums->left--;
	return call->weight;
}

/* Begins a call in rare cases. Not inlined, so that the usual call saves no registers. */
static __attribute__((noinline)) uint16_t begin_rarely(struct stage_call *call, uint32_t number)
{
	if (stage_is_named(number) && !begin_due(call, number, (uintptr_t)call))
		stage_self.untimed++;
	return (uint16_t)number;
}

uint16_t stage_begin_at(struct stage_call *call, uint16_t number, uintptr_t address)
{
	if (begin_due(call, number, address))
		return number;
	stage_count(call);
	return STAGE_NONE;
}

/* Returns the sums of the object's stage; NULL: the call is due to be timed, or a rare case. */
static inline struct stage_sums *find_untimed(const void *object, uint32_t *ret_number)
{
	const uint32_t number = *ret_number = stage_of(object);
	struct stage_sums *sums;

	if (!stage_is_named(number) || unlikely(stage_self.life != thread_life))
		return NULL;
	sums = &stage_self.ledger->sums[number];
	if (unlikely(!sums->left))
		return NULL;
	sums->left--;
	return sums;
}

OFTEN uint16_t stage_begin(struct stage_call *call, const void *object)
{
	uint32_t number;
	struct stage_sums *sums = find_untimed(object, &number);

	if (unlikely(!sums))
		return begin_rarely(call, number);
	call->sums = sums;
	call->number = number;
	call->weight = 0;
	stage_self.untimed++;
	return (uint16_t)number;
}

OFTEN uint16_t stage_begin_leaf(struct stage_call *call, const void *object)
{
	uint32_t number;
	struct stage_sums *sums = find_untimed(object, &number);

	if (unlikely(!sums))
		return !stage_is_named(number)
			       ? (uint16_t)number
			       : stage_begin_at(call, (uint16_t)number, (uintptr_t)call);
	/* A leaf is no queue: stage_count_queues() has nothing to count. */
	stage_add(&sums->values[STAGE_ELEMENTS], 1);
	return STAGE_NONE;
}

RARELY void stage_count_queues(uint32_t number)
{
	const struct stage_queues at = stage_queues[number];

	if (at.out)
		atomic_fetch_add_explicit(&stages[at.out].gave, 1, memory_order_relaxed);
	if (at.in)
		atomic_fetch_add_explicit(&stages[at.in].got, 1, memory_order_relaxed);
}

static int64_t length_ns(int64_t ticks)
{
	return ticks < 0 ? -(int64_t)clock_length_ns((uint64_t)-ticks)
			 : (int64_t)clock_length_ns((uint64_t)ticks);
}

static void learn(struct stage_sums *sums, uint64_t ns)
{
	const int64_t mean_ns = sums->mean_ns ? sums->mean_ns : EXACT_NS;

	sums->mean_ns =
		(uint32_t)(mean_ns + ((int64_t)(ns < INT32_MAX ? ns : INT32_MAX) - mean_ns) / 8);
}

static void add_cpu(const struct stage_call *call, uint64_t ns)
{
	const uint64_t cpu = cpu_ns() - call->cpu_ns;
	_Atomic uint64_t *to = call->sums->values;

	if (cpu > cpu_clock_cost_ns)
		stage_add(&to[STAGE_CPU], (cpu - cpu_clock_cost_ns) * call->cpu_weight);
	stage_add(&to[STAGE_TIMED], ns * call->cpu_weight);
}

OFTEN void stage_end_timed(struct stage_call *call)
{
	_Atomic uint64_t *to = call->sums->values;
	uint64_t ticks = clock_ticks() - call->begin_ticks - clock_cost_ticks, ns, read_ns;
	int64_t own_ticks, own_read_ns;

	stage_self.top = call->outer;
	stage_self.top_address = call->outer ? call->outer->address : 0;
	stage_self.untimed = call->outer_untimed;
	if (!call->number || call->life != thread_life)
		return;
	ns = clock_length_ns(ticks);
	read_ns = read_so_far() - call->read_ns;
	if (read_ns > ns)
		read_ns = 0; /* the slot was got during the call, and its counters are older */
	own_ticks = ns ? (int64_t)(ticks - call->inner_ticks) : 0;
	own_read_ns = (int64_t)(read_ns - call->inner_read_ns);
	if (call->outer) {
		call->outer->inner_ticks += call->inner_ticks + (uint64_t)own_ticks * call->weight;
		call->outer->inner_read_ns +=
			call->inner_read_ns + (uint64_t)own_read_ns * call->weight;
	}
	stage_add(&to[STAGE_BUSY], ns * call->weight);
	stage_add(&to[STAGE_OWN], (uint64_t)length_ns(own_ticks) * call->weight);
	stage_add(&to[STAGE_READ], (uint64_t)own_read_ns * call->weight);
	if (call->cpu_weight && !stages[call->number].has_inner)
		add_cpu(call, ns);
	learn(call->sums, ns);
}

bool stage_is_inside(void)
{
	const struct stage_call *call = stage_self.top;
	char here;

	for (; call && stage_self.top_address > (uintptr_t)&here; call = call->outer)
		if (!call->number || stages[call->number].facts.flags & DLPROF_STAGE_KERNEL)
			return true;
	return false;
}

uint16_t stage_current(void)
{
	char here;

	return stage_self.top && !stage_self.untimed && stage_self.top_address > (uintptr_t)&here
		       ? (uint16_t)stage_self.top->number
		       : STAGE_NONE;
}

void stage_empty(uint16_t number)
{
	atomic_store_explicit(&stages[number].gave, stages[number].got, memory_order_relaxed);
}

bool stage_is_kind(const char *kind)
{
	return strcmp(kind, "tf.data") == 0 || strcmp(kind, "DALI") == 0;
}

static void record_stage(struct thread *thread, uint16_t number)
{
	struct stage *stage = &stages[number];
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_STAGE,
		.worker = -1,
		.begin_ns = window.begin_ns,
		.task = number,
		.stage =
			{
				.parent = stage->parent,
				.flags = stage->facts.flags,
				.parallel = stage->facts.parallel,
				.capacity = stage->facts.capacity,
				.threads = stage->facts.threads,
			},
	};

	text_copy(event.stage.name, sizeof(event.stage.name), name_of(stage->path));
	thread_push(thread, &event);
	stage->life = thread_life;
}

/* Returns by how much a sum grew since the last call; 0 while it is below its value of then. */
static uint64_t take_sum(struct stage *stage, const uint64_t sums[STAGE_SUM_MAX], int which)
{
	const int64_t more = (int64_t)(sums[which] - stage->sent[which]);

	stage->sent[which] += more > 0 ? (uint64_t)more : 0;
	return more > 0 ? (uint64_t)more : 0;
}

/*
 * Extends the CPU time of the measured calls to all calls, by the ratio of both in all windows so
 * far. The few calls measured in one window may all be long, or short.
 */
static void extend_cpu(uint64_t sums[STAGE_SUM_MAX])
{
	const double timed_ns = (double)sums[STAGE_TIMED];
	const double ns = (double)sums[STAGE_OWN] * (double)sums[STAGE_CPU] / timed_ns;

	sums[STAGE_CPU] = timed_ns > 0 && ns < (double)INT64_MAX ? (uint64_t)ns : 0;
}

/* Moves the sums since the last call to *ret. Returns false if they are 0. */
static bool take_sums(uint16_t number, struct dlprof_stage_sum *ret)
{
	struct stage *stage = &stages[number];
	uint64_t sums[STAGE_SUM_MAX] = {0};

	for (uint32_t i = 0; i < ledger_total; i++)
		for (int which = 0; which < STAGE_SUM_MAX; which++)
			sums[which] += ledgers()[i].sums[number].values[which];
	extend_cpu(sums);
	*ret = (struct dlprof_stage_sum){
		.elements = take_sum(stage, sums, STAGE_ELEMENTS),
		.busy_ns = take_sum(stage, sums, STAGE_BUSY),
		.own_ns = take_sum(stage, sums, STAGE_OWN),
		.cpu_ns = stage->has_inner || !sums[STAGE_TIMED] ? UINT64_MAX
								 : take_sum(stage, sums, STAGE_CPU),
		.read_ns = take_sum(stage, sums, STAGE_READ),
		.ready = take_sum(stage, sums, STAGE_READY),
	};
	return ret->elements || ret->busy_ns;
}

static void record_sum(struct thread *thread, uint16_t number, uint64_t now_ns)
{
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_STAGE_SUM,
		.worker = -1,
		.begin_ns = window.begin_ns,
		.duration_ns = now_ns - window.begin_ns,
		.stream = window.is_mixed ? 0 : window.stream,
		.generation = window.generation,
		.task = number,
	};

	if (!take_sums(number, &event.stage_sum))
		return;
	/* The stage's own record comes before its sums. */
	if (stages[number].life != thread_life)
		record_stage(thread, number);
	thread_push(thread, &event);
}

/* Writes a window's records. `busy` is held. Returns false if the drain is too far behind. */
static bool record(uint64_t now_ns)
{
	struct thread *thread = thread_get();

	if (!thread || !thread_has_room(thread, 2 * stage_total))
		return false;
	for (uint16_t i = 1; i <= stage_total; i++)
		record_sum(thread, i, now_ns);
	if (++window.count % WINDOWS == 0)
		window.length_ns *= 2;
	window.begin_ns = now_ns;
	window.is_mixed = false;
	return true;
}

/* Begins anew in a forked child, which has inherited its parent's sums. */
static void begin_life(uint64_t now_ns)
{
	struct dlprof_stage_sum dropped;

	for (uint16_t i = 1; i <= stage_total && window.life; i++)
		take_sums(i, &dropped);
	window.begin_ns = now_ns;
	window.length_ns = WINDOW_NS;
	window.stream = 0;
	window.life = thread_life;
	window.count = 0;
	window.is_mixed = false;
}

void stage_asked(uint32_t loader, uint64_t stream, uint32_t generation)
{
	const uint64_t now_ns = clock_now_ns();
	bool is_same;

	thread_lock(&busy);
	is_same = stream == window.stream && generation == window.generation;
	if (window.life != thread_life)
		begin_life(now_ns);
	if (window.stream && window.loader != loader &&
	    (now_ns - window.begin_ns < MIXED_NS || !record(now_ns)))
		window.is_mixed = true;
	if (now_ns - window.begin_ns >= (is_same ? window.length_ns : window.length_ns / YOUNG))
		record(now_ns);
	window.loader = loader;
	window.stream = stream;
	window.generation = generation;
	thread_unlock(&busy);
}

void stage_finish(void)
{
	if (!activate_is_here() || window.life != thread_life)
		return;
	thread_lock(&busy);
	record(clock_now_ns());
	thread_unlock(&busy);
}
