/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/stages.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "dlprof/units.h"

static const struct {
	const char *begin;
	bool is_kernel;
	enum stage_kind kind;
} ROWS[] = {
#define STAGE(begin, kind)  {begin, false, STAGE_##kind},
#define KERNEL(begin, kind) {begin, true, STAGE_##kind},
#include "analysis/cause/stage_kinds.def"
#undef STAGE
#undef KERNEL
};

const char *const stage_kind_names[STAGE_KIND_MAX] = {
	[STAGE_READ] = "read",
	[STAGE_DECODE] = "decode",
	[STAGE_TRANSFORM] = "transform",
	[STAGE_PYTHON] = "python",
	[STAGE_BATCH] = "batch",
	[STAGE_SHUFFLE] = "shuffle",
	[STAGE_CACHE] = "cache",
	[STAGE_INTERLEAVE] = "interleave",
	[STAGE_PREFETCH] = "prefetch",
	[STAGE_READER] = "reader",
	[STAGE_OTHER] = "other",
};

enum stage_kind stage_kind_of(const char *name, bool is_kernel)
{
	for (size_t i = 0; i < ARRAY_COUNT(ROWS); i++)
		if (ROWS[i].is_kernel == is_kernel &&
		    strncmp(name, ROWS[i].begin, strlen(ROWS[i].begin)) == 0)
			return ROWS[i].kind;
	return is_kernel ? STAGE_TRANSFORM : STAGE_OTHER;
}

enum stage_kind stage_kind_find(const char *name)
{
	for (int kind = 0; kind < STAGE_KIND_MAX; kind++)
		if (strcmp(name, stage_kind_names[kind]) == 0)
			return (enum stage_kind)kind;
	return STAGE_OTHER;
}

#define MOST_DEEP    64
/* a stage waits for its input if the input takes at least this share of the stage's time */
#define INPUT_LEADS  0.5
#define INPUT_LIMITS 0.8  /* as INPUT_LEADS, for a stage with threads of its own */
#define READER_LEAST 0.2  /* readers are the limit if operators wait for them this share of time */
/* kernels are named if they take at least this share of the stage's time */
#define KERNELS_LEAST 0.3
#define BLOCKED      0.5 /* calls wait if they are off the CPU for this share of their time */
/* a thread pool is full if on average at least this share of its threads works */
#define POOL_FULL    0.7
/* calls run one after the other if, on average, at most this many run at once */
#define ONE_BY_ONE   1.3
#define HIDDEN_LEAST 0.5  /* loading ahead helps if it hides at least this share of the waiting */
#define USED_MOST    0.8  /* more threads help only if less than this share of the cores is used */
/* a cache is useless if at least this share of the elements taken from it were made again */
#define MADE_LEAST   0.9
#define LONGEST_MOST 0.67 /* caches are not judged if one epoch has more than this of all batches */
/* a cache serves if its input made hardly more elements than the longest epoch took */
#define SERVED_MOST  0.05 /* "hardly more": at most this share of all elements more */
#define SERVED_LEAST 0.03 /* a cache serves only if this share of all elements came from it */
/* later epochs hardly wait if a wait is at most this part of a step and of a first-epoch wait */
#define HARDLY       0.25
/* Python hardly waits for the interpreter if that is held for less than this share of the time */
#define HELD_MOST    0.5
/* calls are overhead if on average each takes less than this, and their kernels take little */
#define OVERHEAD_NS  2e5
#define WANTED       16   /* this many threads or calls are advised where calls mostly wait */

static const struct stage_gain none = {NAN, NAN, NAN};

struct view {
	const struct stages *stages;
	const struct stages_facts *facts;
	double batches;
	double slow_ns; /* time that other stages wait for the slow stage */
	double kernel_ns;
	double least_ns; /* time of a batch in other stages, a lower bound of any prediction */
};

static bool begins(const struct stage_work *stage, const char *name)
{
	return strncmp(stage->name, name, strlen(name)) == 0;
}

static bool is_parallel(const struct stage_work *stage)
{
	return begins(stage, "Parallel") || begins(stage, "MapAndBatch");
}

static bool calls_function(const struct stage_work *stage)
{
	return begins(stage, "Map") || begins(stage, "ParallelMap") || begins(stage, "Filter") ||
	       begins(stage, "ParallelFilter");
}

