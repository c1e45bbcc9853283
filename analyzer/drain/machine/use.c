/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/machine/use.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/array.h"
#include "drain/base/now.h"
#include "drain/base/process.h"
#include "drain/machine/cpus.h"

#define LEAST_NS   UINT64_C(500000000)
#define MOST_NS	   UINT64_C(20000000000)
#define KNOWN_PART 4                  /* the pause is 1/4 of the time since the first reading */
#define COST_PART  8000               /* readings may use 1/8000 of a core: 0.0125 % */
#define COST_AHEAD UINT64_C(10000000) /* CPU time that readings may use in addition to COST_PART */
#define MEMORY_PART  4000             /* readings of memory may use 1/4000 of a core */
#define MEMORY_AHEAD UINT64_C(30000000)
#define MEMORY_NS    UINT64_C(1000000000)
/* a process's memory at its start must be read within this time: later it has changed */
#define BEGIN_NS   UINT64_C(10000000000)
#define WORTH_NS   2e8 /* a worker's threads are counted if its loads took at least this long */
#define WATCHED_MOST 2
#define MEMORY_MOST  1
#define THREADS_SEEN 256
#define THREADS_KEPT 32

struct use_thread {
	int32_t tid;
	char name[16];
	int64_t base_ns, cpu_ns; /* the thread's CPU time at its first reading, and at the last */
};

struct use_process {
	struct life life;
	bool is_worker; /* false: the process takes batches */
	bool loads;
	bool is_here;
	bool is_watched;
	bool has_memory;
	/* when the process was first read, and when its memory was last read */
	uint64_t begun_ns, memory_ns;
	int64_t used_ns, waited_ns; /* sums over threads at the last reading; -1: not read yet */
	/* how long threads ran or waited since the first reading; `of_ns` at that reading */
	double wanted_ns, base_of_ns;
	int64_t base_faults;
	/* at the last reading: CPU time of children (-1: not read yet), and duration of loads */
	int64_t children_ns;
	double loaded_ns;
	struct use_row row;
	struct use_thread *threads; /* only for a process that takes batches */
	size_t thread_count;
};

static double loaded_ns(struct segment *const *segments, size_t count, const struct life *life)
{
	double ns = 0;

	for (size_t i = 0; i < count; i++) {
		const struct life other = segment_life(segments[i]);

		if (life_is(life, &other))
			ns += segments[i]->joined.loaded_ns;
	}
	return ns;
}

static struct use_process *find(struct use *use, const struct life *life)
{
	for (size_t i = 0; i < use->count; i++)
		if (life_is(&use->list[i].life, life))
			return &use->list[i];
	return NULL;
}

/* Reads a line like "VmSwap:      12 kB" of a file. Returns UNKNOWN if there is no such line. */
static int64_t read_bytes(int32_t number, const char *file, const char *name)
{
	char text[4096];
	const char *at;
	long long kib;

	process_file_read(number, file, text, sizeof(text));
	at = strstr(text, name);
	if (!at || sscanf(at + strlen(name), " %lld", &kib) != 1 || kib < 0 ||
	    kib > INT64_MAX >> 12)
		return UNKNOWN;
	return kib * 1024;
}

static void note_swap(struct use_process *process, int32_t number)
{
	const int64_t bytes = read_bytes(number, "status", "\nVmSwap:");

	if (bytes > process->row.swapped_bytes) /* UNKNOWN is less than any size */
		process->row.swapped_bytes = bytes;
}

static void note_memory(struct use_process *process, int32_t number)
{
	const int64_t bytes = read_bytes(number, "smaps_rollup", "\nPrivate_Dirty:");

	if (bytes == UNKNOWN)
		return;
	if (process->row.private_begin_bytes == UNKNOWN)
		process->row.private_begin_bytes = bytes;
	else
		process->row.private_end_bytes = bytes;
}

static struct use_thread *thread_of(struct use_process *process, int32_t tid)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].tid == tid)
			return &process->threads[i];
	if (!process->threads)
		process->threads = calloc(THREADS_SEEN, sizeof(*process->threads));
	if (!process->threads || process->thread_count == THREADS_SEEN)
		return NULL;
	process->threads[process->thread_count] = (struct use_thread){.tid = tid};
	return &process->threads[process->thread_count++];
}

