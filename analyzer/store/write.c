/* SPDX-License-Identifier: Apache-2.0 */
#include "store/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dlprof/units.h"
#include "store/rows.h"

#define NAME(name)   #name ", "
#define PLACE(name)  "?, "
#define SET(name)    #name " = ?, "
#define UPDATE(name) #name " = excluded." #name ", "

enum {
	STATEMENT_META,
	STATEMENT_PROCESS,
	STATEMENT_LOADER,
	STATEMENT_EPOCH,
	STATEMENT_FIND_EPOCH,
	STATEMENT_BATCH,
	STATEMENT_SLOW,
	STATEMENT_LOSS,
	STATEMENT_NOTE,
	STATEMENT_THETA,
	STATEMENT_OWNER,
	STATEMENT_LIVE,
	STATEMENT_IS_FOLDED,
	STATEMENT_TOTAL,
	STATEMENT_FOLD,
	STATEMENT_UNLIVE,
	STATEMENT_FOLDED,
	STATEMENT_UNLISTED,
	STATEMENT_HEAVIEST,
	STATEMENT_TRIM,
	STATEMENT_STACK,
	STATEMENT_MARK,
	STATEMENT_BATCH_GPU,
	STATEMENT_GPU_STEP,
	STATEMENT_GAP,
	STATEMENT_NO_GAP,
	STATEMENT_GPU_DEVICE,
	STATEMENT_GPU_CALL,
	STATEMENT_EPOCH_SEEN,
	STATEMENT_PLACE,
	STATEMENT_NO_GPU_STEP, /* of a time: these four */
	STATEMENT_NO_GPU_DEVICE,
	STATEMENT_NO_GPU_CALL,
	STATEMENT_NO_GPU_BATCH,
	STATEMENT_KERNEL,
	STATEMENT_COUNT
};

/* The steps of process ?1 that touch [?2, ?3). */
#define IN_TIME                                                                                    \
	" WHERE (loader_id, epoch, task) IN (SELECT loader_id, epoch, task FROM t_batch JOIN "     \
	"(SELECT loader_id FROM t_loader WHERE pid = ?1) USING (loader_id) "                       \
	"WHERE begin_ns + step_ns > ?2 AND begin_ns < ?3)"
#define NOTHING(name) #name " = NULL, "

/* To the total of the same name. */
#define ADDED                                                                                      \
	" ON CONFLICT DO UPDATE SET count = count + excluded.count, "                              \
	"ns = CASE kind WHEN 'sample' THEN MAX(ns, excluded.ns) ELSE ns + excluded.ns END, "       \
	"bytes = bytes + excluded.bytes, pixels = pixels + excluded.pixels, "                      \
	"slowest_ns = MAX(slowest_ns, excluded.slowest_ns), error_ns = error_ns + excluded.error_ns"

