/* SPDX-License-Identifier: Apache-2.0 */
#include "store/write/write.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dlprof/units.h"
#include "store/database/rows.h"

#define NAME(name)   #name ", "
#define PLACE(name)  "?, "
#define SET(name)    #name " = ?, "
#define UPDATE(name) #name " = excluded." #name ", "
#define COUNT(name)  +1
#define KEY          3

#define IN_TIME                                                                                    \
	" WHERE (loader_id, epoch, task) IN (SELECT loader_id, epoch, task FROM t_batch JOIN "     \
	"(SELECT loader_id FROM t_loader WHERE pid = ?1) USING (loader_id) "                       \
	"WHERE begin_ns + step_ns > ?2 AND begin_ns < ?3)"
#define NOTHING(name) #name " = NULL, "

#define ADDED                                                                                      \
	" ON CONFLICT DO UPDATE SET count = count + excluded.count, "                              \
	"ns = CASE kind WHEN 'sample' THEN MAX(ns, excluded.ns) ELSE ns + excluded.ns END, "       \
	"bytes = bytes + excluded.bytes, pixels = pixels + excluded.pixels, "                      \
	"slowest_ns = MAX(slowest_ns, excluded.slowest_ns), error_ns = error_ns + excluded.error_ns"

enum {
#define STATEMENT(name, sql) STATEMENT_##name,
#include "store/write/write.def"
	STATEMENT_COUNT
};