static size_t find_root(const struct stages *stages)
{
	size_t root = STAGE_NOWHERE;

	for (size_t i = 0; i < stages->count; i++)
		if (stages->list[i].is_root &&
		    (root == STAGE_NOWHERE ||
		     stages->list[i].busy_ns > stages->list[root].busy_ns))
			root = i;
	return root;
}

/* Returns the "MemoryCacheImpl" from which a "MemoryCache" `at` takes elements; else `at`. */
static size_t lower_half(const struct stages *stages, size_t at)
{
	const struct stage_work *upper = &stages->list[at], *lower = stages->list;
	const size_t length = strlen(upper->name);

	for (size_t i = 0; upper->kind == STAGE_CACHE && i < stages->count; i++, lower++)
		if (lower->parent == upper->parent && begins(lower, upper->name) &&
		    strcmp(lower->name + length, "Impl") == 0)
			return i;
	return at;
}

/* Returns the input of stage `at` that takes the most time, or STAGE_NOWHERE. */
static size_t input_of(const struct stages *stages, size_t at)
{
	size_t input = STAGE_NOWHERE;

	for (size_t i = 0; i < stages->count; i++) {
		const struct stage_work *stage = &stages->list[i];

		if (i != at && !stage->is_kernel && stage->parent == at &&
		    (input == STAGE_NOWHERE || stage->busy_ns > stages->list[input].busy_ns))
			input = i;
	}
	return input == STAGE_NOWHERE ? input : lower_half(stages, input);
}

/* Returns true if stage `at` is an interleave whose threads all work, so that `taker` waits. */
static bool is_full(const struct stages *stages, size_t at, const struct stage_work *taker)
{
	const struct stage_work *stage = &stages->list[at];
	const size_t input = input_of(stages, at);

	return begins(stage, "ParallelInterleave") && stage->parallel > 0 &&
	       input != STAGE_NOWHERE &&
	       stages->list[input].busy_ns >= INPUT_LIMITS * stage->parallel * taker->busy_ns;
}

static bool is_of_input(const struct stage_work *stage, const struct stage_work *input)
{
	if (stage->is_root || stage->kind == STAGE_PREFETCH || stage->kind == STAGE_OTHER)
		return true;
	/* An interleave's own calls only wait: its threads call the inputs. */
	if (begins(stage, "ParallelInterleave"))
		return true;
	return input->busy_ns >= (is_parallel(stage) ? INPUT_LIMITS : INPUT_LEADS) * stage->busy_ns;
}

static size_t find_slow(struct view *v, struct stage_finding *f)
{
	const struct stages *stages = v->stages;
	size_t at = find_root(stages), input;
	bool is_first = true;

	f->is_prefetched = false;
	f->opener = STAGE_NOWHERE;
	for (int depth = 0; at != STAGE_NOWHERE && depth < MOST_DEEP; depth++, at = input) {
		const struct stage_work *stage = &stages->list[at];

		/* A stage of parallel calls has threads of its own, and keeps results ready. */
		if (is_first && (stage->kind == STAGE_PREFETCH || is_parallel(stage)))
			f->is_prefetched = true;
		is_first &= stage->is_root || stage->kind == STAGE_OTHER;
		if (begins(stage, "Interleave"))
			f->opener = at;
		/* If an interleave is above this stage, other stages wait for the interleave. */
		if (!f->is_interleaved)
			v->slow_ns = stage->busy_ns;
		input = input_of(stages, at);
		if (input == STAGE_NOWHERE)
			return at;
		if (is_full(stages, input, stage)) {
			f->is_interleaved = true;
			f->asked = stages->list[input].parallel;
			continue;
		}
		if (!is_of_input(stage, &stages->list[input]))
			return at;
	}
	return at;
}

/* Returns true if the stage calls the kernel, or if the kernel's caller is unknown. */
static bool may_call(const struct stages *stages, size_t slow, const struct stage_work *kernel)
{
	return kernel->is_kernel &&
	       (kernel->parent == slow || kernel->parent == STAGE_NOWHERE ||
		calls_function(&stages->list[kernel->parent]));
}

/* Returns a stage's CPU time. Calls too short to be measured hardly wait: all their time counts. */
static double cpu_of(const struct stage_work *stage)
{
	return isnan(stage->cpu_ns) ? stage->own_ns : fmin(stage->cpu_ns, stage->own_ns);
}

