/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tally.h"

#include <string.h>

#include "base/text.h"
#include "dlprof/hash.h"
#include "record/segment.h"

enum {
	FILES = DLPROF_TALLY_NAMED_COUNT,
	FOLDERS = FILES + DLPROF_TALLY_FILE_COUNT,
	SAMPLES = FOLDERS + DLPROF_TALLY_FOLDER_COUNT,
	KERNELS = DLPROF_TALLY_KERNELS_AT,
};

static OFTEN void set_name(char *field, size_t size, const char *name)
{
	size_t length;

	name = text_end(name ? name : "", size);
	length = strlen(name);
	if (length)
		memcpy(field, name, length);
	memset(field + length, 0, size - length);
}

/* Gives a tally another name. Its version is odd meanwhile, so that the drain ignores it. */
static OFTEN void rename_tally(struct dlprof_tally *tally, enum dlprof_tally_kind kind,
			       const char *name, const char *detail, uint64_t class)
{
	uint32_t version = atomic_load_explicit(&tally->version, memory_order_relaxed);

	atomic_store_explicit(&tally->version, version + (version % 2 ? 2 : 1),
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	tally->kind = kind;
	tally->class = class;
	set_name(tally->name, sizeof(tally->name), name);
	set_name(tally->detail, sizeof(tally->detail), detail);
}

static void rename_done(struct dlprof_tally *tally)
{
	atomic_store_explicit(&tally->version,
			      atomic_load_explicit(&tally->version, memory_order_relaxed) + 1,
			      memory_order_release);
}

static OFTEN bool holds(const char *field, size_t size, const char *name)
{
	return strcmp(field, name) == 0 || strcmp(field, text_end(name, size)) == 0;
}

static OFTEN bool is_called(const struct dlprof_tally *tally, enum dlprof_tally_kind kind,
			    const char *name, const char *detail, uint64_t class)
{
	return tally->kind == (uint32_t)kind && tally->class == class &&
	       holds(tally->name, sizeof(tally->name), name) &&
	       holds(tally->detail, sizeof(tally->detail), detail);
}

OFTEN uint64_t tally_width_class(uint32_t width)
{
	static const uint32_t classes[] = DLPROF_WIDTH_CLASSES;
	size_t i = 0;

	while (i < sizeof(classes) / sizeof(classes[0]) - 1 && width > classes[i])
		i++;
	return classes[i];
}

/* A fast hash, but not a good one: names with equal hashes must be compared. */
static OFTEN uint64_t hash_whole(const char *name, size_t length)
{
	uint64_t hash = length, word;

	for (; length >= 8; name += 8, length -= 8) {
		memcpy(&word, name, 8);
		hash = hash_word(hash, word);
		hash ^= hash >> 29;
	}
	for (word = 0; length; length--)
		word = word << 8 | (uint8_t)*name++;
	return hash_word(hash, word);
}

static uint32_t hash_of(const char *name, size_t length)
{
	return (uint32_t)(hash_whole(name, length) >> 32);
}

uint64_t tally_id(const char *name)
{
	return hash_whole(name, strlen(name)) >> 14 | 1;
}

#define BLOCK THREAD_TOP_BLOCK

/* Returns a part of the hash for thread_top.tags. It is never 0, which means free. */
static uint16_t tag_of(uint32_t hash)
{
	return (uint16_t)(hash >> 16) | 1;
}

/* Returns the next place with this tag. Mostly there is none, which is found without branches. */
static OFTEN uint32_t find_tag(const struct thread_top *top, uint16_t tag, uint32_t from)
{
	for (uint32_t block = from - from % BLOCK; block < top->count; block += BLOCK) {
		const uint16_t *tags = &top->tags[block];
		uint16_t equal = 0;

		for (int i = 0; i < BLOCK; i++)
			equal |= tags[i] == tag;
		for (uint32_t i = 0; equal && i < BLOCK; i++)
			if (tags[i] == tag && block + i >= from)
				return block + i;
	}
	return top->count;
}

static OFTEN void find_lightest(struct thread_top *top, uint32_t block)
{
	uint32_t lightest = block * BLOCK;

	for (uint32_t i = lightest + 1; i < (block + 1) * BLOCK; i++)
		if (top->ns[i] < top->ns[lightest])
			lightest = i;
	top->lightest[block] = (uint8_t)lightest;
	top->lightest_ns[block] = top->ns[lightest];
}

/* Notes a tally's new time. Only if it was the block's lightest, the lightest is searched anew. */
static OFTEN void set_weight(struct thread_top *top, const struct dlprof_tally *tally)
{
	uint32_t place = (uint32_t)(tally - top->tallies);

	top->ns[place] = tally->ns;
	if (top->lightest[place / BLOCK] == place)
		find_lightest(top, place / BLOCK);
}

/* Gives the tally with the least time to a new name. Its time becomes the new tally's error_ns. */
static OFTEN struct dlprof_tally *take_lightest(struct thread_top *top, const char *name,
						uint64_t class, uint16_t tag)
{
	uint32_t block = 0, lightest;
	struct dlprof_tally *tally;

	for (uint32_t i = 1; i < top->count / BLOCK; i++)
		if (top->lightest_ns[i] < top->lightest_ns[block])
			block = i;
	lightest = top->lightest[block];
	tally = &top->tallies[lightest];
	rename_tally(tally, top->kind, name, NULL, class);
	tally->error_ns = tally->ns;
	tally->count = tally->bytes = tally->slowest_ns = 0;
	rename_done(tally);
	top->tags[lightest] = tag;
	return tally;
}

static OFTEN struct dlprof_tally *place_of(struct thread_top *top, const char *name)
{
	uint16_t tag;
	size_t length;

	name = text_end(name, DLPROF_TALLY_NAME_BYTES);
	length = strlen(name);
	tag = tag_of(hash_of(name, length));
	for (uint32_t i = 0; (i = find_tag(top, tag, i)) < top->count; i++)
		if (memcmp(top->tallies[i].name, name, length + 1) == 0)
			return &top->tallies[i];
	return take_lightest(top, name, 0, tag);
}

/* Returns the hash by which a tally is found: that of its name, or a kernel's id. */
static uint32_t hash_in(const struct dlprof_tally *tally)
{
	return tally->class ? (uint32_t)tally->class
			    : hash_of(tally->name, strnlen(tally->name, sizeof(tally->name)));
}

static void fill_top(struct thread_top *top, struct dlprof_tally *tallies, uint32_t count,
		     enum dlprof_tally_kind kind)
{
	top->tallies = tallies;
	top->count = count;
	top->kind = kind;
	for (uint32_t i = 0; i < count; i++) {
		const struct dlprof_tally *tally = &tallies[i];

		top->ns[i] = tally->ns;
		top->tags[i] = tally->kind == DLPROF_TALLY_NONE ? 0 : tag_of(hash_in(tally));
	}
	for (uint32_t block = 0; block < count / BLOCK; block++)
		find_lightest(top, block);
}

/* Makes the tallies of a thread. A thread that only takes or pins batches never needs them. */
static RARELY struct dlprof_tally *tallies_made(struct thread *thread)
{
	struct dlprof_tally *tallies = thread->slot->tallies;

	if (segment_reserve(thread->slot, SEGMENT_TALLIES) < 0)
		return NULL;
	fill_top(&thread->files, tallies + FILES, DLPROF_TALLY_FILE_COUNT, DLPROF_TALLY_FILE);
	fill_top(&thread->folders, tallies + FOLDERS, DLPROF_TALLY_FOLDER_COUNT,
		 DLPROF_TALLY_FOLDER);
	thread->tallies = tallies;
	return tallies;
}

/* Returns the thread's tallies, made if necessary, or NULL if the disk is full. */
static struct dlprof_tally *tallies_of(struct thread *thread)
{
	return likely(thread->tallies) ? thread->tallies : tallies_made(thread);
}

/* Returns a tally's index, or DLPROF_TALLY_NAMED_COUNT if there is no room. */
static RARELY uint8_t find_named(struct dlprof_tally *tallies, enum dlprof_tally_kind kind,
				 const char *name, const char *detail, uint64_t class)
{
	uint8_t i = 0;

	while (i < DLPROF_TALLY_NAMED_COUNT && tallies[i].kind != DLPROF_TALLY_NONE &&
	       !is_called(&tallies[i], kind, name, detail, class))
		i++;
	if (i < DLPROF_TALLY_NAMED_COUNT && tallies[i].kind == DLPROF_TALLY_NONE) {
		rename_tally(&tallies[i], kind, name, detail, class);
		rename_done(&tallies[i]);
	}
	return i;
}

OFTEN struct dlprof_tally *tally_named(struct thread *thread, enum dlprof_tally_kind kind,
				       const char *name, const char *detail, uint64_t class)
{
	struct dlprof_tally *tallies = tallies_of(thread);
	uint8_t *last = &thread->named[((uintptr_t)name / 8 ^ class / 128) % THREAD_NAMED_MAX], at;

	if (unlikely(!tallies))
		return NULL;
	detail = detail ? detail : "";
	if (unlikely(!is_called(&tallies[*last], kind, name, detail, class))) {
		at = find_named(tallies, kind, name, detail, class);
		if (at == DLPROF_TALLY_NAMED_COUNT) {
			thread->slot->unnamed_count++;
			return NULL;
		}
		*last = at;
	}
	return &tallies[*last];
}

OFTEN void tally_settle(struct thread *thread)
{
	struct thread_visit *visit = &thread->visit;

	if (!visit->file)
		return;
	set_weight(&thread->files, visit->file);
	if (!visit->folder)
		return;
	visit->folder->count += visit->file->count - visit->count;
	visit->folder->ns += visit->file->ns - visit->ns;
	visit->folder->bytes += visit->file->bytes - visit->bytes;
	if (visit->file->slowest_ns > visit->folder->slowest_ns)
		visit->folder->slowest_ns = visit->file->slowest_ns;
	visit->count = visit->file->count;
	visit->ns = visit->file->ns;
	visit->bytes = visit->file->bytes;
}

static OFTEN struct dlprof_tally *folder_of(struct thread *thread, char *path,
					    struct dlprof_tally *last)
{
	char *slash = strrchr(path, '/');

	if (slash)
		slash[slash == path] = '\0';
	if (slash && last && strcmp(last->name, text_end(path, sizeof(last->name))) == 0)
		return last;
	if (last)
		set_weight(&thread->folders, last);
	return slash ? place_of(&thread->folders, path) : NULL;
}

OFTEN void tally_visit(struct thread *thread, int fd)
{
	struct thread_visit *visit = &thread->visit;
	struct dlprof_tally *last = visit->folder;
	char path[FD_PATH_BYTES];

	tally_settle(thread);
	/* Forget the last file first, so that no signal handler finds a half-changed one. */
	visit->quick = &thread_no_version;
	atomic_signal_fence(memory_order_seq_cst);
	visit->fd = fd;
	visit->version = fd_path(fd, path);
	visit->file = visit->folder = NULL;
	if (!tallies_of(thread))
		return;
	if (path[0]) {
		visit->file = place_of(&thread->files, path);
		visit->count = visit->file->count;
		visit->ns = visit->file->ns;
		visit->bytes = visit->file->bytes;
		if (!visit->sample_first)
			visit->sample_first = visit->file;
	}
	visit->folder = folder_of(thread, path, last);
}

void tally_take_back(int fd)
{
	struct thread *thread = thread_known();
	struct thread_visit *visit;
	struct dlprof_tally *file;

	/* A vfork child that goes on here would change the state of a thread of its parent. */
	if (!thread || !segment_is_own() || !tally_is_visited(thread, fd) || !thread->visit.file)
		return;
	visit = &thread->visit;
	file = visit->file;
	file->count = visit->count;
	file->ns = visit->ns;
	file->bytes = visit->bytes;
	if (!file->count)
		file->slowest_ns = 0;
}

OFTEN const char *tally_visited(const struct thread *thread)
{
	return thread->visit.file ? thread->visit.file->name : NULL;
}

OFTEN const char *tally_sample_file(const struct thread *thread)
{
	const struct dlprof_tally *first = thread->visit.sample_first;

	return first && first != thread->visit.sample_before ? first->name : tally_visited(thread);
}

OFTEN void tally_sample(struct thread *thread, const char *dataset, uint64_t index, uint64_t ns,
			const char *path)
{
	struct dlprof_tally *tallies, *tally;
	uint64_t count = 1;

	if (likely(ns <= thread->sample_floor_ns))
		return;
	tallies = tallies_of(thread);
	if (!tallies)
		return;
	tally = tallies += SAMPLES;
	for (uint32_t i = 0; i < DLPROF_TALLY_SAMPLE_COUNT; i++) {
		if (is_called(&tallies[i], DLPROF_TALLY_SAMPLE, tallies[i].name, dataset, index)) {
			tally = &tallies[i];
			count = tally->count + 1;
			tally->count = count;
			break;
		}
		if (tallies[i].ns < tally->ns)
			tally = &tallies[i];
	}
	if (ns > tally->ns) {
		rename_tally(tally, DLPROF_TALLY_SAMPLE, path, dataset, index);
		tally->count = count;
		tally->ns = tally->slowest_ns = ns;
		rename_done(tally);
	}
	thread->sample_floor_ns = UINT64_MAX;
	for (uint32_t i = 0; i < DLPROF_TALLY_SAMPLE_COUNT; i++)
		if (tallies[i].ns < thread->sample_floor_ns)
			thread->sample_floor_ns = tallies[i].ns;
}

/* Finds a kernel by its id, as the stored beginnings of names may be equal. */
static struct dlprof_tally *place_of_kernel(struct thread_top *top, const char *name, uint64_t id)
{
	char begin[DLPROF_TALLY_NAME_BYTES];
	size_t length;
	const uint16_t tag = tag_of((uint32_t)id);

	for (uint32_t i = 0; (i = find_tag(top, tag, i)) < top->count; i++)
		if (top->tallies[i].class == id)
			return &top->tallies[i];
	/* Of a kernel's name, the beginning says more: the end is template arguments. */
	length = strnlen(name, sizeof(begin) - 1);
	memcpy(begin, name, length);
	begin[length] = '\0';
	return take_lightest(top, begin, id, tag);
}

static bool has_kernels(struct thread *thread)
{
	if (thread->kernels.count)
		return true;
	if (segment_reserve(thread->slot, SEGMENT_KERNELS) < 0)
		return false;
	fill_top(&thread->kernels, thread->slot->tallies + KERNELS, DLPROF_TALLY_KERNEL_COUNT,
		 DLPROF_TALLY_KERNEL);
	return true;
}

void tally_kernel(struct thread *thread, const char *name, uint64_t id, uint64_t ns)
{
	struct dlprof_tally *tally;

	if (!has_kernels(thread))
		return;
	tally = place_of_kernel(&thread->kernels, name, id);
	tally_count(tally, 1, ns, 0);
	set_weight(&thread->kernels, tally);
}
