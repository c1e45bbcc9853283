/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/stage.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/text.h"
#include "record/activate.h"
#include "record/segment.h"
#include "record/thread.h"

#define WINDOW_NS     UINT64_C(250000000)
#define WINDOWS	      256	/* number of windows after which their length doubles */
/* loaders that are asked in turns shorter than this share a window */
#define MIXED_NS      UINT64_C(10000000)
#define CLOCKED_NS    100000	/* CPU time is read only for stages with longer calls */
#define SHARD_COUNT   16	/* sets of sums, so that threads seldom share a cache line */
#define BUCKET_COUNT  2048
#define BUCKET_OBJECTS 8
#define NUMBER_BITS   16

struct stage {
	char path[STAGE_PATH];
	struct stage_facts facts;
	uint16_t parent;
	bool is_queue;
	uint16_t queue; /* number of the queue that gets the elements, or STAGE_NONE */
	uint32_t life;
	struct dlprof_stage_sum sent;
	/* the last call took more than CLOCKED_NS itself */
	atomic_bool is_long;
	_Atomic int64_t fill;	      /* elements in a queue */
};

/* As in struct dlprof_stage_sum. INNER is the time of calls within the stage's calls. */
enum { ELEMENTS, OWN, INNER, TIMED, CPU, READ, READY, SUM_MAX };

struct sums {
	alignas(64) _Atomic uint64_t values[SUM_MAX];
};

static struct stage stages[1 + STAGE_MAX];
static _Atomic uint32_t stage_count;
static struct sums sums[SHARD_COUNT][1 + STAGE_MAX];
/* Hash table from objects to stages. An entry is address << NUMBER_BITS | number; 0: free. */
static _Atomic uint64_t objects[BUCKET_COUNT][BUCKET_OBJECTS] __attribute__((aligned(64)));

static struct {
	uint64_t begin_ns; /* 0: there is no window */
	uint64_t length_ns;
	uint64_t stream; /* stream of the loader's newest epoch */
	uint32_t generation;
	uint32_t loader; /* number of the loader, whose iterators have different streams */
	uint32_t life;
	uint32_t count;
	bool is_mixed;
} window;

static _Atomic uint32_t busy;

/* This thread's innermost call. top_address stays valid when an exception ended that call. */
static __thread struct stage_call *top __attribute__((tls_model("initial-exec")));
static __thread uintptr_t top_address __attribute__((tls_model("initial-exec")));

static _Atomic uint64_t *bucket_of(const void *object)
{
	return objects[((uintptr_t)object >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 53];
}

/* An address that is too long for this has no stage (is_key()). */
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

	for (int i = 0; i < BUCKET_OBJECTS; i++) {
		uint64_t entry = atomic_load_explicit(&bucket[i], memory_order_relaxed);

		if ((entry ^ key) <= UINT16_MAX && entry)
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

		if (entry && (entry ^ key) <= UINT16_MAX)
			atomic_compare_exchange_strong(&bucket[i], &entry, 0);
	}
}

void stage_put(const void *object, uint16_t number)
{
	_Atomic uint64_t *bucket = bucket_of(object);

	stage_forget(object);
	if (!is_key(object) || !number)
		return;
	for (int i = 0; i < BUCKET_OBJECTS; i++) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong(&bucket[i], &none, key_of(object) | number))
			return;
	}
	note_once('w', "more objects of a loader's pipeline than dlprof tracks: what some of its "
		       "stages do is not observed");
}