/* Returns an upper bound of the time that the pipeline's Python holds the interpreter. */
static double python_of(const struct view *v, const struct stage_work *lead)
{
	double ns = lead->is_kernel ? 0 : cpu_of(lead);

	for (size_t i = 0; i < v->stages->count; i++)
		if (v->stages->list[i].is_kernel && v->stages->list[i].kind == STAGE_PYTHON)
			ns += cpu_of(&v->stages->list[i]);
	return ns;
}

/* Returns the kernel with most time of those that stage `at` may call, or STAGE_NOWHERE. */
static size_t longest_of(const struct stages *stages, size_t at, double *ret_ns)
{
	size_t longest = STAGE_NOWHERE;

	*ret_ns = 0;
	for (size_t i = 0; i < stages->count; i++) {
		if (!may_call(stages, at, &stages->list[i]))
			continue;
		*ret_ns += stages->list[i].own_ns;
		if (longest == STAGE_NOWHERE ||
		    stages->list[i].own_ns > stages->list[longest].own_ns)
			longest = i;
	}
	return longest;
}

static void find_lead(struct view *v, struct stage_finding *f)
{
	const struct stages *stages = v->stages;
	const struct stage_work *slow = &stages->list[f->slow], *lead;
	size_t longest = STAGE_NOWHERE, input = input_of(stages, f->slow);
	double cpu_ns;

	v->kernel_ns = 0;
	if (calls_function(slow))
		longest = longest_of(stages, f->slow, &v->kernel_ns);
	f->at_once = slow->busy_ns / v->slow_ns;
	f->lead = f->slow;
	f->lead_share = slow->own_ns / slow->busy_ns;
	if (v->kernel_ns >= KERNELS_LEAST * slow->busy_ns) {
		f->at_once = v->kernel_ns / v->slow_ns;
		f->lead = longest;
		f->lead_share = stages->list[longest].own_ns / v->kernel_ns;
		/* Kernels that ran while nothing waited for the stage make at_once too large. */
		if (is_parallel(slow) && f->threads > 0)
			f->at_once = fmin(f->at_once, f->threads);
		if (is_parallel(slow) && f->asked > 0)
			f->at_once = fmin(f->at_once, f->asked);
	} else {
		v->kernel_ns = 0;
	}
	lead = &stages->list[f->lead];
	f->each_ns = lead->own_ns / fmax(lead->elements, 1);
	if (f->lead == f->slow && calls_function(slow) && input != STAGE_NOWHERE) {
		f->each_ns = slow->own_ns / fmax(stages->list[input].elements, 1);
		f->is_overhead = f->each_ns < OVERHEAD_NS;
	}
	cpu_ns = lead->kind == STAGE_PYTHON ? python_of(v, lead) : cpu_of(lead);
	f->blocked_share = fmax(1 - cpu_ns / lead->own_ns, 0);
	f->is_reading = (lead->kind == STAGE_READ || lead->read_ns >= BLOCKED * lead->own_ns) &&
			f->blocked_share >= BLOCKED;
	/* Python that waits for the interpreter is off the CPU, too: steps may hold it. */
	f->is_waiting =
		f->is_reading || (lead->kind == STAGE_PYTHON && f->blocked_share >= BLOCKED &&
				  v->facts->step_ns + cpu_ns / v->batches <
					  HELD_MOST * (v->facts->wait_ns + v->facts->step_ns));
}

static double floor_of(const struct view *v)
{
	double ns = 0;

	for (size_t i = 0; i < v->stages->count; i++) {
		const struct stage_work *stage = &v->stages->list[i];

		if (stage->is_kernel || !isnan(stage->cpu_ns))
			ns += cpu_of(stage);
	}
	return v->facts->cores > 0 ? ns / v->batches / v->facts->cores : 0;
}

/* Returns the gain if the slow stage takes `load_ns` a batch, and not slow_ns / batches as now. */
static double gain_of(const struct view *v, const struct stage_finding *f, double load_ns)
{
	const struct stages_facts *facts = v->facts;
	const double factor = fmax(load_ns, v->least_ns) * v->batches / v->slow_ns;
	double now_ns = facts->wait_ns + facts->step_ns;
	double then_ns = f->is_prefetched ? fmax(now_ns * factor, facts->step_ns)
					  : facts->wait_ns * factor + facts->step_ns;

	return fmax(now_ns / then_ns - 1, 0);
}

