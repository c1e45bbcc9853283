/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/machine/neighbours.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/statistics/array.h"
#include "dlprof/hash.h"
#include "dlprof/units.h"
#include "drain/base/now.h"
#include "drain/base/process.h"
#include "drain/machine/cpus.h"

/* Pauses are long, and grow: a reading may take milliseconds, and CPU times are in 1/100 s. */
#define CORES_LEAST_NS UINT64_C(400000000)
#define CORES_MOST_NS  UINT64_C(2000000000)
#define CORES_PART     4 /* the pause is 1/4 of the time measured so far */

static bool look_at_cores(struct segment *const *segments, size_t count, struct cores *now)
{
	bool is_whole = true;
	int32_t root = -1;

	/* The drain's CPU time counts as that of the run. */
	now->used_ns = (int64_t)cpu_ns();
	for (size_t i = 0; i < count; i++) {
		const struct dlprof_header *header = segments[i]->header;
		int64_t used_ns;

		if (segments[i]->dead || !segment_is_first(segments, i))
			continue;
		if (header->flags & DLPROF_SEGMENT_ROOT)
			root = segments[i]->alive.is_found ? header->pid : -1;
		used_ns = cpus_used_ns(segments[i]->alive.proc_pid, header->start_ticks);
		is_whole &= used_ns >= 0;
		now->used_ns += used_ns;
		now->who += hash_word(0, (uint64_t)header->pid) ^ header->start_ticks;
	}
	now->busy_ns = root < 0 ? -1 : cpus_busy_ns("", root);
	return is_whole && now->busy_ns >= 0;
}

int cores_update(struct cores *cores, struct writer *writer, struct segment *const *segments,
		 size_t count, uint64_t opened, uint64_t now_ns)
{
	const uint64_t pause_ns =
		within(CORES_LEAST_NS, CORES_MOST_NS, (uint64_t)cores->of_ns / CORES_PART);
	struct cores now = {
		.who = opened, .others_ns = cores->others_ns, .of_ns = cores->of_ns};
	int64_t busy_ns, others_ns;
	int r;

	if (cores->looked_ns && now_ns - cores->looked_ns < pause_ns)
		return 0;
	now.looked_ns = now_ns;
	now.is_known = look_at_cores(segments, count, &now);
	busy_ns = cores->looked_ns && cores->busy_ns >= 0 && now.busy_ns >= 0
			  ? now.busy_ns - cores->busy_ns
			  : (int64_t)NS_PER_S;
	others_ns = busy_ns - (now.used_ns - cores->used_ns);
	if (!now.is_known || !cores->is_known || now.who != cores->who) {
		now.most_ns = cores->most_ns + busy_ns;
		*cores = now;
		return 0;
	}
	now.most_ns = cores->most_ns + others_ns;
	now.others_ns += others_ns;
	now.of_ns += (int64_t)(now_ns - cores->looked_ns);
	*cores = now;
	r = writer_meta_number(writer, META_OTHER_CPU_NS, now.others_ns > 0 ? now.others_ns : 0);
	return r < 0 ? r : writer_meta_number(writer, META_OTHER_CPU_OF_NS, now.of_ns);
}

#define LEAST_NS  UINT64_C(500000000)
#define MOST_NS   UINT64_C(4000000000)
#define PART      4    /* the pause is 1/4 of the time observed so far */
#define COST_PART 2000 /* readings may use 1/2000 of a core */
#define WORTH_NS  5e7  /* CPU time that others must have used before all processes are read */
#define ACTIVE    0.01 /* a process that used less than 1/100 core is ignored */

struct neighbour {
	int32_t pid;
	uint64_t start_ticks;
	int64_t used_ns;
	int64_t ran_ns, waited_ns; /* of its main thread, or all threads; -1: not read */
	int kind;                  /* index in `kinds`, or a KIND_* */
	/* not recorded, but started by the run's first process or by a helper */
	bool is_helper;
	double helped_ns; /* how long a helper ran or waited, since its first reading */
};

