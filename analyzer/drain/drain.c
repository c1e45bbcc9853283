/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/drain.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>

#include "drain/base/now.h"
#include "drain/batches/sampler.h"
#include "drain/batches/totals.h"
#include "drain/modules/hidden.h"
#include "drain/modules/stacks.h"
#include "drain/state.h"
#include "store/database/db_open.h"
#include "store/run/query.h"

#define MS UINT64_C(1000000)

/* longest pause between commits; a record becomes a row of the database by the second commit */
#define ROUND_MS     450
#define GLANCE_MS    225 /* pause between checks of rings and processes while the drain sleeps */
#define AGAIN_MS     100
#define HURRY_MS     2     /* shortest pause between rounds, if rings fill fast */
#define TALLY_MS     10000 /* pause between readings of the tallies, which cannot get lost */
/* after STACKS_MOST stacks, the pause is STACKS_PART x their CPU time, or STACKS_MS if longer */
#define STACKS_MS    400
#define STACKS_MOST  2
#define STACKS_PART  4000
#define RETRY_MS     1000
#define GIVE_UP_MS   10000 /* the drain ends if it cannot store for this long, and none records */
#define LOCK_MS	     2000  /* the wait for the folder's lock, which a report may hold */
#define REMOVE_TRIES 3

static int open_store(struct drain *drain)
{
	int r = 0;

	if (!drain->db)
		r = home_open(&drain->home, &drain->db);
	if (r == 0 && !drain->writer)
		r = writer_open(drain->db, &drain->writer);
	if (r == 0 && !drain->join)
		r = join_open(drain->writer, live_wanted(&drain->live), drain->sampler,
			      &drain->join);
	return r;
}

/* Closes the database, and forgets what was read: after an error, all is read again. */
static void close_store(struct drain *drain)
{
	if (drain->in_transaction)
		db_rollback(drain->db);
	drain->in_transaction = false;
	live_rewind(&drain->live);
	sampler_rewind(drain->sampler);
	join_close(drain->join);
	writer_close(drain->writer);
	home_stop(&drain->home);
	neighbours_done(&drain->neighbours);
	use_done(&drain->use);
	gpu_others_done(&drain->gpu_others);
	db_close(drain->db);
	drain->join = NULL;
	drain->writer = NULL;
	drain->db = NULL;
	for (size_t i = 0; i < drain->count; i++)
		segment_close(drain->segments[i]);
	drain->count = 0;
	losses_forget(&drain->losses);
}

static bool begin_tally(struct drain *drain)
{
	uint64_t now = now_ns();

	if (now - drain->tallied_ns < TALLY_MS * MS)
		return false;
	drain->tallied_ns = now;
	return true;
}

static void tell(const struct drain *drain, struct segment *segment)
{
	char where[DELIVER_PATH];

	home_words(&drain->home, where, sizeof(where));
	segment_tell(segment, drain->home.error, where);
}

static int tell_closed(const struct folder *folder, const char *name, void *context)
{
	const struct drain *drain = context;
	struct segment *segment;

	if (segment_open(folder->fd, name, &segment) < 0)
		return 0;
	tell(drain, segment);
	segment_beat(segment, now_ns());
	segment_close(segment);
	return 0;
}

/* Unwinds a few stacks now: their process must still live, since its modules are searched. */
static int take_stacks(struct drain *drain)
{
	uint64_t begin = now_ns(), begin_cpu = cpu_ns(), cost;
	int left = STACKS_MOST, done, r = 0;

	if (begin < drain->stacks_ns)
		return 0;
	for (size_t i = 0; r == 0 && left > 0 && i < drain->count; i++) {
		if (drain->segments[i]->dead || drain->segments[i]->left_ns)
			continue;
		r = stacks_take(drain->writer, drain->segments[i], left, &done);
		left -= done;
	}
	cost = cpu_ns() - begin_cpu;
	drain->stacks_ns =
		begin + (cost > STACKS_MS * MS / STACKS_PART ? cost * STACKS_PART : STACKS_MS * MS);
	return r;
}