/* Predicts the gain of `count` calls at once, which a storage or server may limit. */
static void price_calls(const struct view *v, const struct stage_finding *f, int32_t count,
			double next_ns, struct stage_gain *ret)
{
	const struct stage_work *slow = &v->stages->list[f->slow];
	const struct stage_work *lead = &v->stages->list[f->lead];
	/* If kernels take less time than the slow stage, the rest of its time is in calls, too. */
	const double all_ns =
		fmax(v->kernel_ns > 0 ? v->kernel_ns : slow->busy_ns, v->slow_ns) / v->batches;
	const double blocked_ns = f->blocked_share * lead->own_ns / v->batches;
	const double busy_ns = fmax(all_ns - blocked_ns, 0);
	/* A Python interpreter runs only one thread at a time. */
	const double most = lead->kind == STAGE_PYTHON ? 1 : v->facts->cores;
	const double cores = v->facts->cores > 0 ? fmin(most, count) : 1;
	const double least_ns = fmax(floor_of(v), next_ns);

	if (count <= f->at_once)
		return;
	ret->high = gain_of(v, f, fmax(all_ns / count, least_ns));
	ret->gain = gain_of(v, f, fmax(blocked_ns / count + busy_ns / cores, least_ns));
	ret->gain = fmin(ret->gain, ret->high);
	ret->low = f->blocked_share >= BLOCKED ? 0 : fmin(ret->gain, ret->high / 2);
}

static void price_cheaper(const struct view *v, const struct stage_finding *f,
			  struct stage_gain *ret)
{
	const double load_ns = v->slow_ns / v->batches;

	ret->high = gain_of(v, f, load_ns * (1 - f->lead_share));
	ret->gain = gain_of(v, f, load_ns * (1 - f->lead_share / 2));
	ret->low = 0;
}

/* Loading ahead needs as much CPU as before, in less time: only idle cores show that it gains. */
static void price_prefetch(const struct view *v, struct stage_gain *ret)
{
	const struct stages_facts *facts = v->facts;
	const double now_ns = facts->wait_ns + facts->step_ns;
	const double then_ns = fmax(facts->wait_ns, facts->step_ns);
	const double cpu_ns = facts->used_cores * now_ns;
	const bool is_idle = cpu_ns < USED_MOST * facts->free_cores * then_ns;

	ret->high = fmax(now_ns / fmax(then_ns, cpu_ns / facts->cores) - 1, 0);
	ret->gain = is_idle ? ret->high : sqrt(1 + ret->high) - 1;
	ret->low = is_idle ? ret->high / 2 : 0;
}

/* Returns a batch's kernel time divided by all threads. More calls at once cannot beat it. */
static double next_of(const struct view *v, const struct stage_finding *f)
{
	double ns = 0, threads = f->threads > 0 ? f->threads : fmax(v->facts->cores, 1);

	/* Generators run in the pool, which is to have a thread for each. */
	if (f->is_waiting && v->stages->list[f->lead].kind == STAGE_PYTHON)
		threads = fmax(threads, f->wanted);
	for (size_t i = 0; i < v->stages->count && v->kernel_ns <= 0; i++)
		if (v->stages->list[i].is_kernel)
			ns += v->stages->list[i].own_ns;
	return ns / v->batches / threads;
}

static bool is_serial(const struct stages *stages, const struct stage_finding *f)
{
	const struct stage_work *slow = &stages->list[f->slow];

	if (f->at_once > ONE_BY_ONE || (is_parallel(slow) && f->asked != 1) || f->is_interleaved)
		return false;
	return f->opener != STAGE_NOWHERE || slow->kind == STAGE_PYTHON ||
	       slow->kind == STAGE_READ || slow->kind == STAGE_INTERLEAVE || calls_function(slow);
}

/* Returns true if the pool's threads mostly wait in calls of a stage that may run several. */
static bool is_pool_narrow(const struct stages *stages, const struct stage_finding *f)
{
	const struct stage_work *slow = &stages->list[f->slow];

	return is_parallel(slow) && calls_function(slow) && f->threads > 0 && f->is_waiting &&
	       f->at_once >= POOL_FULL * f->threads && f->threads < WANTED && f->asked != 1;
}