/* The lists end in a comma, so a last column that is always there closes them. */
static const char *const statements[STATEMENT_COUNT] = {
	[STATEMENT_META] = "INSERT INTO t_meta (key, value) VALUES (?, ?) "
			   "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
	[STATEMENT_PROCESS] =
		"INSERT INTO t_process (pid, start_ticks, ppid, worker_id, loader_id, stream, "
		"start_ns, "
		"end_ns, role, exit, command) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
		"ON CONFLICT (pid, start_ticks) DO UPDATE SET "
		"worker_id = IFNULL(excluded.worker_id, worker_id), "
		"loader_id = IFNULL(excluded.loader_id, loader_id), "
		"stream = IFNULL(excluded.stream, stream), "
		"end_ns = excluded.end_ns, exit = excluded.exit, "
		"role = CASE excluded.role WHEN 'other' THEN role ELSE excluded.role END",
	[STATEMENT_LOADER] = "INSERT INTO t_loader (pid, number, workers, prefetch_factor, "
			     "in_order, persistent, "
			     "batch_size, kind) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
			     "ON CONFLICT (pid, number) DO UPDATE SET workers = excluded.workers, "
			     "kind = IFNULL(excluded.kind, kind) "
			     "RETURNING loader_id",
	[STATEMENT_EPOCH] =
		"INSERT OR IGNORE INTO t_epoch (loader_id, epoch, begin_ns, setup_ns, stream, "
		"generation, tid, nested) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	[STATEMENT_FIND_EPOCH] =
		"SELECT loader_id, epoch, in_order FROM t_epoch JOIN t_loader USING (loader_id) "
		"WHERE stream = ? AND generation = ?",
	/* A row that was stored as undelivered and then was delivered after all is completed. */
	[STATEMENT_BATCH] = "INSERT INTO t_batch (" BATCH_KEY(NAME) BATCH_SEEN(NAME)
		BATCH_LOADED(NAME) "h2d_ns) VALUES (" BATCH_COLUMNS(
			PLACE) "NULL) "
			       "ON CONFLICT (loader_id, epoch, task) DO UPDATE SET " BATCH_SEEN(
				       UPDATE) "h2d_ns = excluded.h2d_ns WHERE batch IS NULL AND "
					       "excluded.batch IS NOT NULL",
	[STATEMENT_SLOW] = "INSERT OR IGNORE INTO t_slow (ts_ns, pid, tid, ns, class, what) "
			   "VALUES (?, ?, ?, ?, ?, ?)",
	[STATEMENT_LOSS] =
		"INSERT INTO t_loss (pid, what, count) VALUES (?, ?, ?) "
		"ON CONFLICT (pid, what) DO UPDATE SET count = MAX(count, excluded.count)",
	[STATEMENT_NOTE] = "INSERT OR IGNORE INTO t_note (level, text) VALUES (?, ?)",
	[STATEMENT_THETA] = "UPDATE t_loader SET theta_ns = ? WHERE loader_id = ?",
	[STATEMENT_OWNER] = "UPDATE t_process SET loader_id = ? WHERE stream = ?",
	[STATEMENT_LIVE] = "INSERT OR REPLACE INTO t_live (slot, place, class, count, ns, bytes, "
			   "pixels, slowest_ns, "
			   "error_ns, segment, kind, name, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, "
			   "?, ?, ?, ?, ?)",
	[STATEMENT_IS_FOLDED] = "SELECT 1 FROM t_folded WHERE segment = ?",
	[STATEMENT_TOTAL] =
		"INSERT INTO t_total (class, count, ns, bytes, pixels, slowest_ns, error_ns, kind, "
		"name, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" ADDED,
	[STATEMENT_FOLD] =
		"INSERT INTO t_total SELECT kind, name, detail, class, count, ns, bytes, pixels, "
		"slowest_ns, error_ns FROM t_live WHERE segment = ? AND slot = ? AND place = ?"
			ADDED,
	[STATEMENT_UNLIVE] = "DELETE FROM t_live WHERE segment = ?",
	[STATEMENT_FOLDED] = "INSERT OR IGNORE INTO t_folded VALUES (?)",
	[STATEMENT_UNLISTED] = "INSERT INTO t_unlisted (kind, ns) VALUES (?, ?) "
			       "ON CONFLICT (kind) DO UPDATE SET ns = ns + excluded.ns",
	/* The heaviest stay: ?1 kind, ?2 how many. What goes counts as unlisted. */
	[STATEMENT_HEAVIEST] =
		"SELECT IFNULL(MAX(ns), 0) FROM (SELECT ns FROM t_total WHERE kind = ?1 AND "
		"(SELECT COUNT(*) FROM t_total WHERE kind = ?1) > ?2 "
		"ORDER BY ns DESC, name LIMIT -1 OFFSET ?2)",
	[STATEMENT_TRIM] =
		"DELETE FROM t_total WHERE kind = ?1 AND (name, detail, class) IN (SELECT name, "
		"detail, "
		"class FROM t_total WHERE kind = ?1 ORDER BY ns DESC, name LIMIT -1 OFFSET ?2)",
	[STATEMENT_STACK] =
		"UPDATE t_slow SET stack = ?3 WHERE ts_ns = ?1 AND tid = ?2 RETURNING 1",
	[STATEMENT_MARK] =
		"INSERT OR IGNORE INTO t_mark (ts_ns, pid, tid, ns, text) VALUES (?, ?, ?, ?, ?)",
	[STATEMENT_BATCH_GPU] = "UPDATE t_batch SET " BATCH_GPU(
		SET) "task = task WHERE loader_id = ? AND epoch = ? AND task = ?",
	[STATEMENT_GPU_STEP] = "INSERT OR REPLACE INTO t_gpu_step (" GPU_STEP_COLUMNS(
		NAME) "loader_id, epoch, task) VALUES (" GPU_STEP_COLUMNS(PLACE) "?, ?, ?)",
	[STATEMENT_GAP] = "INSERT INTO t_gap (pid, begin_ns, end_ns, why) VALUES (?, ?, ?, ?) "
			  "ON CONFLICT (pid, begin_ns) DO UPDATE SET end_ns = excluded.end_ns",
	[STATEMENT_NO_GAP] = "DELETE FROM t_gap WHERE pid = ? AND begin_ns = ?",
	[STATEMENT_GPU_DEVICE] = "INSERT OR REPLACE INTO t_gpu_device (loader_id, epoch, task, "
				 "device, fed, busy_ns, "
				 "idle_wait_ns, kernel_count, graph_count, h2d_bytes, peer_bytes) "
				 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[STATEMENT_GPU_CALL] = "INSERT OR REPLACE INTO t_gpu_call (" GPU_CALL_COLUMNS(
		NAME) "loader_id, epoch, task) VALUES (" GPU_CALL_COLUMNS(PLACE) "?, ?, ?)",
	[STATEMENT_EPOCH_SEEN] =
		"UPDATE t_epoch SET tid = IFNULL(?, tid), nested = IFNULL(?, nested), "
		"stop_begin_ns = IFNULL(?, stop_begin_ns), stop_ns = IFNULL(?, stop_ns) "
		"WHERE loader_id = ? AND epoch = ?",
	[STATEMENT_PLACE] = "UPDATE t_loader SET place = ? WHERE pid = ? AND number = ?",
	[STATEMENT_NO_GPU_BATCH] = "UPDATE t_batch SET " BATCH_GPU(NOTHING) "task = task" IN_TIME,
	[STATEMENT_NO_GPU_STEP] = "DELETE FROM t_gpu_step" IN_TIME,
	[STATEMENT_NO_GPU_DEVICE] = "DELETE FROM t_gpu_device" IN_TIME,
	[STATEMENT_NO_GPU_CALL] = "DELETE FROM t_gpu_call" IN_TIME,
	[STATEMENT_KERNEL] = "INSERT OR IGNORE INTO t_kernel (id, symbol, name) VALUES (?, ?, ?)",
};