#define KIND_UNKNOWN (-1)
#define KIND_MAIN    (-2)
#define KIND_WORKER  (-3)
#define IS_OWN(kind) ((kind) < KIND_UNKNOWN)

/* Returns the scheduler's weight for a nice value: each step is a factor of 1.25. */
static double weight_of(int nice)
{
	return pow(1.25, -nice);
}

/* Finds or makes a kind of neighbours. Without room, returns the last kind with this `is_group`. */
static int find_kind(struct neighbours *n, bool is_group, uint64_t who, double weight)
{
	size_t most = is_group ? NEIGHBOURS_GROUPS : NEIGHBOURS_WEIGHTS, of_sort = 0, i;

	for (i = 0; i < n->kind_count; i++) {
		of_sort += n->kinds[i].is_group == is_group;
		if (n->kinds[i].is_group == is_group && (n->kinds[i].who == who || of_sort == most))
			return (int)i;
	}
	n->kinds[n->kind_count++] =
		(struct neighbour_kind){.is_group = is_group, .who = who, .weight = weight};
	return (int)i;
}

static int kind_of(struct neighbours *n, int32_t pid, int nice)
{
	struct cpus_group group;

	cpus_group("", pid, &group);
	if (strcmp(group.name, n->group.name) == 0)
		return find_kind(n, false, (uint64_t)(nice + 64), weight_of(nice - n->nice));
	return find_kind(n, true, hash_bytes(HASH_BEGIN, group.name, strlen(group.name)),
			 weight_of(group.nice - n->group.nice));
}

static int own_kind(struct segment *const *segments, size_t count, int32_t pid, int kind)
{
	for (size_t i = 0; i < count; i++)
		if (!segments[i]->dead && segments[i]->alive.is_found &&
		    segments[i]->alive.proc_pid == pid)
			return segments[i]->header->flags & DLPROF_SEGMENT_ROOT ? KIND_MAIN
										: KIND_WORKER;
	return IS_OWN(kind) ? KIND_UNKNOWN : kind;
}

static int32_t find_root(struct segment *const *segments, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!segments[i]->dead && segments[i]->alive.is_found &&
		    segments[i]->header->flags & DLPROF_SEGMENT_ROOT)
			return segments[i]->alive.proc_pid;
	return 0;
}

/* Adds how long a process ran and waited for a core since its last reading `old` (NULL: none). */
static void add(struct neighbours *n, const struct neighbour *old, struct neighbour *now,
		const struct process_stat *stat, uint64_t span_ns)
{
	const double used_ns = (double)(now->used_ns - (old ? old->used_ns : 0));
	const int own = now->kind == KIND_WORKER;
	double ran_ns, waited_ns;
	bool asked;

	if (used_ns < ACTIVE * (double)span_ns && !IS_OWN(now->kind))
		return;
	if (now->kind == KIND_UNKNOWN)
		now->kind = kind_of(n, now->pid, stat->nice);
	asked = stat->threads == 1 || IS_OWN(now->kind)
			? cpus_wanted(now->pid, &now->ran_ns, &now->waited_ns)
			: cpus_wanted_by_all(now->pid, &now->ran_ns, &now->waited_ns);
	if (!asked)
		now->ran_ns = -1;
	if (now->kind == KIND_MAIN && old)
		n->main_ns += used_ns;
	if (!IS_OWN(now->kind))
		n->kinds[now->kind].used_ns += used_ns;
	if (!asked || !old || old->ran_ns < 0 || now->ran_ns < old->ran_ns ||
	    now->waited_ns < old->waited_ns)
		return;
	ran_ns = (double)(now->ran_ns - old->ran_ns);
	waited_ns = (double)(now->waited_ns - old->waited_ns);
	if (IS_OWN(now->kind)) {
		n->ran_ns[own] += ran_ns;
		n->waited_ns[own] += waited_ns;
	} else {
		n->kinds[now->kind].ran_ns += ran_ns;
		n->kinds[now->kind].waited_ns += waited_ns;
	}
}

/* Returns the CPU time; in exact ns for the run's first process, which may sleep much. */
static int64_t own_used_ns(const struct neighbour *n, const struct process_stat *stat)
{
	return n->kind == KIND_MAIN ? process_used_ns(n->pid, stat) : stat->used_ns;
}