static void look_at_threads(struct use_process *process, int32_t number)
{
	const bool is_base = !process->thread_count;
	struct process_stat stat;
	struct use_thread *thread;
	struct dirent *entry;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/task", number);
	folder = opendir(path);
	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.' ||
		    !process_thread_read(number, entry->d_name, &stat) ||
		    strncmp(stat.name, "dlprof", strlen("dlprof")) == 0)
			continue;
		thread = thread_of(process, atoi(entry->d_name));
		if (!thread)
			break;
		/* If its CPU time shrank, this is a new thread with the tid of an ended one. */
		if (is_base)
			thread->base_ns = stat.used_ns;
		else if (stat.used_ns < thread->cpu_ns)
			thread->base_ns = 0;
		thread->cpu_ns = stat.used_ns;
		memcpy(thread->name, stat.name, sizeof(thread->name));
	}
	closedir(folder);
}

static int by_time(const void *a, const void *b)
{
	const struct use_thread *left = a, *right = b;
	const int64_t left_ns = left->cpu_ns - left->base_ns,
		      right_ns = right->cpu_ns - right->base_ns;

	return left_ns < right_ns ? 1 : left_ns > right_ns ? -1 : left->tid - right->tid;
}

static int write_threads(struct use_process *process, struct writer *writer)
{
	int r = writer_no_threads(writer, process->life.pid);

	if (process->threads)
		qsort(process->threads, process->thread_count, sizeof(*process->threads), by_time);
	for (size_t i = 0; r == 0 && i < process->thread_count && i < THREADS_KEPT; i++) {
		const struct use_thread *thread = &process->threads[i];
		const struct thread_row row = {
			.pid = process->life.pid,
			.tid = thread->tid,
			.cpu_ns = thread->cpu_ns - thread->base_ns,
			.name = thread->name,
		};

		r = writer_thread(writer, &row);
	}
	return r;
}

/* Notes how many threads ran or waited at once. Waits of ended threads are unknown. */
static void note_threads_at_once(struct use_process *process, int32_t number,
				 const struct process_stat *stat, double of_ns)
{
	const int64_t used_ns = process_used_ns(number, stat);
	int64_t ran_ns, waited_ns;

	if (!cpus_wanted_by_all(number, &ran_ns, &waited_ns))
		return;
	if (process->used_ns < 0) {
		process->base_of_ns = of_ns;
	} else {
		process->wanted_ns += (double)(used_ns - process->used_ns);
		if (waited_ns > process->waited_ns)
			process->wanted_ns += (double)(waited_ns - process->waited_ns);
	}
	process->used_ns = used_ns;
	process->waited_ns = waited_ns;
	if (of_ns - process->base_of_ns >= WORTH_NS)
		process->row.runnable_milli =
			(int64_t)(process->wanted_ns * 1000 / (of_ns - process->base_of_ns));
}

/* Adds the CPU time of programs that a loading process started and waited for. */
static int note_children(struct use *use, struct use_process *process, struct writer *writer,
			 const struct process_stat *stat, double loaded_ns)
{
	int r = 0;

	/* Workers, too, are a training's children, so its children count only without workers. */
	if (process->children_ns >= 0 && loaded_ns > process->loaded_ns &&
	    (process->is_worker || !use->has_workers)) {
		use->children_ns += stat->children_ns - process->children_ns;
		use->children_of_ns += (int64_t)(loaded_ns - process->loaded_ns);
		r = writer_meta_number(writer, META_CHILDREN_CPU_NS, use->children_ns);
		if (r == 0)
			r = writer_meta_number(writer, META_CHILDREN_CPU_OF_NS,
					       use->children_of_ns);
	}
	process->children_ns = stat->children_ns;
	process->loaded_ns = loaded_ns;
	return r;
}

static int look(struct use *use, struct use_process *process, struct writer *writer,
		int32_t number, double loaded_ns, double now_ns)
{
	struct process_stat stat;
	int64_t cores;
	int r = 0;

	if (!process_stat_read(number, &stat) || stat.is_over)
		return 0;
	if (process->base_faults < 0)
		process->base_faults = stat.major_faults;
	if (stat.major_faults >= process->base_faults)
		process->row.major_faults = stat.major_faults - process->base_faults;
	if (process->is_watched)
		note_threads_at_once(process, number, &stat,
				     process->is_worker ? loaded_ns : now_ns);
	cores = cpus_affinity(number);
	if (cores > 0)
		process->row.cores_allowed = cores;
	note_swap(process, number);
	if (!process->is_worker) {
		look_at_threads(process, number);
		r = write_threads(process, writer);
	}
	if (r == 0)
		r = note_children(use, process, writer, &stat, loaded_ns);
	return r < 0 ? r : writer_use(writer, &process->row);
}

static struct use_process *add(struct use *use, const struct segment *segment, uint64_t now_ns)
{
	const struct life life = segment_life(segment);
	struct use_process *grown;
	size_t watched = 0;

