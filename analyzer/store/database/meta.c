/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database/meta.h"

#include <stdlib.h>
#include <string.h>

#include "store/database/rows.h"

static const char ALL_SQL[] = "SELECT key, value FROM t_meta";

enum type { NUMBER, TEXT, COMMAND, HOST, FOLDER, JOB, NAME };
enum author { PROCESS, DRAIN, IMPORT };

static const struct {
	const char *key;
	enum type type;
	enum author by;
} metas[] = {
#define META(id, key, type, by, meaning) {key, type, by},
#include "dlprof/meta.def"
};

const char *meta_key(enum meta meta)
{
	return metas[meta].key;
}

/* Returns true for the key of a device, such as "gpu.12". */
static bool is_device(const char *key)
{
	const size_t begin = strlen("gpu."), digits = strspn(key + begin, "0123456789");

	return digits >= 1 && digits <= 2 && !key[begin + digits];
}

/* Finds a key; META_MAX: it is unknown. "gpu.1", "gpu.2", ... are META_GPU_0 like "gpu.0". */
static enum meta find(const char *key)
{
	if (strncmp(key, "gpu.", strlen("gpu.")) == 0)
		return is_device(key) ? META_GPU_0 : META_MAX;
	for (enum meta meta = 0; meta < META_MAX; meta++)
		if (strcmp(key, metas[meta].key) == 0)
			return meta;
	return META_MAX;
}

bool meta_is_noted(const char *key)
{
	const enum meta meta = find(key);

	return meta < META_MAX && metas[meta].by == PROCESS;
}

enum redact_kind meta_redact_kind(const char *key)
{
	static const enum redact_kind kinds[] = {
		[NUMBER] = REDACT_OTHER, [TEXT] = REDACT_TEXT,     [COMMAND] = REDACT_COMMAND,
		[HOST] = REDACT_HOST,    [FOLDER] = REDACT_FOLDER, [JOB] = REDACT_JOB,
		[NAME] = REDACT_OTHER,
	};
	const enum meta meta = find(key);

	return meta < META_MAX ? kinds[metas[meta].type] : REDACT_OTHER;
}

static char **text_at(void *of, const struct meta_field *field)
{
	return (char **)(void *)((char *)of + field->offset);
}

static int64_t *number_at(void *of, const struct meta_field *field)
{
	return (int64_t *)(void *)((char *)of + field->offset);
}

static int take(void *ret, const struct meta_field *field, sqlite3_stmt *stmt)
{
	const char *key = metas[field->meta].key;

	if (sqlite3_column_type(stmt, 1) == SQLITE_NULL)
		return 0;
	if (metas[field->meta].type != NUMBER)
		return rows_copy(stmt, 1, meta_redact_kind(key), text_at(ret, field));
	*number_at(ret, field) = sqlite3_column_int64(stmt, 1);
	return 0;
}

int meta_read(struct db *db, void *ret, const struct meta_field *fields, size_t count)
{
	ROWS *stmt = NULL;
	int r;

	for (size_t i = 0; i < count; i++) {
		if (metas[fields[i].meta].type == NUMBER)
			*number_at(ret, &fields[i]) = UNKNOWN;
		else
			*text_at(ret, &fields[i]) = NULL;
	}
	r = rows_prepare(db, ALL_SQL, &stmt);
	while (r == 0 && (r = rows_next(stmt)) == 1) {
		const char *key = rows_text(stmt, 0, REDACT_NOT);

		r = 0;
		for (size_t i = 0; r == 0 && key && i < count; i++)
			if (strcmp(key, metas[fields[i].meta].key) == 0)
				r = take(ret, &fields[i], stmt);
	}
	return r;
}

void meta_free(void *of, const struct meta_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (metas[fields[i].meta].type != NUMBER)
			free(*text_at(of, &fields[i]));
}
