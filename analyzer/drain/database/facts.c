/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/database/facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/clamp.h"
#include "dlprof/units.h"
#include "drain/base/list.h"
#include "drain/machine/cpus.h"
#include "drain/modules/hidden.h"
#include "store/write/pack_write.h"

#define MILLI 1000

/* UNKNOWN: not known, or there is no limit. affinity: cores in the mask, if there is a limit. */
struct cpus {
	int64_t count, limit_milli, affinity;
};

/* Finds how many cores the process may use. Call this while the process lives. */
static struct cpus find_cpus(const struct segment *segment)
{
	const int32_t number = alive_number(&segment->alive);
	const int64_t cpus = number ? cpus_affinity(segment->header->pid) : -1;
	const int64_t limit = number ? cpus_limit_milli("", number) : -1;
	const bool is_limited = limit >= 0 && (cpus < 0 || limit < cpus * MILLI);

	return (struct cpus){
		.count = is_limited  ? (limit + MILLI - 1) / MILLI
			 : cpus >= 0 ? cpus
				     : UNKNOWN,
		.limit_milli = is_limited ? limit : UNKNOWN,
		.affinity = limit >= 0 && cpus >= 0 ? cpus : UNKNOWN,
	};
}

static int write_labels(struct writer *writer)
{
	static const struct {
		const char *name;
		enum meta key;
		const char *variable;
	} labels[] = {
		{"cluster", META_CLUSTER, "SLURM_CLUSTER_NAME"},
		{"owner", META_OWNER, "USER"},
		{"user", META_OWNER, ""},
		{"revision", META_REVISION, ""},
		{"commit", META_REVISION, ""},
		{"dataset", META_DATASET, ""},
		{"storage", META_STORAGE, ""},
	};
	const char *all = getenv("DLPROF_LABELS"), *value;
	char *list = strdup(all ? all : ""), *at = list, *label;
	size_t i;
	int r = list ? 0 : -ENOMEM;

	for (i = 0; r == 0 && i < ARRAY_COUNT(labels); i++) {
		value = getenv(labels[i].variable);
		r = value && *value ? writer_meta(writer, labels[i].key, value) : 0;
	}
	while (r == 0 && at && (label = strsep(&at, ","))) {
		value = strchr(label, '=');
		for (i = 0; value && i < ARRAY_COUNT(labels); i++)
			if (strlen(labels[i].name) == (size_t)(value - label) &&
			    strncmp(labels[i].name, label, (size_t)(value - label)) == 0)
				break;
		if (value && i < ARRAY_COUNT(labels))
			r = writer_meta(writer, labels[i].key, value + 1);
		else if (*label)
			r = writer_note(writer, "warning",
					"DLPROF_LABELS: only cluster=, owner=, revision=, dataset= "
					"and storage= are taken");
	}
	free(list);
	return r;
}

static int begin_run(struct writer *writer, const struct segment *segment, const char *folder)
{
	const struct dlprof_header *header = segment->header;
	const struct cpus cpus = find_cpus(segment);
	char id[160];
	const struct {
		enum meta key;
		const char *text; /* NULL: the value is `number` */
		int64_t number;
	} rows[] = {
		{META_SCHEMA, NULL, DB_SCHEMA_VERSION},
		{META_VERSION, header->version, 0},
		{META_RUN_ID, id, 0},
		{META_COMMAND, header->command, 0},
		{META_HOST, header->host, 0},
		{META_KERNEL, header->kernel, 0},
		{META_CPUS, NULL, cpus.count},
		{META_CPU_LIMIT_MILLI, NULL, cpus.limit_milli},
		{META_AFFINITY, NULL, cpus.affinity},
		{META_START_NS, NULL, (int64_t)header->created_ns},
		{META_START_UNIX_NS, NULL, (int64_t)header->created_unix_ns},
		{META_CLOCK, "host", 0},
		{META_PID, NULL, header->pid},
		{META_SEGMENTS, folder, 0},
		{META_RANK, NULL, header->rank < 0 ? 0 : header->rank},
		{META_LOCAL_RANK, NULL, header->local_rank < 0 ? 0 : header->local_rank},
	};
	int r;

	snprintf(id, sizeof(id), "%s-%d-%llx", header->host, header->pid,
		 (unsigned long long)header->created_unix_ns);
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		if (!rows[i].text && rows[i].number == UNKNOWN)
			continue;
		r = rows[i].text ? writer_meta(writer, rows[i].key, rows[i].text)
				 : writer_meta_number(writer, rows[i].key, rows[i].number);
		if (r < 0)
			return r;
	}
	return 0;
}

struct process_row facts_process(const struct segment *segment)
{
	const struct dlprof_header *header = segment->header;

	return (struct process_row){
		.pid = header->pid,
		.life_ns = (int64_t)header->created_ns,
		.ppid = header->ppid,
		.worker_id = UNKNOWN,
		.loader_id = UNKNOWN,
		.stream = UNKNOWN,
		.start_ns = (int64_t)header->created_ns,
		.end_ns = UNKNOWN,
		.exit_status = segment->exit_status < 0 ? UNKNOWN : segment->exit_status,
		.role = "other",
		.command = header->command,
	};
}

int64_t facts_loader(const struct segment *segment, uint32_t number)
{
	/* DLPROF_LOADER_RANGES gets the lowest id: as the highest number, + 1 makes it 0. */
	return (int64_t)(segment->header->created_ns + (uint32_t)(number + 1));
}