	if (!ARRAY_GROW(use->list, use->count))
		return NULL;
	for (size_t i = 0; i < use->count; i++)
		watched += use->list[i].is_worker && use->list[i].is_watched;
	grown = &use->list[use->count++];
	*grown = (struct use_process){
		.life = life,
		.is_worker = strcmp(segment->joined.role, "worker") == 0,
		.begun_ns = now_ns,
		.used_ns = -1,
		.base_faults = -1,
		.children_ns = -1,
		.row = {life.pid, (int64_t)life.begun_ns, UNKNOWN, UNKNOWN, UNKNOWN,
			UNKNOWN, UNKNOWN, UNKNOWN},
	};
	use->has_workers |= grown->is_worker;
	grown->is_watched = !grown->is_worker || watched < WATCHED_MOST;
	return grown;
}

static void drop(struct use *use, size_t index)
{
	free(use->list[index].threads);
	use->list[index] = use->list[--use->count];
}

/* Reads the memory of one loading process. A training's memory is shared with its workers. */
static int look_at_memory(struct use *use, struct writer *writer, struct segment *const *segments,
			  size_t count, uint64_t now_ns)
{
	struct use_process *next = NULL;
	size_t watched = 0;
	int32_t number = 0;

	if (use->memory_cost_ns > MEMORY_AHEAD + (now_ns - use->begun_ns) / MEMORY_PART)
		return 0;
	for (size_t i = 0; i < use->count; i++)
		watched += use->list[i].has_memory;
	for (size_t i = 0; i < use->count; i++) {
		struct use_process *process = &use->list[i];

		if (!process->loads ||
		    (!process->has_memory &&
		     (watched >= MEMORY_MOST || now_ns - process->begun_ns > BEGIN_NS)))
			continue;
		if (process->memory_ns && now_ns - process->memory_ns <
						  within(MEMORY_NS, UINT64_MAX,
							 process->memory_ns - process->begun_ns))
			continue;
		if (!next || process->memory_ns < next->memory_ns)
			next = process;
	}
	for (size_t i = 0; next && i < count; i++)
		if (segments[i]->header->pid == next->life.pid && !segments[i]->dead)
			number = alive_number(&segments[i]->alive);
	if (!number)
		return 0;
	note_memory(next, number);
	next->has_memory = true;
	next->memory_ns = now_ns;
	return writer_use(writer, &next->row);
}

/* Until its first load or batch, a process is starting up, and not watched. */
static bool is_wanted(const struct segment *segment, double ns)
{
	if (segment->dead || segment->left_ns || segment->later_ns || !segment->joined.role)
		return false;
	return strcmp(segment->joined.role, "worker") == 0 ? ns > 0 : segment->joined.batch_ns != 0;
}

static int look_at_all(struct use *use, struct writer *writer, struct segment *const *segments,
		       size_t count, uint64_t now_ns)
{
	const bool is_due = now_ns >= use->next_ns;
	int r = 0;

	for (size_t i = 0; i < use->count; i++)
		use->list[i].is_here = false;
	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct life life = segment_life(segments[i]);
		const double ns = loaded_ns(segments, count, &life);
		const int32_t number =
			is_wanted(segments[i], ns) && segment_is_first(segments, i)
				? alive_number(&segments[i]->alive) : 0;
		struct use_process *process = find(use, &life);

		if (!number)
			continue;
		if (process && !is_due) {
			process->is_here = true;
			continue;
		}
		if (!process)
			process = add(use, segments[i], now_ns);
		if (!process)
			return 0;
		process->is_here = true;
		process->loads = ns > 0;
		r = look(use, process, writer, number, ns, (double)now_ns);
	}
	for (size_t i = use->count; i-- > 0;)
		if (!use->list[i].is_here)
			drop(use, i);
	if (is_due && use->count)
		use->next_ns = now_ns + within(LEAST_NS, MOST_NS,
					       (now_ns - use->begun_ns) / KNOWN_PART);
	return r;
}

int use_update(struct use *use, struct writer *writer, struct segment *const *segments,
	       size_t count, uint64_t now_ns)
{
	uint64_t begin_ns = cpu_ns(), middle_ns;
	int r;

	if (!use->begun_ns)
		use->begun_ns = now_ns;
	if (use->cost_ns > COST_AHEAD + (now_ns - use->begun_ns) / COST_PART)
		return 0;
	r = look_at_all(use, writer, segments, count, now_ns);
	middle_ns = cpu_ns();
	use->cost_ns += middle_ns - begin_ns;
	if (r == 0)
		r = look_at_memory(use, writer, segments, count, now_ns);
	use->memory_cost_ns += cpu_ns() - middle_ns;
	return r;
}

void use_done(struct use *use)
{
	while (use->count)
		drop(use, use->count - 1);
	free(use->list);
	*use = (struct use){0};
}