static void look_at_own(struct neighbours *n)
{
	struct process_stat stat;

	for (size_t i = 0; i < n->count; i++) {
		const struct neighbour old = n->list[i];

		if (!IS_OWN(old.kind) || !process_stat_read(old.pid, &stat) ||
		    stat.start_ticks != old.start_ticks)
			continue;
		n->list[i].used_ns = own_used_ns(&old, &stat);
		add(n, &old, &n->list[i], &stat, 0);
	}
}

static int by_pid(const void *a, const void *b)
{
	const struct neighbour *left = a, *right = b;

	return left->pid < right->pid ? -1 : left->pid > right->pid;
}

/* Returns true if the parent is the run's first process or, in `list`, a helper. */
static bool has_parent(const struct neighbour *list, size_t used, int32_t parent)
{
	const struct neighbour wanted = {.pid = parent};
	const struct neighbour *found =
		used ? bsearch(&wanted, list, used, sizeof(*list), by_pid) : NULL;

	return found && (found->kind == KIND_MAIN || found->is_helper);
}

/* Adds what a helper ran and waited since its last reading. Keeps the sum of the busiest one. */
static void add_helper(struct neighbours *n, const struct neighbour *old, struct neighbour *now)
{
	if (!now->is_helper || !old)
		return;
	n->helpers_ns += (double)(now->used_ns - old->used_ns);
	now->helped_ns = old->helped_ns + (double)(now->used_ns - old->used_ns);
	if (old->ran_ns >= 0 && now->ran_ns >= old->ran_ns && now->waited_ns > old->waited_ns)
		now->helped_ns += (double)(now->waited_ns - old->waited_ns);
	n->helper_ns = fmax(n->helper_ns, now->helped_ns);
}

static int look_at_all(struct neighbours *n, struct segment *const *segments, size_t count,
		       uint64_t now_ns)
{
	const uint64_t span_ns = n->all_ns ? now_ns - n->all_ns : 0;
	const int32_t self = getpid();
	struct neighbour *list = NULL;
	size_t used = 0, at = 0;
	struct process_stat stat;
	struct dirent *entry;
	DIR *folder = opendir("/proc");

	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		struct neighbour now = {.pid = atoi(entry->d_name), .ran_ns = -1, .kind = -1};
		const struct neighbour *old = NULL;

		/* The drain's CPU time counts as that of the run. */
		if (now.pid <= 0 || now.pid == self || !process_stat_read(now.pid, &stat))
			continue;
		now.start_ticks = stat.start_ticks;
		/* Old and new list are sorted by pid, since /proc lists processes in this order. */
		while (at < n->count && n->list[at].pid < now.pid)
			at++;
		if (at < n->count && n->list[at].pid == now.pid &&
		    n->list[at].start_ticks == now.start_ticks) {
			old = &n->list[at];
			now.kind = old->kind;
			now.ran_ns = old->ran_ns;
			now.waited_ns = old->waited_ns;
		}
		now.kind = own_kind(segments, count, now.pid, now.kind);
		now.used_ns = own_used_ns(&now, &stat);
		/* A parent is in `list` before its children, unless pids have started over. */
		now.is_helper = !IS_OWN(now.kind) && has_parent(list, used, stat.parent);
		if (span_ns || IS_OWN(now.kind))
			add(n, old, &now, &stat, span_ns);
		add_helper(n, old, &now);
		if (!ARRAY_GROW(list, used)) {
			closedir(folder);
			free(list);
			return -ENOMEM;
		}
		list[used++] = now;
	}
	closedir(folder);
	free(n->list);
	n->list = list;
	n->count = used;
	n->all_ns = now_ns;
	return 0;
}