/* Returns true if the program asks for fewer calls at once than threads and cores allow. */
static bool are_calls_few(const struct view *v, const struct stage_finding *f)
{
	const struct stage_work *slow = &v->stages->list[f->slow];
	const struct stages_facts *facts = v->facts;

	return is_parallel(slow) && calls_function(slow) && f->asked > 1 &&
	       f->asked < f->threads && f->at_once >= POOL_FULL * f->asked &&
	       (f->is_waiting || facts->used_cores < USED_MOST * facts->free_cores);
}

static enum stage_limit limit_of(const struct view *v, const struct stage_finding *f)
{
	const double hidden_ns = fmin(v->facts->wait_ns, v->facts->step_ns);

	if (!f->is_prefetched && hidden_ns >= HIDDEN_LEAST * v->facts->wait_ns)
		return STAGE_LIMIT_PREFETCH;
	if (is_pool_narrow(v->stages, f))
		return STAGE_LIMIT_POOL;
	if (is_serial(v->stages, f))
		return STAGE_LIMIT_SERIAL;
	return STAGE_LIMIT_WORK;
}

static void price(struct view *v, struct stage_finding *f)
{
	const struct stage_work *slow = &v->stages->list[f->slow];

	price_cheaper(v, f, &f->cheaper);
	if (!f->is_prefetched)
		price_prefetch(v, &f->prefetch);
	if (is_pool_narrow(v->stages, f)) {
		f->wanted = f->asked > f->threads && f->asked < WANTED ? f->asked : WANTED;
		price_calls(v, f, f->wanted, 0, &f->own_threads);
	} else if (are_calls_few(v, f)) {
		f->wanted = f->threads;
		price_calls(v, f, f->wanted, 0, &f->parallel);
	} else if (is_serial(v->stages, f)) {
		f->wanted = 4;
		if (f->opener != STAGE_NOWHERE && v->stages->list[f->opener].capacity > 1)
			f->wanted = v->stages->list[f->opener].capacity;
		else if (calls_function(slow) && f->threads > 0) /* in threads of the pool */
			f->wanted = f->is_waiting && f->threads < WANTED ? WANTED : f->threads;
		/* An interpreter runs one thread: more calls at once gain only if they wait. */
		if (f->is_waiting || v->stages->list[f->lead].kind != STAGE_PYTHON)
			price_calls(v, f, f->wanted, next_of(v, f), &f->parallel);
	}
}

static size_t find_named(const struct stages *stages, const char *name)
{
	for (size_t i = 0; i < stages->count; i++)
		if (strcmp(stages->list[i].name, name) == 0)
			return i;
	return STAGE_NOWHERE;
}

static double busy_of(const struct stages *stages, const char *name)
{
	const size_t at = find_named(stages, name);

	return at == STAGE_NOWHERE ? 0 : stages->list[at].busy_ns;
}

/* Predicts a gain between none and `high`. */
static struct stage_gain up_to(double high)
{
	return (struct stage_gain){.gain = sqrt(1 + high) - 1, .low = 0, .high = high};
}

/* Returns true if stage `at` feeds stage `above`, directly or through other stages. */
static bool is_below(const struct stages *stages, size_t at, size_t above)
{
	for (int depth = 0; at != STAGE_NOWHERE && depth < MOST_DEEP; depth++) {
		at = stages->list[at].parent;
		if (at == above)
			return true;
	}
	return false;
}

/* Returns the endless repeat() that feeds `cache`, so that it never fills; or STAGE_NOWHERE. */
static size_t endless_below(const struct stages *stages, size_t cache)
{
	size_t at = input_of(stages, cache);

	for (int depth = 0; at != STAGE_NOWHERE && depth < MOST_DEEP; depth++) {
		const struct stage_work *stage = &stages->list[at];

		if (begins(stage, "ForeverRepeat"))
			return at;
		if (stage->kind != STAGE_TRANSFORM && stage->kind != STAGE_PREFETCH &&
		    stage->kind != STAGE_SHUFFLE && stage->kind != STAGE_BATCH)
			return STAGE_NOWHERE;
		at = input_of(stages, at);
	}
	return STAGE_NOWHERE;
}