static uint16_t find(const char *path, size_t length)
{
	for (uint32_t i = 1; i <= stage_count; i++)
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

/* Finds the stage's parent. Called again when stages are added, as the parent may come later. */
static void join_stages(uint16_t number)
{
	struct stage *stage = &stages[number];
	const size_t length = parent_length(stage->path);

	if (length && !stage->parent)
		stage->parent = find(stage->path, length);
	if (stages[stage->parent].is_queue)
		stage->queue = stage->parent;
}

static uint16_t add(const char *path, const struct stage_facts *facts, uint16_t within)
{
	const uint16_t number = (uint16_t)(stage_count + 1);
	struct stage *stage = &stages[number];

	if (number > STAGE_MAX || strlen(path) >= sizeof(stage->path))
		return STAGE_NONE;
	strcpy(stage->path, path);
	stage->facts = *facts;
	stage->parent = within;
	stage->is_queue = !(facts->flags & DLPROF_STAGE_KERNEL) &&
			  strncmp(name_of(path), "Prefetch", 8) == 0;
	stage->life = 0;
	atomic_store(&stage_count, number);
	for (uint16_t i = 1; i <= number; i++)
		join_stages(i);
	return number;
}

uint16_t stage_number(const char *path, const struct stage_facts *facts, uint16_t within)
{
	uint16_t number;

	thread_lock(&busy);
	number = find(path, strlen(path));
	if (!number)
		number = add(path, facts, within);
	thread_unlock(&busy);
	if (!number)
		note_once('w', "more stages in a loader's pipeline than dlprof tracks: what some "
			       "of them do is not observed");
	return number;
}

static uint64_t read_so_far(void)
{
	const struct thread *thread = thread_self;

	if (!thread || thread->life != thread_life)
		return 0;
	return thread->slot->counters[DLPROF_CLASS_READ].ns +
	       thread->slot->counters[DLPROF_CLASS_OPEN].ns;
}

void stage_begin(struct stage_call *call, uint16_t number)
{
	stage_begin_at(call, number, (uintptr_t)call);
}

void stage_begin_at(struct stage_call *call, uint16_t number, uintptr_t address)
{
	const struct stage *stage = &stages[number];

	/* An exception skipped the end of an inner call, so `top` is invalid. */
	if (unlikely(top_address && top_address <= address))
		top = NULL;
	top_address = address;
	call->address = address;
	call->outer = top;
	call->inner_ticks = call->inner_read_ns = call->cpu_ns = 0;
	call->number = number;
	call->life = thread_life;
	call->is_kernel = stage->facts.flags & DLPROF_STAGE_KERNEL;
	call->is_leaf = true;
	if (top)
		top->is_leaf = false;
	top = call;
	if (!number)
		return;
	if (unlikely(stage->is_queue)) {
		int64_t fill = atomic_load_explicit(&stage->fill, memory_order_relaxed);

		if (fill > 0)
			atomic_fetch_add_explicit(
				&sums[0][number].values[READY], (uint64_t)fill,
				memory_order_relaxed);
	}
	if (atomic_load_explicit(&stage->is_long, memory_order_relaxed))
		call->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	call->read_ns = read_so_far();
	call->begin_ticks = clock_ticks();
}

static void add_to(struct sums *to, int which, uint64_t value)
{
	if (value)
		atomic_fetch_add_explicit(&to->values[which], value, memory_order_relaxed);
}

static void count_queue(struct stage *stage)
{
	if (stage->is_queue)
		atomic_fetch_sub_explicit(&stage->fill, 1, memory_order_relaxed);
	if (stage->queue)
		atomic_fetch_add_explicit(&stages[stage->queue].fill, 1, memory_order_relaxed);
}

void stage_end(struct stage_call *call, bool has_element)
{
	struct stage *stage = &stages[call->number];
	/* Threads have thread-local variables on different pages, so mostly different sums. */
	struct sums *to = &sums[(uintptr_t)&top / 4096 % SHARD_COUNT][call->number];
	uint64_t ticks, own_ns, read_ns;

	top = call->outer;
	top_address = top ? top->address : 0;
	if (!call->number || call->life != thread_life)
		return;
	ticks = clock_ticks() - call->begin_ticks;
	own_ns = clock_length_ns(ticks - call->inner_ticks);
	read_ns = read_so_far() - call->read_ns;
	if (read_ns > clock_length_ns(ticks))
		read_ns = 0; /* the thread got its slot during the call */
	if (top) {
		top->inner_ticks += ticks;
		top->inner_read_ns += read_ns;
	}
	add_to(to, ELEMENTS, has_element);
	add_to(to, OWN, own_ns);
	add_to(to, INNER, clock_length_ns(call->inner_ticks));
	add_to(to, READ, read_ns > call->inner_read_ns ? read_ns - call->inner_read_ns : 0);
	if (call->cpu_ns && call->is_leaf) {
		add_to(to, CPU, clock_ns(CLOCK_THREAD_CPUTIME_ID) - call->cpu_ns);
		add_to(to, TIMED, own_ns);
	}
	if ((stage->is_queue || stage->queue) && has_element)
		count_queue(stage);
	/* Write only if the value changes, because other threads read is_long all the time. */
	if (unlikely((own_ns > CLOCKED_NS) !=
		     atomic_load_explicit(&stage->is_long, memory_order_relaxed)))
		atomic_store_explicit(&stage->is_long, own_ns > CLOCKED_NS, memory_order_relaxed);
}

bool stage_is_inside(void)
{
	char here;

	for (const struct stage_call *call = top;
	     call && top_address > (uintptr_t)&here; call = call->outer)
		if (call->is_kernel || !call->number)
			return true;
	return false;
}

uint16_t stage_current(void)
{
	char here;

	return top && top_address > (uintptr_t)&here ? (uint16_t)top->number : STAGE_NONE;
}

void stage_empty(uint16_t number)
{
	atomic_store_explicit(&stages[number].fill, 0, memory_order_relaxed);
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
		.stage = {
			.parent = stage->parent,
			.flags = stage->facts.flags,
			.parallel = stage->facts.parallel,
			.capacity = stage->facts.capacity,
			.threads = stage->facts.threads,
		},
	};
	struct text name;

	text_init(&name, event.stage.name, sizeof(event.stage.name));
	text_add(&name, name_of(stage->path));
	thread_push(thread, &event);
	stage->life = thread_life;
}