/* Writes all that is known, and commits. `is_last`: no process records any more. */
static int commit(struct drain *drain, bool is_last)
{
	bool tally = begin_tally(drain);
	int r = 0;

	for (size_t i = 0; r == 0 && i < drain->count; i++) {
		join_release(drain->join, drain->segments[i]);
		r = facts_update(&drain->facts, &drain->losses, drain->writer, drain->segments[i]);
		if (r == 0 && !drain->segments[i]->left_ns)
			r = hidden_look(drain->writer, drain->segments[i], now_ns());
		if (r == 0 && (tally || drain->segments[i]->dead))
			r = totals_update(&drain->losses, drain->writer, drain->segments[i]);
	}
	if (r == 0)
		r = take_stacks(drain);
	if (r == 0)
		r = cores_update(&drain->cores, drain->writer, drain->segments, drain->count,
				 drain->opened, now_ns());
	if (r == 0)
		r = neighbours_update(&drain->neighbours, drain->writer, drain->segments,
				      drain->count, drain->cores.most_ns, now_ns());
	if (r == 0)
		r = use_update(&drain->use, drain->writer, drain->segments, drain->count, now_ns());
	if (r == 0)
		r = gpu_others_update(&drain->gpu_others, drain->writer, drain->segments,
				      drain->count, now_ns());
	if (r == 0)
		r = live_update(&drain->live, drain->db, drain->writer, drain->segments,
				drain->count, now_ns());
	if (r == 0)
		r = sampler_write(drain->sampler, drain->writer, is_last);
	if (r == 0)
		r = db_commit(drain->db);
	if (r < 0)
		return r;
	drain->in_transaction = false;
	drain->uncommitted = 0;
	live_committed(&drain->live);
	sampler_written(drain->sampler);
	for (size_t i = 0; i < drain->count; i++) {
		r = segment_publish(drain->segments[i], true);
		if (r < 0)
			return r;
	}
	home_committed(&drain->home, drain->db);
	for (size_t i = 0; i < drain->count; i++)
		tell(drain, drain->segments[i]);
	return 0;
}

static void remove_done(struct drain *drain)
{
	for (size_t i = drain->count; i-- > 0;) {
		const struct segment *segment = drain->segments[i];

		/* The last segment of the first process stays: it shows that the run goes on. */
		if (!segment->dead || !segment->told.ended || !segment_is_empty(segment) ||
		    ((segment->header->flags & DLPROF_SEGMENT_ROOT) && !segment->later_ns))
			continue;
		drain->live.lost_count += segment->told.lost;
		folder_unlink(&drain->folder, segment->name, segment->fd);
		gather_drop(drain, i);
	}
}

static bool is_root_gone(const struct drain *drain)
{
	for (size_t i = 0; i < drain->count; i++)
		if ((drain->segments[i]->header->flags & DLPROF_SEGMENT_ROOT) &&
		    !drain->segments[i]->dead)
			return false;
	return true;
}

static int read_segment(struct drain *drain, struct segment *segment)
{
	/* Ask first whether the process has ended, so that its last records are read below. */
	bool ended = segment_poll(segment, is_root_gone(drain));
	const struct life life = segment_life(segment);
	int r;

	r = segment_read(segment, join_take, drain->join, &drain->taken);
	if (r < 0)
		return r;
	if (segment->header->flags & DLPROF_SEGMENT_ROOT)
		segment_beat(segment, now_ns());
	if (ended) {
		drain->end_ns = now_ns();
		if (!gather_is_life_live(drain, &life))
			join_life_ended(drain->join, &life);
	}
	return 0;
}