struct writer {
	struct db *db;
	sqlite3_stmt *prepared[STATEMENT_COUNT];
};

int writer_open(struct db *db, struct writer **ret_writer)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return -ENOMEM;
	writer->db = db;
	*ret_writer = writer;
	return 0;
}

void writer_close(struct writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(writer->prepared[i]);
	free(writer);
}

static void bind_number(sqlite3_stmt *statement, int at, int64_t value)
{
	if (value == WRITE_UNKNOWN)
		sqlite3_bind_null(statement, at);
	else
		sqlite3_bind_int64(statement, at, value);
}

static int refused; /* SQLite's error, where prepare() gave NULL */

/* When it is needed, which most never are. NULL is what step() knows. */
static sqlite3_stmt *prepare(struct writer *writer, int which)
{
	if (!writer->prepared[which])
		refused = sqlite3_prepare_v3(writer->db->handle, statements[which], -1,
					     SQLITE_PREPARE_PERSISTENT, &writer->prepared[which],
					     NULL);
	return writer->prepared[which];
}

static int step(sqlite3_stmt *statement)
{
	return statement ? sqlite3_step(statement) : refused;
}

/* As rows_bind(). */
static sqlite3_stmt *bind(struct writer *writer, int which, const char *format, ...)
{
	sqlite3_stmt *statement = prepare(writer, which);
	va_list values;

	va_start(values, format);
	rows_bind(statement, format, values);
	va_end(values);
	return statement;
}

/* Only damaged memory holds a value that a column refuses. That row is left out: as an error it
 * would come back with every try, and keep all others from the database. */
static int finish(sqlite3_stmt *statement)
{
	int r = step(statement);

	sqlite3_reset(statement);
	return (r & 0xff) == SQLITE_CONSTRAINT ? 0 : db_errno(r);
}

/* The one row of numbers that a statement gives, WRITE_UNKNOWN for NULL. 1; 0: none; or -errno. */
static int ask(sqlite3_stmt *statement, int64_t *ret, int count)
{
	int r = step(statement), found = r == SQLITE_ROW;

	for (int i = 0; found && i < count; i++)
		ret[i] = rows_int(statement, i);
	if (found)
		r = sqlite3_step(statement);
	sqlite3_reset(statement);
	r = db_errno(r);
	return r < 0 ? r : found;
}

int writer_meta(struct writer *writer, enum meta key, const char *value)
{
	return finish(bind(writer, STATEMENT_META, "ss", meta_key(key), value));
}

int writer_meta_noted(struct writer *writer, const char *key, const char *value)
{
	if (!meta_is_noted(meta_find(key)))
		return 0;
	return finish(bind(writer, STATEMENT_META, "ss", key, value));
}

int writer_meta_number(struct writer *writer, enum meta key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	return writer_meta(writer, key, text);
}