/* Returns true if the input made nearly all elements that the cache gave, also in later epochs. */
static bool is_made_anew(const struct view *v, size_t cache)
{
	const size_t input = input_of(v->stages, cache);

	return v->facts->longest_epoch <= LONGEST_MOST && input != STAGE_NOWHERE &&
	       v->stages->list[input].elements >= MADE_LEAST * v->stages->list[cache].elements;
}

/* Returns true if one epoch filled the cache, and the others took its elements. */
static bool serves(const struct view *v, size_t cache)
{
	const size_t input = input_of(v->stages, cache);

	return v->facts->later_ns >= 0 && input != STAGE_NOWHERE &&
	       v->stages->list[input].elements <=
		       fmin(v->facts->longest_epoch + SERVED_MOST, 1 - SERVED_LEAST) *
			       v->stages->list[cache].elements;
}

/* Judges a cache that serves. After the first epoch, faster stages below it would gain nothing. */
static void judge_served(const struct view *v, size_t cache, struct stage_finding *f)
{
	const struct stages_facts *facts = v->facts;

	f->own_threads = f->parallel = f->prefetch = f->cheaper = none;
	f->is_served = facts->later_ns > HARDLY * fmin(facts->first_ns, facts->step_ns);
	if (f->is_served)
		return;
	f->limit = STAGE_LIMIT_FILLING;
	f->first_ns = facts->first_ns;
	f->later_ns = facts->later_ns;
	f->cache = cache;
	f->kept = up_to(fmax(
		(facts->wait_ns + facts->step_ns) / fmax(facts->later_ns + facts->step_ns, 1) - 1,
		0));
}

/*
 * Finds a useless cache: the slow stage that feeds it runs in each epoch. The gain assumes that the
 * longest epoch fills the cache, and the range's upper end that it is always full.
 */
static void find_cache(const struct view *v, struct stage_finding *f)
{
	const struct stages *stages = v->stages;

	for (size_t i = 0; i < stages->count; i++) {
		if (stages->list[i].kind != STAGE_CACHE)
			continue;
		if (!stages->is_later && serves(v, i)) {
			judge_served(v, i, f);
			return;
		}
		if (!is_below(stages, f->slow, i))
			continue;
		f->endless = endless_below(stages, i);
		if (f->endless == STAGE_NOWHERE && !is_made_anew(v, i))
			continue;
		f->cache = i;
		f->cached = up_to(gain_of(v, f, 0));
		if (f->endless == STAGE_NOWHERE)
			f->cached.gain = gain_of(v, f, v->slow_ns / v->batches *
							       v->facts->longest_epoch);
		return;
	}
}

static void judge_reader(struct view *v, size_t reader, double reader_ns, double operators_ns,
			 struct stage_finding *f)
{
	const struct stages *stages = v->stages;
	double ns;

	f->slow = reader;
	f->lead = longest_of(stages, reader, &ns);
	if (f->lead == STAGE_NOWHERE)
		f->lead = reader;
	v->slow_ns = reader_ns;
	f->lead_share = fmin(stages->list[f->lead].own_ns / stages->list[reader].busy_ns, 1);
	f->limit = STAGE_LIMIT_SERIAL;
	f->wanted = (int32_t)fmin(2 * stages->list[reader].busy_ns / reader_ns, INT16_MAX);
	/* With a second pipeline, more operators run at once, but on the same cores. */
	v->least_ns = v->facts->used_cores / v->facts->cores *
		      (v->facts->wait_ns + v->facts->step_ns);
	f->parallel = up_to(gain_of(v, f, v->slow_ns / 2 / v->batches));
	v->least_ns = operators_ns / v->batches;
}

/* Judges operators that run one after the other, each in all threads of the pool. */
static void judge_operators(struct view *v, size_t root, double reader_ns, double wait_ns,
			    struct stage_finding *f)
{
	const struct stages_facts *facts = v->facts;
	double ns;

	v->least_ns = reader_ns / v->batches;
	f->lead = longest_of(v->stages, root, &ns);
	if (f->lead == STAGE_NOWHERE)
		return;
	f->slow = root;
	v->slow_ns = ns + wait_ns;
	f->lead_share = v->stages->list[f->lead].own_ns / v->slow_ns;
	f->limit = STAGE_LIMIT_WORK;
	/* Operators in Python run in one thread only. */
	if (v->stages->list[f->lead].kind != STAGE_PYTHON &&
	    facts->used_cores < USED_MOST * facts->free_cores)
		f->parallel = up_to(
			gain_of(v, f, v->slow_ns / v->batches * facts->used_cores / facts->cores));
}

