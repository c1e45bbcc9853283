/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/metrics/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/account/stall.h"
#include "dlprof/folder.h"
#include "dlprof/units.h"
#include "store/database/door.h"
#include "store/run/query.h"

static const struct {
	const char *name, *type, *part, *help;
} rows[METRIC_MAX] = {
#define METRIC(id, name, type, part, help) {name, type, part, help},
#include "drain/metrics/metrics.def"
};

/* Writes valid UTF-8: Prometheus would refuse a file with one invalid byte. */
static void put_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; value && *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		fputc(*value >= ' ' && *value <= '~' ? *value : '?', out);
	}
	fputc('"', out);
}

static void put_number_label(FILE *out, const char *name, int64_t value)
{
	fprintf(out, ",%s=\"%" PRId64 "\"", name, value < 0 ? 0 : value);
}

static void put_sample(FILE *out, enum metric metric, const struct live_labels *labels,
		       double value)
{
	fprintf(out, "%s{", rows[metric].name);
	put_label(out, "job_id", labels->job_id ? labels->job_id : labels->run_id);
	put_number_label(out, "rank", labels->rank);
	put_number_label(out, "local_rank", labels->local_rank);
	if (rows[metric].part)
		fprintf(out, ",part=\"%s\"", rows[metric].part);
	if (metric == METRIC_INFO) {
		put_label(out, ",version", labels->version);
		put_label(out, ",clock", "host");
	}
	fprintf(out, "} %.15g\n", value);
}

void metrics_put(FILE *out, const struct live_labels *labels, const double value[METRIC_MAX])
{
	for (enum metric metric = 0; metric < METRIC_MAX; metric++) {
		if (rows[metric].help)
			fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", rows[metric].name,
				rows[metric].help, rows[metric].name, rows[metric].type);
		if (!isnan(value[metric]))
			put_sample(out, metric, labels, value[metric]);
	}
	fputs("# EOF\n", out);
}

#define EVERY_NS   UINT64_C(15000000000)
#define STALE_S    300
#define SUFFIX     ".prom"
#define UNFINISHED ".new" /* an unfinished file ends in this; the collector reads *.prom */
#define LONGEST_NS 1e18   /* longer times are impossible: the ring is damaged */

static const struct meta_field LABELS[] = {
	{META_JOB_ID, offsetof(struct live_labels, job_id)},
	{META_RUN_ID, offsetof(struct live_labels, run_id)},
	{META_VERSION, offsetof(struct live_labels, version)},
	{META_RANK, offsetof(struct live_labels, rank)},
	{META_LOCAL_RANK, offsetof(struct live_labels, local_rank)},
};

/* Returns true for "dlprof-PID-TICKS.prom", perhaps followed by UNFINISHED. */
static bool is_ours(const char *name)
{
	const char *end = strstr(name, SUFFIX);
	char stem[NAME_MAX + 1];
	uint64_t pid, ticks;

	if (!end || (strcmp(end, SUFFIX) != 0 && strcmp(end, SUFFIX UNFINISHED) != 0))
		return false;
	snprintf(stem, sizeof(stem), "%.*s", (int)(end - name), name);
	return dlprof_parse_folder(stem, &pid, &ticks);
}