static uint64_t sum_of(uint16_t number, int which)
{
	uint64_t sum = 0;

	for (int i = 0; i < SHARD_COUNT; i++)
		sum += atomic_load_explicit(&sums[i][number].values[which], memory_order_relaxed);
	return sum;
}

/* Moves the sums since the last call to *ret. Returns false if they are 0. */
static bool take_sums(uint16_t number, struct dlprof_stage_sum *ret)
{
	struct dlprof_stage_sum *sent = &stages[number].sent, now = {
		.elements = sum_of(number, ELEMENTS),
		.busy_ns = sum_of(number, OWN) + sum_of(number, INNER),
		.own_ns = sum_of(number, OWN),
		.timed_ns = sum_of(number, TIMED),
		.cpu_ns = sum_of(number, CPU),
		.read_ns = sum_of(number, READ),
		.ready = sum_of(number, READY),
	};

	*ret = (struct dlprof_stage_sum){
		.elements = now.elements - sent->elements,
		.busy_ns = now.busy_ns - sent->busy_ns,
		.own_ns = now.own_ns - sent->own_ns,
		.timed_ns = now.timed_ns - sent->timed_ns,
		.cpu_ns = now.cpu_ns - sent->cpu_ns,
		.read_ns = now.read_ns - sent->read_ns,
		.ready = now.ready - sent->ready,
	};
	*sent = now;
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
	/* The stage's record comes before its sums, and again when its parent becomes known. */
	if (stages[number].life != thread_life)
		record_stage(thread, number);
	thread_push(thread, &event);
}

/* Called with `busy` held. Returns false, and the window goes on, if the drain is far behind. */
static bool record(uint64_t now_ns)
{
	struct thread *thread = thread_get();

	if (!thread || !thread_has_room_for(thread, 2 * stage_count))
		return false;
	for (uint16_t i = 1; i <= stage_count; i++)
		record_sum(thread, i, now_ns);
	if (++window.count % WINDOWS == 0)
		window.length_ns *= 2;
	window.begin_ns = now_ns;
	window.is_mixed = false;
	return true;
}

/* Drops the parent's sums in a forked child. */
static void begin_life(uint64_t now_ns)
{
	struct dlprof_stage_sum dropped;

	for (uint16_t i = 1; i <= stage_count && window.life; i++)
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

	thread_lock(&busy);
	if (window.life != thread_life)
		begin_life(now_ns);
	if (window.stream && window.loader != loader &&
	    (now_ns - window.begin_ns < MIXED_NS || !record(now_ns)))
		window.is_mixed = true;
	if (now_ns - window.begin_ns >= window.length_ns)
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