int writer_process(struct writer *writer, const struct process_row *row)
{
	return finish(bind(writer, STATEMENT_PROCESS, "nnnnnnnnsss", row->pid, row->start_ticks,
			   row->ppid, row->worker_id, row->loader_id, row->stream, row->start_ns,
			   row->end_ns, row->role, row->exit, row->command));
}

int writer_loader(struct writer *writer, const struct loader_row *row, int64_t *ret_loader_id)
{
	sqlite3_stmt *statement = bind(writer, STATEMENT_LOADER, "nnnnnnns", row->pid, row->number,
				       row->workers, row->prefetch_factor, row->in_order,
				       row->persistent, row->batch_size, row->kind);
	int r = ask(statement, ret_loader_id, 1);

	return r < 0 ? r : 0;
}

int writer_epoch(struct writer *writer, const struct epoch_row *row)
{
	int r = finish(bind(writer, STATEMENT_EPOCH, "nnnnnnnn", row->loader_id, row->epoch,
			    row->begin_ns, row->setup_ns, row->stream, row->generation, row->tid,
			    row->nested));

	return r < 0 ? r : finish(bind(writer, STATEMENT_OWNER, "nn", row->loader_id, row->stream));
}

int writer_epoch_seen(struct writer *writer, int64_t loader_id, int64_t epoch,
		      const struct epoch_seen *seen)
{
	return finish(bind(writer, STATEMENT_EPOCH_SEEN, "nnnnnn", seen->tid, seen->nested,
			   seen->stop_begin_ns, seen->stop_ns, loader_id, epoch));
}

int writer_place(struct writer *writer, int64_t pid, int64_t number, const char *place)
{
	return finish(bind(writer, STATEMENT_PLACE, "snn", place, pid, number));
}

int writer_find_epoch(struct writer *writer, uint64_t stream, uint32_t generation,
		      int64_t *ret_loader_id, int64_t *ret_epoch, int64_t *ret_in_order)
{
	int64_t found[3];
	int r = ask(bind(writer, STATEMENT_FIND_EPOCH, "nn", (int64_t)stream, (int64_t)generation),
		    found, 3);

	if (r < 1)
		return r < 0 ? r : -ENOENT;
	*ret_loader_id = found[0];
	*ret_epoch = found[1];
	*ret_in_order = found[2];
	return 0;
}

int writer_batch(struct writer *writer, const struct batch_values *values)
{
	sqlite3_stmt *statement = prepare(writer, STATEMENT_BATCH);
	int at = 0;

#define X(name) bind_number(statement, ++at, values->name);
	BATCH_COLUMNS(X)
#undef X
	return finish(statement);
}

void gpu_values_init(struct gpu_values *values)
{
#define X(name) values->name = WRITE_UNKNOWN;
	BATCH_GPU(X)
	GPU_STEP_COLUMNS(X)
#undef X
}

int writer_gpu_step(struct writer *writer, const struct gpu_values *values)
{
	sqlite3_stmt *batch = prepare(writer, STATEMENT_BATCH_GPU);
	sqlite3_stmt *step = prepare(writer, STATEMENT_GPU_STEP);
	const int64_t key[] = {values->loader_id, values->epoch, values->task};
	int at = 0, r;

#define X(name) bind_number(batch, ++at, values->name);
	BATCH_GPU(X)
#undef X
	for (int i = 0; i < 3; i++)
		bind_number(batch, ++at, key[i]);
	r = finish(batch);
	if (r < 0)
		return r;
	at = 0;
#define X(name) bind_number(step, ++at, values->name);
	GPU_STEP_COLUMNS(X)
#undef X
	for (int i = 0; i < 3; i++)
		bind_number(step, ++at, key[i]);
	return finish(step);
}

int writer_gpu_device(struct writer *writer, const struct gpu_device_row *row)
{
	return finish(bind(writer, STATEMENT_GPU_DEVICE, "nnnnnnnnnnn", row->loader_id, row->epoch,
			   row->task, row->device, row->fed, row->busy_ns, row->idle_wait_ns,
			   row->kernel_count, row->graph_count, row->h2d_bytes, row->peer_bytes));
}

int writer_gpu_call(struct writer *writer, const struct gpu_call_values *values)
{
	sqlite3_stmt *statement = prepare(writer, STATEMENT_GPU_CALL);
	int at = 0;

#define X(name) bind_number(statement, ++at, values->name);
	GPU_CALL_COLUMNS(X)
#undef X
	bind_number(statement, ++at, values->loader_id);
	bind_number(statement, ++at, values->epoch);
	bind_number(statement, ++at, values->task);
	return finish(statement);
}