static int read_rings(struct drain *drain)
{
	for (size_t i = drain->count; i-- > 0;) {
		int r = read_segment(drain, drain->segments[i]);

		if (r == -EBADMSG) { /* the file was truncated during the read */
			r = gather_leave(drain, drain->segments[i]->name, r);
			gather_drop(drain, i);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static void set_pace(struct drain *drain)
{
	drain->uncommitted += drain->taken;
	drain->took |= drain->taken;
	if (drain->taken > DLPROF_RING_CAPACITY / 8)
		drain->wait_ms /= 4;
	else if (drain->taken < DLPROF_RING_CAPACITY / 32)
		drain->wait_ms *= 2;
	if (drain->wait_ms < HURRY_MS)
		drain->wait_ms = HURRY_MS;
	if (drain->wait_ms > ROUND_MS)
		drain->wait_ms = ROUND_MS;
}

static bool is_commit_due(const struct drain *drain)
{
	return drain->uncommitted > DLPROF_RING_CAPACITY / 4 ||
	       now_ns() - drain->begun_ns + (uint64_t)drain->wait_ms * MS >= ROUND_MS * MS;
}

static int do_round(struct drain *drain, bool now)
{
	size_t rows = 0;
	int r;

	drain->taken = 0;
	r = open_store(drain);
	if (r == 0 && !drain->in_transaction) {
		db_begin_late(drain->db);
		drain->in_transaction = true;
		drain->begun_ns = now_ns();
	}
	if (r == 0)
		r = gather(drain, now);
	if (r == 0)
		r = read_rings(drain);
	if (r == 0)
		r = join_round(drain->join, &rows);
	sampler_follow(drain->sampler, drain->segments, drain->count);
	set_pace(drain);
	if (r == 0 && (now || is_commit_due(drain))) {
		r = commit(drain, false);
		if (r == 0)
			remove_done(drain);
	}
	return r;
}

/* Returns true if rings fill or the folder changed. Such a look costs much less than a round. */
static bool is_look_worth(const struct drain *drain)
{
	for (size_t i = 0; i < drain->count; i++)
		if (segment_is_filling(drain->segments[i]))
			return true;
	return drain->count && folder_is_changed(&drain->folder);
}

static void wait_for_round(const struct drain *drain, int ms)
{
	struct pollfd *ends = calloc(drain->count + 1, sizeof(*ends));
	uint64_t end = now_ns() + (uint64_t)ms * MS, glance = now_ns() + GLANCE_MS * MS;
	nfds_t count = 0;

	for (size_t i = 0; ends && i < drain->count; i++)
		if (!drain->segments[i]->dead && drain->segments[i]->alive.pidfd >= 0)
			ends[count++] = (struct pollfd){drain->segments[i]->alive.pidfd, POLLIN, 0};
	for (uint64_t now = now_ns(); now < end; now = now_ns()) {
		int left = (int)(((glance < end ? glance : end) - now) / MS) + 1;

		if (poll(ends, count, sampler_wait_ms(drain->sampler, left)) != 0)
			break;
		sampler_look(drain->sampler);
		if (now_ns() < glance)
			continue;
		if (is_look_worth(drain))
			break;
		glance = now_ns() + GLANCE_MS * MS;
	}
	free(ends);
}

static int remove_segments(struct drain *drain)
{
	char why[5000];
	int r, error;

	for (size_t i = 0; i < drain->count; i++)
		folder_unlink(&drain->folder, drain->segments[i]->name, drain->segments[i]->fd);
	for (int try = 0; try < drain->tries && folder_unlink_again(&drain->folder, &error); try++)
		poll(NULL, 0, RETRY_MS);
	if (!folder_find_obstacle(&drain->folder, why, sizeof(why)))
		return 0;
	r = db_begin(drain->db);
	if (r == 0)
		r = writer_note(drain->writer, "warning", why);
	return r < 0 ? r : db_commit(drain->db);
}

/* Returns true if an earlier drain wrote the run's end, but could not remove the segments. */
static bool is_finished(const struct drain *drain)
{
	struct run_info run;
	bool finished;

	if (drain->took || query_run(drain->db, &run) < 0)
		return false;
	finished = run.end_ns != UNKNOWN;
	run_info_done(&run);
	return finished;
}

static int finish(struct drain *drain)
{
	int r;

	r = do_round(drain, true);
	if (r < 0 || gather_is_live(drain))
		return r;
	r = db_begin(drain->db);
	if (r < 0)
		return r;
	drain->in_transaction = true;
	r = join_finish(drain->join);
	if (r == 0 && !is_finished(drain))
		r = facts_finish(drain->writer, drain->db,
				 drain->end_ns ? drain->end_ns : now_ns());
	if (r == 0)
		r = commit(drain, true);
	if (r < 0)
		return r;
	r = remove_segments(drain);
	/* After the run, readers expect a plain file: closing the database merges its log. */
	close_store(drain);
	/* An undelivered database stays in the folder, and the link still leads to it. */
	drain->over = home_finish(&drain->home) < 0 ||
		      folder_remove(&drain->folder, drain->database) != -EAGAIN;
	return r;
}

/* Waits up to LOCK_MS for the lock: a report releases it soon, but another drain does not. */
static int lock_folder(struct drain *drain, const char *path)
{
	int r;

	for (int waited_ms = 0;; waited_ms += AGAIN_MS) {
		r = folder_lock(&drain->folder, path);
		if (r == -ENOENT && folder_has_root(path))
			r = folder_restore(&drain->folder, path);
		if (r != -EWOULDBLOCK || waited_ms >= LOCK_MS)
			return r;
		poll(NULL, 0, AGAIN_MS);
	}
}

int drain_run(const char *segment_dir, const char *database)
{
	struct drain drain = {
		.database = database, .tries = REMOVE_TRIES, .tallied_ns = now_ns()};
	uint64_t failing_ns = 0;
	int r;

	r = lock_folder(&drain, segment_dir);
	if (r < 0)
		return r;
	home_init(&drain.home, database, segment_dir);
	live_begin(&drain.live, segment_dir);
	sampler_open(&drain.sampler);
	while (!drain.over) {
		r = do_round(&drain, false);
		if (r == 0 && !gather_is_live(&drain))
			r = finish(&drain);
		if (r == 0) {
			failing_ns = 0;
			if (!drain.over)
				wait_for_round(&drain, drain.wait_ms);
			continue;
		}
		/* On a full disk, the drain tries again; until then the rings keep records. */
		if (!failing_ns)
			failing_ns = now_ns();
		if (now_ns() - failing_ns > GIVE_UP_MS * MS &&
		    !folder_is_recorded_into(drain.folder.path))
			break;
		close_store(&drain);
		home_failed(&drain.home, r);
		folder_scan(&drain.folder, tell_closed, &drain);
		folder_forget(&drain.folder);
		wait_for_round(&drain, RETRY_MS);
	}
	close_store(&drain);
	live_end(&drain.live);
	sampler_close(drain.sampler);
	free(drain.segments);
	folder_close(&drain.folder);
	return r;
}

/* Does two rounds, as a batch is complete in the second; a third catches threads that end late. */
static int store_rest(struct drain *drain, struct recovered *ret)
{
	int r = do_round(drain, false);

	if (r == 0)
		r = do_round(drain, true);
	if (r == 0 && gather_is_live(drain)) {
		wait_for_round(drain, AGAIN_MS);
		r = do_round(drain, true);
	}
	if (r < 0)
		return r;
	ret->live = gather_is_live(drain);
	return ret->live ? 0 : finish(drain);
}

int drain_take_over(struct folder *folder, const char *database, struct recovered *ret)
{
	struct drain drain = {.database = database, .folder = *folder};
	int r;

	hidden_begin();
	home_init(&drain.home, database, folder->path);
	r = store_rest(&drain, ret);
	close_store(&drain);
	if (r < 0) { /* the database may have to be moved to the folder */
		home_failed(&drain.home, r);
		folder_forget(&drain.folder);
		r = store_rest(&drain, ret);
		close_store(&drain);
	}
	ret->kept = drain.home.is_local ? drain.home.error : 0;
	free(drain.segments);
	folder_close(&drain.folder);
	return r;
}