/* Reads all processes if others used enough CPU time since all were last read, else the run's. */
static int look(struct neighbours *n, struct segment *const *segments, size_t count,
		int64_t others_ns, uint64_t now_ns)
{
	const double worth_ns = fmax(WORTH_NS, ACTIVE * (double)(now_ns - n->all_ns));
	int r = 0;

	if (!n->all_ns || (double)(others_ns - n->others_ns) >= worth_ns) {
		r = look_at_all(n, segments, count, now_ns);
		n->others_ns = others_ns;
	} else {
		look_at_own(n);
	}
	if (r < 0)
		return r;
	n->of_ns += n->seen_ns ? (double)(now_ns - n->seen_ns) : 0;
	n->seen_ns = now_ns;
	n->is_new = true;
	return 0;
}

static bool find_group(struct neighbours *n, struct segment *const *segments, size_t count)
{
	const int32_t root = find_root(segments, count);

	if (!root)
		return false;
	cpus_group("", root, &n->group);
	errno = 0;
	n->nice = getpriority(PRIO_PROCESS, (id_t)root);
	n->is_known = n->nice != -1 || !errno;
	return n->is_known;
}

static int write_all(const struct neighbours *n, struct writer *writer)
{
	const struct {
		enum meta key;
		double ns;
	} rows[] = {
		{META_MAIN_CPU_NS, n->main_ns},
		{META_MAIN_CPU_OF_NS, n->of_ns},
		{META_HELPER_WANTED_NS, n->helper_ns},
		{META_HELPERS_CPU_NS, n->helpers_ns},
		{META_MAIN_RAN_NS, n->ran_ns[0]},
		{META_MAIN_WAITED_NS, n->waited_ns[0]},
		{META_WORKERS_RAN_NS, n->ran_ns[1]},
		{META_WORKERS_WAITED_NS, n->waited_ns[1]},
	};
	char text[NEIGHBOURS_KINDS * 64] = "";
	size_t used = 0;
	int r;

	for (size_t i = 0; i < n->kind_count; i++) {
		const struct neighbour_kind *kind = &n->kinds[i];
		const double cores = kind->used_ns / n->of_ns;
		/* Waits are known of processes read twice. The others are taken to wait alike. */
		const double ratio = kind->ran_ns > 0 ? kind->waited_ns / kind->ran_ns : 0;

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%c %.4f %.3f %.3f",
					 i ? ";" : "", kind->is_group ? 'g' : 't', kind->weight,
					 cores, cores * (1 + ratio));
	}
	r = writer_meta(writer, META_NEIGHBOURS, text);
	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(rows); i++)
		r = writer_meta_number(writer, rows[i].key, (int64_t)rows[i].ns);
	return r;
}

static uint64_t newest_batch(struct segment *const *segments, size_t count)
{
	uint64_t newest_ns = 0;

	for (size_t i = 0; i < count; i++)
		if (segments[i]->joined.batch_ns > newest_ns)
			newest_ns = segments[i]->joined.batch_ns;
	return newest_ns;
}

int neighbours_update(struct neighbours *n, struct writer *writer, struct segment *const *segments,
		      size_t count, int64_t others_ns, uint64_t now_ns)
{
	const uint64_t begin_ns = cpu_ns(), batch_ns = newest_batch(segments, count);
	uint64_t least_ns;
	int r = 0;

	if (n->is_new && batch_ns > n->seen_ns) {
		n->is_new = false;
		if (n->of_ns > 0)
			r = write_all(n, writer);
	}
	if (r < 0 || !batch_ns || now_ns < n->next_ns ||
	    (!n->is_known && !find_group(n, segments, count)))
		return r;
	r = look(n, segments, count, others_ns, now_ns);
	if (r < 0)
		return r == -ENOMEM ? 0 : r;
	n->pause_ns += (cpu_ns() - begin_ns) * COST_PART;
	/* The first reading has no earlier one to compare with, so the second comes at once. */
	if (!(n->of_ns > 0))
		return 0;
	least_ns = within(LEAST_NS, MOST_NS, (uint64_t)n->of_ns / PART);
	n->next_ns = now_ns + within(least_ns, UINT64_MAX, n->pause_ns);
	n->pause_ns = 0;
	return 0;
}

void neighbours_done(struct neighbours *n)
{
	free(n->list);
	n->list = NULL;
	n->count = 0;
	n->seen_ns = n->all_ns = 0;
}