/* Removes only files that killed drains left: the folder may be shared, like /tmp. */
static void remove_stale(const char *folder)
{
	const time_t now = time(NULL);
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat status;

	while (dir && (entry = readdir(dir)))
		if (is_ours(entry->d_name) &&
		    fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    status.st_mtime < now - STALE_S)
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

void live_begin(struct live *live, const char *segment_dir)
{
	const char *folder = getenv("DLPROF_METRICS_DIR"), *name = strrchr(segment_dir, '/');

	if (!folder || folder[0] != '/' || !name)
		return;
	snprintf(live->path, sizeof(live->path), "%s%s" SUFFIX, folder, name);
	if (snprintf(live->part, sizeof(live->part), "%s" UNFINISHED, live->path) >= PATH_MAX) {
		live->path[0] = '\0';
		return;
	}
	/* A remote folder is not used: if its server did not answer, the drain would hang. */
	live->is_remote = door_is_remote(folder);
	if (!live->is_remote)
		remove_stale(folder);
}

void live_end(struct live *live)
{
	if (live_wanted(live))
		unlink(live->path);
	meta_free(&live->labels, LABELS, ARRAY_COUNT(LABELS));
}

static void add(struct live_sums *sums, enum metric metric, double value)
{
	if (value > 0 && value < LONGEST_NS)
		sums->value[metric] += value;
}

/* Returns the account of a thread, which begins with its first batch; NULL before. */
static struct live_thread *find_thread(struct live_sums *sums, const struct live_place *of)
{
	for (size_t i = 0; i < sums->thread_count; i++)
		if (life_is(&sums->threads[i].life, &of->consumer) &&
		    sums->threads[i].tid == of->tid)
			return &sums->threads[i];
	return NULL;
}

static void extend(struct live_thread *thread, double end_ns)
{
	if (end_ns > thread->end_ns && end_ns < LONGEST_NS)
		thread->end_ns = end_ns;
}

static void add_wait(struct live_sums *sums, const struct live_place *of,
		     const struct batch_values *row)
{
	const struct batch_row times = {.wait_ns = row->wait_ns, .load_ns = row->load_ns};
	const int64_t received_ns = query_handover_ns(&times, row->begin_ns, row->load_begin_ns);
	const double free_ns = fmax((double)row->free_ns, 0);
	const double wait_ns = (double)row->wait_ns + free_ns;
	const struct account_wait parts =
		account_divide(of->workers, wait_ns, query_known(received_ns) + free_ns,
			       query_known(row->sample_ns));

	if (row->batch < account_start_count(of->workers)) {
		add(sums, METRIC_WAIT_EPOCH_START, wait_ns);
		return;
	}
	if (isnan(parts.not_ready_ns))
		add(sums, METRIC_WAIT_UNKNOWN, wait_ns - fmax(parts.sampling_ns, 0));
	add(sums, METRIC_WAIT_NOT_READY, parts.not_ready_ns);
	add(sums, METRIC_WAIT_RECEIVING, parts.receiving_ns);
	add(sums, METRIC_WAIT_SAMPLING, parts.sampling_ns);
}

#define STEPS_OCTAVE 8

/* Returns the median step, exact to 5 %. Only the report needs the exact median. */
static double median_step_ns(const struct live_sums *sums)
{
	uint32_t count = 0;

	for (int i = 0; i < LIVE_STEPS; i++) {
		count += sums->steps[i];
		if (2 * count > sums->step_count)
			return exp2((i + .5) / STEPS_OCTAVE);
	}
	return 0;
}

static void add_step(struct live_sums *sums, double ns)
{
	const double cell = ns < 1 ? 0 : floor(log2(ns) * STEPS_OCTAVE);

	sums->steps[cell < LIVE_STEPS ? (int)cell : LIVE_STEPS - 1]++;
	sums->step_count++;
}

static bool is_starved(const struct live_sums *sums, const struct live_place *of,
		       const struct batch_values *row)
{
	const double theta_ns = fmax(DLPROF_STARVED_LEAST_NS,
				     median_step_ns(sums) * DLPROF_STARVED_LEAST_PERCENT / 100);

	return row->batch >= stall_start_count(of->workers) &&
	       stall_is_starved(row->wait_ns, (int)row->head_ready, theta_ns);
}

static void add_batch(struct live_sums *sums, const struct live_place *of,
		      const struct batch_values *row)
{
	const double out_ns = (double)row->begin_ns + (double)row->wait_ns;
	struct live_thread *thread = find_thread(sums, of);

	if (of->nested) /* the wait is inside another batch's wait */
		return;
	add(sums, METRIC_BATCHES, 1);
	if (row->wait_ns < 0 || row->begin_ns < 0)
		return;
	sums->value[METRIC_LAST_BATCH] = fmax(sums->value[METRIC_LAST_BATCH], out_ns);
	if (row->qdepth >= 0)
		sums->value[METRIC_QUEUE] = (double)row->qdepth;
	if (row->compute_ns >= 0)
		add_step(sums, (double)row->compute_ns);
	if (is_starved(sums, of, row))
		add(sums, METRIC_STARVED, 1);
	if (thread) {
		if (row->batch == 0 && (double)of->setup_begin_ns >= thread->begin_ns)
			add(sums, METRIC_WAIT_EPOCH_START, (double)of->setup_ns);
		add_wait(sums, of, row);
	} else if (sums->thread_count < LIVE_THREADS) {
		thread = &sums->threads[sums->thread_count++];
		*thread = (struct live_thread){of->consumer, of->tid, out_ns, out_ns};
	} else {
		return;
	}
	extend(thread, fmax(out_ns, (double)row->begin_ns + (double)row->step_ns));
}

void live_row(struct live *live, const struct live_place *of, const struct batch_values *row,
	      bool loaded, bool delivered)
{
	struct live_sums *sums = &live->now;

	if (loaded) {
		add(sums, METRIC_LOAD, (double)row->load_ns);
		add(sums, METRIC_READ, (double)row->read_bytes);
		add(sums, METRIC_STORAGE, (double)row->storage_bytes);
	}
	if (delivered)
		add_batch(sums, of, row);
}

void live_stop(struct live *live, const struct live_place *of, int64_t begin_ns, int64_t ns)
{
	struct live_thread *thread = find_thread(&live->now, of);

	if (!thread || of->nested || begin_ns < 0 || ns < 0)
		return;
	add(&live->now, METRIC_WAIT_EPOCH_END, (double)ns);
	extend(thread, (double)begin_ns + (double)ns);
}

void live_committed(struct live *live)
{
	live->stored = live->now;
}

void live_rewind(struct live *live)
{
	live->now = live->stored;
}

static double compute_ns(const struct live_sums *sums)
{
	double ns = 0;

	for (size_t i = 0; i < sums->thread_count; i++)
		ns += sums->threads[i].end_ns - sums->threads[i].begin_ns;
	for (enum metric part = METRIC_WAIT_NOT_READY; part <= METRIC_WAIT_UNKNOWN; part++)
		ns -= sums->value[part];
	return ns;
}

static int64_t lost_count(const struct live *live, struct segment *const *segments, size_t count)
{
	int64_t sum = live->lost_count;

	for (size_t i = 0; i < count; i++)
		sum += segments[i]->told.lost;
	return sum;
}

static void fill(struct live *live, uint64_t now_ns, double ret[METRIC_MAX])
{
	const struct live_sums *sums = &live->stored;
	struct timespec unix_now;
	double now_s;

	clock_gettime(CLOCK_REALTIME, &unix_now);
	now_s = (double)unix_now.tv_sec + (double)unix_now.tv_nsec / NS_PER_S;
	memcpy(ret, sums->value, sizeof(sums->value));
	live->compute_ns = fmax(live->compute_ns, compute_ns(sums));
	ret[METRIC_COMPUTE] = live->compute_ns;
	for (enum metric metric = METRIC_WAIT_NOT_READY; metric <= METRIC_LOAD; metric++)
		ret[metric] /= NS_PER_S;
	ret[METRIC_UPDATED] = now_s;
	ret[METRIC_INFO] = 1;
	if (sums->value[METRIC_LAST_BATCH] > 0)
		ret[METRIC_LAST_BATCH] =
			now_s - ((double)now_ns - sums->value[METRIC_LAST_BATCH]) / NS_PER_S;
	else
		ret[METRIC_LAST_BATCH] = ret[METRIC_QUEUE] = NAN;
}

static int write_file(const struct live *live, const double value[METRIC_MAX])
{
	FILE *file;
	int fd, r;

	/* An earlier drain of this run may have left a file of this name. */
	if (unlink(live->part) < 0 && errno != ENOENT)
		return -errno;
	fd = open(live->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	/* The collector is another user, whom the training's umask may forbid to read. */
	r = fchmod(fd, 0644) < 0 ? -errno : 0;
	file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	metrics_put(file, &live->labels, value);
	errno = EIO;
	if (ferror(file) && r == 0)
		r = -errno;
	if (fclose(file) < 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(live->part, live->path) < 0)
		r = -errno;
	if (r < 0)
		unlink(live->part);
	return r;
}

/* Warns only once: more notes of the same kind would fill the database. */
static int warn(struct live *live, struct writer *writer, const char *why)
{
	char text[PATH_MAX + 200];

	if (live->warned)
		return 0;
	live->warned = true;
	snprintf(text, sizeof(text), "DLPROF_METRICS_DIR: '%s' cannot be written: %s", live->path,
		 why);
	return writer_note(writer, "warning", text);
}

int live_update(struct live *live, struct db *db, struct writer *writer,
		struct segment *const *segments, size_t count, uint64_t now_ns)
{
	double value[METRIC_MAX];
	int r = 0;

	if (!live->path[0] || now_ns < live->due_ns)
		return 0;
	live->due_ns = now_ns + EVERY_NS;
	if (live->is_remote)
		return warn(live, writer, "it is on a network file system");
	if (!live->is_labelled)
		r = meta_read(db, &live->labels, LABELS, ARRAY_COUNT(LABELS));
	if (r < 0)
		return r;
	live->is_labelled = true;
	fill(live, now_ns, value);
	value[METRIC_LOST] = (double)lost_count(live, segments, count);
	r = write_file(live, value);
	return r < 0 ? warn(live, writer, strerror(-r)) : 0;
}