/* Judges a pipeline of DALI. Waits outside of DALI's own calls are for a source in Python. */
static void judge_dali(struct view *v, size_t root, struct stage_finding *f)
{
	const struct stages *stages = v->stages;
	const size_t reader = find_named(stages, "DataReader");
	const double waited_ns = v->facts->wait_ns * v->batches;
	const double waiting_ns = busy_of(stages, "ConsumerWait");
	/* Each reader has a thread of its own. */
	const double reader_ns =
		reader == STAGE_NOWHERE
			? 0
			: stages->list[reader].busy_ns /
				  fmax(round(stages->list[reader].elements / v->batches), 1);
	double operators_ns;

	f->maker = STAGES_DALI;
	f->is_prefetched = true;
	f->at_once = 1;
	longest_of(stages, root, &operators_ns);
	f->callback_share =
		1 - (stages->list[root].busy_ns + busy_of(stages, "Launch")) / waited_ns;
	if (f->callback_share >= INPUT_LEADS) {
		f->slow = f->lead = root;
		v->slow_ns = waited_ns + v->facts->step_ns * v->batches;
		f->lead_share = f->callback_share * waited_ns / v->slow_ns;
		f->limit = STAGE_LIMIT_WORK;
		f->parallel = up_to(gain_of(v, f, v->slow_ns / v->batches * (1 - f->lead_share)));
		return;
	}
	f->callback_share = 0;
	/* Where several readers differ, operators wait for the slowest one. */
	if (reader_ns > 0 && (reader_ns >= operators_ns ||
			      waiting_ns >= READER_LEAST * (operators_ns + waiting_ns)))
		judge_reader(v, reader, reader_ns, operators_ns, f);
	else
		judge_operators(v, root, reader_ns, waiting_ns, f);
	if (f->limit == STAGE_LIMIT_UNKNOWN)
		return;
	f->each_ns = stages->list[f->lead].own_ns / fmax(stages->list[f->lead].elements, 1);
	f->blocked_share = 1 - cpu_of(&stages->list[f->lead]) / stages->list[f->lead].own_ns;
	f->is_reading = stages->list[f->lead].read_ns >= BLOCKED * stages->list[f->lead].own_ns;
	price_cheaper(v, f, &f->cheaper);
}

void stages_judge(const struct stages *stages, const struct stages_facts *facts,
		  struct stage_finding *ret)
{
	struct view v = {.stages = stages, .facts = facts};
	size_t root = find_root(stages);

	*ret = (struct stage_finding){
		.slow = STAGE_NOWHERE,
		.lead = STAGE_NOWHERE,
		.opener = STAGE_NOWHERE,
		.cache = STAGE_NOWHERE,
		.endless = STAGE_NOWHERE,
		.asked = -1,
		.threads = -1,
		.own_threads = none,
		.parallel = none,
		.prefetch = none,
		.cheaper = none,
		.cached = none,
		.kept = none,
	};
	if (root == STAGE_NOWHERE || !(facts->wait_ns > 0) || !(facts->step_ns >= 0))
		return;
	v.batches = stages->list[root].elements;
	if (strcmp(stages->list[root].name, "PopOutputs") == 0 ||
	    strcmp(stages->list[root].name, "RunCPU") == 0) {
		if (v.batches > 0)
			judge_dali(&v, root, ret);
		return;
	}
	ret->slow = find_slow(&v, ret);
	if (ret->slow == STAGE_NOWHERE || ret->slow == root || !(v.batches > 0) ||
	    !(stages->list[ret->slow].busy_ns > 0))
		return;
	if (!stages->list[ret->slow].is_autotuned && !ret->is_interleaved)
		ret->asked = stages->list[ret->slow].parallel;
	ret->threads = stages->list[root].threads;
	find_lead(&v, ret);
	ret->limit = limit_of(&v, ret);
	price(&v, ret);
	find_cache(&v, ret);
}

void stages_done(struct stages *stages)
{
	free(stages->list);
	*stages = (struct stages){0};
}
