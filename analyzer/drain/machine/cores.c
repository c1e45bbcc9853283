/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/machine/cores.h"

#include "dlprof/hash.h"
#include "drain/base/now.h"
#include "drain/machine/cpus.h"

/* The pause grows: /proc counts in 1/100 s, and /proc/stat takes milliseconds with many cores. */
#define LEAST_NS UINT64_C(400000000)
#define MOST_NS  UINT64_C(2000000000)
#define PART     4 /* the pause is 1/4 of the time measured so far */

/* Returns true if an earlier live segment belongs to the same process. */
static bool is_further(struct segment *const *segments, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (segments[i]->header->pid == segments[index]->header->pid && !segments[i]->dead)
			return true;
	return false;
}

static bool look(struct segment *const *segments, size_t count, struct cores *now)
{
	bool is_whole = true;
	int32_t root = -1;

	/* The drain's CPU time counts as the run's. */
	now->used_ns = (int64_t)cpu_ns();
	for (size_t i = 0; i < count; i++) {
		const struct dlprof_header *header = segments[i]->header;
		int64_t used_ns;

		if (segments[i]->dead || is_further(segments, i))
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
		 size_t count, uint64_t now_ns)
{
	const uint64_t pause_ns = within(LEAST_NS, MOST_NS, (uint64_t)cores->of_ns / PART);
	struct cores now = {.others_ns = cores->others_ns, .of_ns = cores->of_ns};
	int64_t busy_ns, others_ns;
	int r;

	if (cores->looked_ns && now_ns - cores->looked_ns < pause_ns)
		return 0;
	now.looked_ns = now_ns;
	now.is_known = look(segments, count, &now);
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