int facts_begin(struct writer *writer, const struct segment *segment, const char *folder)
{
	struct process_row row = facts_process(segment);
	int r = 0;

	if ((segment->header->flags & DLPROF_SEGMENT_ROOT) &&
	    !(segment->header->flags & DLPROF_SEGMENT_LATER)) {
		r = begin_run(writer, segment, folder);
		if (r == 0)
			r = write_labels(writer);
	}
	return r < 0 ? r : writer_process(writer, &row);
}

static int take_fact(struct writer *writer, char *line)
{
	char *value = strchr(line, ' ');

	if (!value)
		return 0;
	*value++ = '\0';
	return writer_meta_noted(writer, line, value);
}

/* Returns true if one of the patch points is in the package. "torchdata.x" is not in "torch". */
static bool has_package(const char *points, const char *package)
{
	const size_t length = strlen(package);
	const char *at = points;

	while (at && (strncmp(at, package, length) != 0 || !strchr(".:", at[length]))) {
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	return at != NULL;
}

static int write_frameworks(struct writer *writer, const char *found)
{
	static const char *const frameworks[][2] = {
#define FRAMEWORK(package, name) {package, name},
#include "dlprof/frameworks.def"
#undef FRAMEWORK
	};
	char list[120] = "";

	for (size_t i = 0; i < ARRAY_COUNT(frameworks); i++)
		if (has_package(found, frameworks[i][0]))
			list_add(list, sizeof(list), frameworks[i][1]);
	return list[0] ? writer_meta(writer, META_FRAMEWORKS, list) : 0;
}

static void take_point(struct facts *facts, bool is_found, const char *point)
{
	if (is_found) {
		list_add(facts->found, sizeof(facts->found), point);
		list_remove(facts->missing, point);
	} else if (!list_has(facts->found, point)) {
		list_add(facts->missing, sizeof(facts->missing), point);
	}
}

/* Returns the level of a note. "doubt" puts the verdict in doubt, "warning" does not. */
static const char *note_level(char level)
{
	return level == '?'   ? "doubt"
	       : level == 'w' ? "warning"
	       : level == 's' ? "set"
			      : "info";
}

static int take_notes(struct facts *facts, struct writer *writer, struct segment *segment)
{
	const char *at = segment->header->notes;
	const char *end = at + segment->header->notes_bytes;
	bool whole = true;
	int r = 0;

	if (segment->told.notes_read == segment->header->notes_bytes)
		return 0;
	for (const char *line_end; r == 0 && at < end; at = line_end + 1) {
		char line[DLPROF_NOTES_BYTES + 1];

		line_end = memchr(at, '\n', (size_t)(end - at));
		/* If the process has not yet written the whole note, it is read later. */
		whole = line_end && !memchr(at, '\0', (size_t)(line_end - at));
		if (!whole)
			break;
		if (line_end == at)
			continue;
		snprintf(line, sizeof(line), "%.*s", (int)(line_end - at - 1), at + 1);
		if (at[0] == 'd') {
			r = hidden_reached(writer, line);
		} else if (at[0] == 'm') {
			r = take_fact(writer, line);
		} else if (at[0] == '+' || at[0] == '-') {
			take_point(facts, at[0] == '+', line);
		} else {
			r = writer_note(writer, note_level(at[0]), line);
		}
	}
	if (r == 0 && facts->found[0])
		r = writer_meta(writer, META_PATCH_FOUND, facts->found);
	if (r == 0 && (facts->found[0] || facts->missing[0]))
		r = writer_meta(writer, META_PATCH_MISSING, facts->missing);
	if (r == 0)
		r = write_frameworks(writer, facts->found);
	if (whole || segment->dead || segment->header->notes_bytes == DLPROF_NOTES_BYTES)
		segment->told.notes_read = segment->header->notes_bytes;
	return r;
}

static int take_losses(struct losses *losses, struct writer *writer, struct segment *segment)
{
	uint64_t sum = segment->header->lost_count;
	int64_t lost;
	int r;

	for (size_t i = 0; i < DLPROF_SLOT_COUNT; i++)
		sum += segment->rings[i].lost_count;
	lost = (int64_t)sum;
	if (lost == segment->told.lost)
		return 0;
	r = losses_add(losses, writer, segment->header->pid, "events",
		       clamp_sub(lost, segment->told.lost));
	segment->told.lost = lost;
	return r;
}

/* Returns when execve() was seen or, if that is earlier or alone known, the next life began. */
static uint64_t became_other_ns(const struct segment *segment)
{
	if (!segment->left_ns || (segment->later_ns && segment->later_ns < segment->left_ns))
		return segment->later_ns;
	return segment->left_ns;
}

static int take_end(struct writer *writer, struct segment *segment)
{
	const uint64_t end_ns = segment->gone_ns ? segment->gone_ns : segment->header->ended_ns;
	struct process_row row = facts_process(segment);

	if (!segment->dead || segment->told.ended)
		return 0;
	segment->told.ended = true;
	row.exit = segment->header->ended_ns ? "clean" : "gone";
	if (end_ns)
		row.end_ns = (int64_t)end_ns;
	if (segment->left_ns || segment->later_ns) {
		row.exit = "exec";
		row.exit_status = UNKNOWN;
		row.end_ns = (int64_t)became_other_ns(segment);
	}
	return writer_process(writer, &row);
}

int facts_update(struct facts *facts, struct losses *losses, struct writer *writer,
		 struct segment *segment)
{
	int r = segment_refresh(segment);

	if (r == 0)
		r = take_notes(facts, writer, segment);
	if (r == 0)
		r = take_losses(losses, writer, segment);
	return r < 0 ? r : take_end(writer, segment);
}

int facts_finish(struct writer *writer, struct db *db, uint64_t end_ns)
{
	int r = pack_write(db, writer);

	return r < 0 ? r : writer_meta_number(writer, META_END_NS, (int64_t)end_ns);
}