static const char *const statements[] = {
#define STATEMENT(name, sql) sql,
#include "store/write/write.def"
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

static int refused; /* SQLite's error code, if prepare() returned NULL */

/* Prepares a statement when it is first used. Returns NULL after an error, as step() accepts. */
static sqlite3_stmt *prepare(struct writer *writer, int which)
{
	if (writer->db->begins_late && db_begin(writer->db) < 0) {
		refused = sqlite3_errcode(writer->db->handle);
		return NULL;
	}
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

static sqlite3_stmt *bind(struct writer *writer, int which, const char *format, ...)
{
	sqlite3_stmt *statement = prepare(writer, which);
	va_list values;

	va_start(values, format);
	rows_bind(statement, format, values);
	va_end(values);
	return statement;
}

static void bind_numbers(sqlite3_stmt *statement, int *at, const int64_t *values, int count)
{
	for (int i = 0; i < count; i++) {
		if (values[i] == UNKNOWN)
			sqlite3_bind_null(statement, ++*at);
		else
			sqlite3_bind_int64(statement, ++*at, values[i]);
	}
}

/* Writes a row. A row that violates a constraint is left out: it comes from damaged memory. */
static int finish(sqlite3_stmt *statement)
{
	int r = step(statement);

	sqlite3_reset(statement);
	return (r & 0xff) == SQLITE_CONSTRAINT ? 0 : db_errno(r);
}

static_assert(sizeof(char *) == sizeof(int64_t), "numbers and texts are as long in a row");

/* How many members a row's struct has: in all, before its first text, and from there on. */
#define NUMBERS(row)	   (int)(sizeof(*(row)) / sizeof(int64_t))
#define BEFORE(row, text) (int)(offsetof(__typeof__(*(row)), text) / sizeof(int64_t))
#define FROM(row, text)	   (NUMBERS(row) - BEFORE(row, text))

/* Binds `row`, which has numbers, then texts, in the order of the statement's parameters. */
static sqlite3_stmt *bind_row(struct writer *writer, int which, const void *row, int numbers,
			      int texts)
{
	sqlite3_stmt *statement = prepare(writer, which);
	const char *const *text = (const char *const *)row + numbers;
	int at = 0;

	bind_numbers(statement, &at, row, numbers);
	for (int i = 0; i < texts; i++)
		sqlite3_bind_text(statement, ++at, text[i], -1, SQLITE_STATIC);
	return statement;
}

static int put(struct writer *writer, int which, const void *row, int numbers, int texts)
{
	return finish(bind_row(writer, which, row, numbers, texts));
}

static int put_step(struct writer *writer, int which, const void *values, int first, int count)
{
	sqlite3_stmt *statement = prepare(writer, which);
	int at = 0;

	bind_numbers(statement, &at, (const int64_t *)values + first, count);
	bind_numbers(statement, &at, values, KEY);
	return finish(statement);
}

#define WRITES(name, type, put_row)                                                                \
	int writer_##name(struct writer *writer, const struct type *row)                           \
	{                                                                                          \
		return put_row;                                                                    \
	}
/* Define writer_NAME() for rows of numbers, rows with texts from `text` on, and steps' rows. */
#define WRITES_NUMBERS(name, type, which)                                                          \
	WRITES(name, type, put(writer, STATEMENT_##which, row, NUMBERS(row), 0))
#define WRITES_TEXTS(name, type, which, text)                                                      \
	WRITES(name, type,                                                                         \
	       put(writer, STATEMENT_##which, row, BEFORE(row, text), FROM(row, text)))
#define WRITES_STEP(name, type, which)                                                             \
	WRITES(name, type, put_step(writer, STATEMENT_##which, row, KEY, NUMBERS(row) - KEY))

WRITES_NUMBERS(use, use_row, USE)
WRITES_NUMBERS(made, made_row, MADE)
WRITES_NUMBERS(gpu_device, gpu_device_row, GPU_DEVICE)
WRITES_NUMBERS(batch, batch_values, BATCH)
WRITES_TEXTS(process, process_row, PROCESS, role)
WRITES_TEXTS(thread, thread_row, THREAD, name)
WRITES_TEXTS(stage, stage_row, STAGE, name)
WRITES_TEXTS(slow, slow_row, SLOW, class)
WRITES_TEXTS(doing, doing_row, DOING, role)
WRITES_TEXTS(samples, samples_row, SAMPLES, role)
WRITES_TEXTS(live, tally_row, LIVE, segment)
WRITES_TEXTS(total, tally_row, TOTAL, segment)
WRITES_STEP(gpu_call, gpu_call_values, GPU_CALL)
WRITES_STEP(gpu_part, gpu_part_values, GPU_PART)

/* Reads a row's numbers; NULL becomes UNKNOWN. Returns 1, 0 (no row) or -errno. */
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

static int look(sqlite3_stmt *statement, bool *ret_found)
{
	int64_t one;
	int r = ask(statement, &one, 1);

	*ret_found = r == 1;
	return r < 0 ? r : 0;
}

int writer_meta(struct writer *writer, enum meta key, const char *value)
{
	return finish(bind(writer, STATEMENT_META, "ss", meta_key(key), value));
}

int writer_meta_noted(struct writer *writer, const char *key, const char *value)
{
	if (!meta_is_noted(key))
		return 0;
	return finish(bind(writer, STATEMENT_META, "ss", key, value));
}

int writer_meta_number(struct writer *writer, enum meta key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	return writer_meta(writer, key, text);
}

int writer_no_threads(struct writer *writer, int64_t pid)
{
	return finish(bind(writer, STATEMENT_NO_THREADS, "n", pid));
}

int writer_stage_sum(struct writer *writer, const struct stage_sum_row *row)
{
	int r = finish(bind(writer, STATEMENT_STAGE_OF_SUM, "nn", row->pid, row->number));

	return r < 0 ? r : put(writer, STATEMENT_STAGE_SUM, row, NUMBERS(row), 0);
}

int writer_loader(struct writer *writer, const struct loader_row *row, int64_t *ret_loader_id)
{
	sqlite3_stmt *statement =
		bind_row(writer, STATEMENT_LOADER, row, BEFORE(row, kind), 1);
	int r = ask(statement, ret_loader_id, 1);

	return r < 0 ? r : 0;
}

int writer_epoch(struct writer *writer, const struct epoch_row *row)
{
	int r = put(writer, STATEMENT_EPOCH, row, NUMBERS(row), 0);

	return r < 0 ? r : finish(bind(writer, STATEMENT_OWNER, "nn", row->loader_id, row->stream));
}

int writer_epoch_seen(struct writer *writer, int64_t loader_id, int64_t epoch,
		      const struct epoch_seen *seen)
{
	return finish(bind(writer, STATEMENT_EPOCH_SEEN, "nnnnnnn", seen->tid, seen->nested,
			   seen->stop_begin_ns, seen->stop_ns, seen->save_ns, loader_id, epoch));
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

void gpu_values_init(struct gpu_values *values)
{
#define X(name) values->name = UNKNOWN;
	BATCH_GPU(X)
	GPU_STEP_COLUMNS(X)
#undef X
}

int writer_gpu_step(struct writer *writer, const struct gpu_values *values)
{
	const int step = KEY + BATCH_GPU(COUNT);
	int r = put_step(writer, STATEMENT_BATCH_GPU, values, KEY, BATCH_GPU(COUNT));

	return r < 0 ? r
		     : put_step(writer, STATEMENT_GPU_STEP, values, step, GPU_STEP_COLUMNS(COUNT));
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
	if (end_ns != UNKNOWN && end_ns <= begin_ns)
		return finish(bind(writer, STATEMENT_NO_GAP, "nn", pid, begin_ns));
	return finish(bind(writer, STATEMENT_GAP, "nnns", pid, begin_ns, end_ns, why));
}

int writer_stack(struct writer *writer, int64_t ts_ns, int64_t tid, const char *text,
		 bool *ret_found)
{
	return look(bind(writer, STATEMENT_STACK, "nns", ts_ns, tid, text), ret_found);
}

int writer_frame(struct writer *writer, const char *file, const char *function, int64_t line,
		 int64_t *ret_id)
{
	int r = ask(bind(writer, STATEMENT_FRAME, "ssn", file, function, line), ret_id, 1);

	return r < 0 ? r : r ? 0 : -EIO;
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

int writer_is_folded(struct writer *writer, const char *segment, bool *ret_folded)
{
	return look(bind(writer, STATEMENT_IS_FOLDED, "s", segment), ret_folded);
}

int writer_fold(struct writer *writer, const struct tally_row *row)
{
	return put(writer, STATEMENT_FOLD, row, BEFORE(row, segment), 1);
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