int writer_no_gpu(struct writer *writer, int64_t pid, int64_t begin_ns, int64_t end_ns,
		  bool *ret_any)
{
	int r = 0;

	for (int i = STATEMENT_NO_GPU_STEP; r == 0 && i <= STATEMENT_NO_GPU_BATCH; i++) {
		r = finish(bind(writer, i, "nnn", pid, begin_ns, end_ns));
		if (i == STATEMENT_NO_GPU_STEP)
			*ret_any = sqlite3_changes(writer->db->handle) > 0;
	}
	return r;
}

int writer_kernel(struct writer *writer, int64_t id, const char *symbol, const char *name)
{
	return finish(bind(writer, STATEMENT_KERNEL, "nss", id, symbol, name));
}

int writer_gap(struct writer *writer, int64_t pid, int64_t begin_ns, int64_t end_ns,
	       const char *why)
{
	if (end_ns != WRITE_UNKNOWN && end_ns <= begin_ns)
		return finish(bind(writer, STATEMENT_NO_GAP, "nn", pid, begin_ns));
	return finish(bind(writer, STATEMENT_GAP, "nnns", pid, begin_ns, end_ns, why));
}

int writer_slow(struct writer *writer, const struct slow_row *row)
{
	return finish(bind(writer, STATEMENT_SLOW, "nnnnss", row->ts_ns, row->pid, row->tid,
			   row->ns, row->class, row->what));
}

int writer_stack(struct writer *writer, int64_t ts_ns, int64_t tid, const char *text,
		 bool *ret_found)
{
	int64_t one;
	int r = ask(bind(writer, STATEMENT_STACK, "nns", ts_ns, tid, text), &one, 1);

	*ret_found = r == 1;
	return r < 0 ? r : 0;
}

int writer_loss(struct writer *writer, int64_t pid, const char *what, int64_t count)
{
	return finish(bind(writer, STATEMENT_LOSS, "nsn", pid, what, count));
}

int writer_note(struct writer *writer, const char *level, const char *text)
{
	return finish(bind(writer, STATEMENT_NOTE, "ss", level, text));
}

int writer_mark(struct writer *writer, int64_t ts_ns, int64_t pid, int64_t tid, int64_t ns,
		const char *text)
{
	return finish(bind(writer, STATEMENT_MARK, "nnnns", ts_ns, pid, tid, ns, text));
}

int writer_theta(struct writer *writer, int64_t loader_id, int64_t theta_ns)
{
	return finish(bind(writer, STATEMENT_THETA, "nn", theta_ns, loader_id));
}

int writer_live(struct writer *writer, const struct tally_row *row)
{
	return finish(bind(writer, STATEMENT_LIVE, "nnnnnnnnnssss", row->slot, row->place,
			   row->class, row->count, row->ns, row->bytes, row->pixels,
			   row->slowest_ns, row->error_ns, row->segment, row->kind, row->name,
			   row->detail));
}

int writer_is_folded(struct writer *writer, const char *segment, bool *ret_folded)
{
	int64_t one;
	int r = ask(bind(writer, STATEMENT_IS_FOLDED, "s", segment), &one, 1);

	*ret_folded = r == 1;
	return r < 0 ? r : 0;
}

int writer_total(struct writer *writer, const struct tally_row *row)
{
	return finish(bind(writer, STATEMENT_TOTAL, "nnnnnnnsss", row->class, row->count, row->ns,
			   row->bytes, row->pixels, row->slowest_ns, row->error_ns, row->kind,
			   row->name, row->detail));
}

int writer_fold(struct writer *writer, const struct tally_row *row)
{
	return finish(bind(writer, STATEMENT_FOLD, "snn", row->segment, row->slot, row->place));
}

int writer_folded(struct writer *writer, const char *segment)
{
	int r = finish(bind(writer, STATEMENT_UNLIVE, "s", segment));

	return r < 0 ? r : finish(bind(writer, STATEMENT_FOLDED, "s", segment));
}

int writer_unlisted(struct writer *writer, const char *kind, int64_t ns)
{
	return ns > 0 ? finish(bind(writer, STATEMENT_UNLISTED, "sn", kind, ns)) : 0;
}

int writer_trim(struct writer *writer, const char *kind, int64_t keep_count)
{
	int64_t heaviest_ns = 0;
	int r = ask(bind(writer, STATEMENT_HEAVIEST, "sn", kind, keep_count), &heaviest_ns, 1);

	if (r >= 0 && heaviest_ns > 0)
		r = finish(bind(writer, STATEMENT_TRIM, "sn", kind, keep_count));
	return r < 0 ? r : writer_unlisted(writer, kind, heaviest_ns);
}
