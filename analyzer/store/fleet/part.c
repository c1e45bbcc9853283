/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fleet/part.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/cause/cause.h"
#include "analysis/ranks/rank.h"

#define MAGIC      "DLPRPART"
#define VERSION    15
#define MOST_RANKS ((uint64_t)1 << 24)
#define MOST_BYTES ((uint64_t)1 << 32)

struct grid {
	uint64_t placed;
	double wait_ns, time_ns;
	uint32_t counts[WINDOW_WIDTHS];
	uint32_t full; /* bit i: there were too many windows of width i, so they were dropped */
};

struct head {
	char magic[8];
	uint32_t version, unused;
	uint64_t bytes;
	/* checksums: of the bytes between head and windows, and of the windows */
	uint64_t check, windows_check;
	uint64_t rank_count, epoch_count, text_bytes;
	uint32_t words[PART_WORDS];
	int64_t attempt, world_size, start_unix_ns;
	int64_t origin_ns, bin_ns, step_ns;
	uint64_t group_count;
	struct grid by_clock;
};

/* The file has all groups, then the windows of each group in turn, then the windows by clock. */
struct group {
	struct rank_sums sums;
	struct grid by_step;
};

static_assert(sizeof(struct head) % 8 == 0 && sizeof(struct part_rank) % 8 == 0 &&
		      sizeof(struct grid) == 24 + 4 * (WINDOW_WIDTHS + 1) &&
		      sizeof(struct group) % 8 == 0 && sizeof(struct rank_base) == 24,
	      "the same on both processors, and in words");

/* A checksum. It finds flipped bits, and holes that a crash left, but no tampering. */
static uint64_t sum_words(uint64_t sum, const void *data, size_t bytes)
{
	const char *at = data;
	uint64_t word;

	for (; bytes >= sizeof(word); at += sizeof(word), bytes -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		sum ^= sum >> 29;
	}
	return sum;
}

static size_t padded(size_t bytes)
{
	return (bytes + 7) / 8 * 8;
}

static size_t grid_bytes(const struct grid *grid)
{
	size_t count = 0;

	for (int i = 0; i < WINDOW_WIDTHS; i++)
		count += grid->counts[i];
	return count * sizeof(struct window);
}

static size_t middle_bytes(const struct head *head)
{
	return head->group_count * sizeof(struct group) +
	       head->rank_count * sizeof(struct part_rank) +
	       head->epoch_count * sizeof(struct rank_base) + padded(head->text_bytes);
}

static size_t windows_bytes(const struct head *head, const struct group *groups)
{
	size_t bytes = grid_bytes(&head->by_clock);

	for (size_t i = 0; i < head->group_count; i++)
		bytes += grid_bytes(&groups[i].by_step);
	return bytes;
}

static uint64_t sum_head(const struct head *head, const char *middle)
{
	struct head plain = *head;

	plain.check = 0;
	return sum_words(sum_words(0, &plain, sizeof(plain)), middle, middle_bytes(head));
}

static int read_all(int fd, void *to, size_t bytes)
{
	char *at = to;
	ssize_t length;

	for (; bytes; at += length, bytes -= (size_t)length) {
		length = read(fd, at, bytes);
		if (length <= 0)
			return length < 0 ? -errno : -ENODATA;
	}
	return 0;
}

static int open_part(const char *path, int *ret_fd, struct head *ret)
{
	struct stat status;
	int r;

	*ret_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*ret_fd < 0)
		return -errno;
	r = fstat(*ret_fd, &status) < 0 ? -errno : 0;
	if (r == 0 && !S_ISREG(status.st_mode))
		r = S_ISDIR(status.st_mode) ? -EISDIR : -EMEDIUMTYPE;
	if (r == 0 && status.st_size < (off_t)sizeof(ret->magic))
		r = -EMEDIUMTYPE;
	memset(ret, 0, sizeof(*ret));
	if (r == 0)
		r = read_all(*ret_fd, ret, sizeof(*ret));
	if (r == 0 || r == -ENODATA) {
		if (memcmp(ret->magic, MAGIC, sizeof(ret->magic)) != 0)
			r = -EMEDIUMTYPE;
		else if (r == 0 && ret->version != VERSION)
			r = -EPROTO;
		else if (r == 0 && (uint64_t)status.st_size != ret->bytes)
			r = (uint64_t)status.st_size < ret->bytes ? -ENODATA : -EBADMSG;
	}
	if (r < 0)
		close(*ret_fd);
	return r;
}

/* Checks the head's counts: sums of them do not overflow, and the file's size limits memory. */
static bool is_sane_head(const struct head *head)
{
	return head->rank_count > 0 && head->rank_count <= MOST_RANKS &&
	       head->epoch_count <= MOST_BYTES && head->text_bytes <= MOST_BYTES &&
	       head->group_count > 0 && head->group_count <= RANK_GROUPS && head->origin_ns >= 0 &&
	       head->bin_ns >= 0 && head->bin_ns < INT64_MAX >> 20 &&
	       (!head->bin_ns || head->step_ns > 0) &&
	       head->bytes >= sizeof(*head) + middle_bytes(head);
}

static bool is_sane_group(const struct group *group)
{
	const struct pace *pace = &group->sums.pace;
	bool is_finite = isfinite(pace->rest_ns);

	for (int i = 0; i < PACE_CELLS; i++)
		is_finite &= isfinite(pace->cells[i]) != 0;
	return is_finite && pace->shift < 32 && pace->count < PACE_CELLS &&
	       group->sums.known_count <= group->sums.rank_count;
}

static int take_groups(const struct head *head, const struct group *groups, struct rank_job *ret)
{
	size_t ranks = 0;

	for (size_t i = 0; i < head->group_count; i++) {
		if (!is_sane_group(&groups[i]))
			return -EBADMSG;
		ranks += groups[i].sums.rank_count;
		ret->groups[i].sums = groups[i].sums;
	}
	ret->group_count = head->group_count;
	return ranks == head->rank_count && head->bytes == sizeof(*head) + middle_bytes(head) +
								   windows_bytes(head, groups)
		       ? 0
		       : -EBADMSG;
}

static bool is_text(const struct part *part, uint32_t at)
{
	return at == PART_NONE || at < part->text_bytes;
}

static bool is_sane_rank(const struct part *part, const struct part_rank *rank)
{
	return rank->group < part->job.group_count && rank->rank >= 0 &&
	       rank->verdict < STALL_VERDICT_MAX && rank->cause < CAUSE_MAX &&
	       rank->by_gpu <= 1 && rank->live <= 1 && rank->is_terminated <= 1 &&
	       rank->path != PART_NONE && is_text(part, rank->path) && is_text(part, rank->host) &&
	       is_text(part, rank->gpu) && is_text(part, rank->ended);
}

static int take_middle(const struct head *head, const char *at, struct part *ret)
{
	struct rank_base *epochs = ret->job.epochs;
	int r = take_groups(head, (const struct group *)(const void *)at, &ret->job);

	if (r < 0)
		return r;
	at += head->group_count * sizeof(struct group);
	memcpy(ret->ranks, at, head->rank_count * sizeof(*ret->ranks));
	at += head->rank_count * sizeof(*ret->ranks);
	memcpy(epochs, at, head->epoch_count * sizeof(*epochs));
	memcpy(ret->text, at + head->epoch_count * sizeof(*epochs), head->text_bytes);
	if (ret->text_bytes && ret->text[ret->text_bytes - 1])
		return -EBADMSG;
	for (int i = 0; i < PART_WORDS; i++)
		if (!is_text(ret, ret->words[i]))
			return -EBADMSG;
	for (size_t i = 0; i < head->rank_count; i++) {
		if (!is_sane_rank(ret, &ret->ranks[i]))
			return -EBADMSG;
		ret->job.members[i] = (struct rank_member){
			.period_ns = ret->ranks[i].period_ns,
			.wait_ns = ret->ranks[i].step_wait_ns,
			.starved_ns = ret->ranks[i].starved_ns,
			.group = (int32_t)ret->ranks[i].group,
			.place = ret->ranks[i].place,
		};
	}
	for (size_t i = 0; i < head->epoch_count; i++) {
		const size_t begin = i ? rank_behind(&epochs[i - 1]) : 0;

		if (epochs[i].epoch > INT32_MAX || epochs[i].length > INT32_MAX ||
		    epochs[i].base != begin || (i && epochs[i].epoch <= epochs[i - 1].epoch))
			return -EBADMSG;
	}
	return 0;
}

static int read_middle(int fd, const struct head *head, struct part *ret)
{
	const size_t bytes = middle_bytes(head);
	char *middle = malloc(bytes);
	int r = middle ? read_all(fd, middle, bytes) : -ENOMEM;

	ret->job.members = calloc(head->rank_count, sizeof(*ret->job.members));
	ret->job.groups = calloc(head->group_count, sizeof(*ret->job.groups));
	ret->job.epochs = calloc(head->epoch_count + 1, sizeof(*ret->job.epochs));
	ret->ranks = calloc(head->rank_count, sizeof(*ret->ranks));
	ret->text = malloc(head->text_bytes + 1);
	if (!ret->job.members || !ret->job.groups || !ret->job.epochs || !ret->ranks || !ret->text)
		r = -ENOMEM;
	if (r == 0 && sum_head(head, middle) != head->check)
		r = -EBADMSG;
	if (r == 0)
		r = take_middle(head, middle, ret);
	free(middle);
	return r;
}

int part_read(const char *path, struct part *ret)
{
	struct head head;
	int fd, r = open_part(path, &fd, &head);

	part_init(ret);
	if (r < 0)
		return r;
	ret->check = head.windows_check;
	ret->text_bytes = head.text_bytes;
	memcpy(ret->words, head.words, sizeof(ret->words));
	ret->attempt = head.attempt;
	ret->world_size = head.world_size;
	ret->start_unix_ns = head.start_unix_ns;
	ret->job.rank_count = head.rank_count;
	ret->job.epoch_count = head.epoch_count;
	ret->job.origin_ns = head.origin_ns;
	ret->job.bin_ns = head.bin_ns;
	ret->job.step_ns = head.step_ns;
	r = is_sane_head(&head) ? read_middle(fd, &head, ret) : -EBADMSG;
	close(fd);
	if (r < 0)
		part_done(ret);
	return r;
}

static bool is_sane_window(const struct window *window, size_t rank_count)
{
	return window->rank >= 0 && (size_t)window->rank < rank_count && window->wait_ns >= 0 &&
	       window->second_ns >= 0 && isfinite(window->wait_ns) && isfinite(window->pace_ns) &&
	       isfinite(window->sum_ns);
}

static int read_grid(int fd, const struct grid *grid, size_t rank_count, uint64_t *check,
		     struct windows *ret)
{
	int r = 0;

	ret->placed = grid->placed;
	ret->wait_ns = grid->wait_ns;
	ret->time_ns = grid->time_ns;
	for (int i = 0; r == 0 && i < WINDOW_WIDTHS; i++) {
		struct window_width *width = &ret->widths[i];
		const size_t bytes = grid->counts[i] * sizeof(*width->list);

		width->is_full = grid->full >> i & 1;
		width->list = malloc(bytes + 1);
		if (!width->list)
			return -ENOMEM;
		r = read_all(fd, width->list, bytes);
		*check = sum_words(*check, width->list, bytes);
		width->count = width->capacity = grid->counts[i];
		for (size_t k = 0; r == 0 && k < width->count; k++)
			if (!is_sane_window(&width->list[k], rank_count))
				r = -EBADMSG;
	}
	return r;
}

static int read_groups(int fd, const struct head *head, struct rank_job *ret)
{
	const size_t bytes = head->group_count * sizeof(struct group);
	struct group *groups = malloc(bytes);
	uint64_t check = 0;
	int r = groups ? read_all(fd, groups, bytes) : -ENOMEM;

	if (r == 0 && lseek(fd, (off_t)(middle_bytes(head) - bytes), SEEK_CUR) < 0)
		r = -errno;
	for (size_t i = 0; r == 0 && i < head->group_count; i++)
		r = is_sane_group(&groups[i]) ? read_grid(fd, &groups[i].by_step, head->rank_count,
							  &check, &ret->groups[i].by_step)
					      : -EBADMSG;
	free(groups);
	if (r == 0)
		r = read_grid(fd, &head->by_clock, head->rank_count, &check, &ret->by_clock);
	return r == 0 && check != head->windows_check ? -EBADMSG : r;
}

int part_read_windows(const char *path, struct part *part)
{
	struct head head;
	int fd, r = open_part(path, &fd, &head);

	if (r < 0)
		return r;
	/* The file may have been replaced since its head was first read. */
	if (!is_sane_head(&head) || head.windows_check != part->check ||
	    head.rank_count != part->job.rank_count || head.group_count != part->job.group_count)
		r = -EBADMSG;
	if (r == 0)
		r = read_groups(fd, &head, &part->job);
	close(fd);
	return r;
}

void part_done(struct part *part)
{
	rank_done(&part->job);
	free(part->ranks);
	free(part->text);
	part_init(part);
}

bool part_is(const char *path)
{
	struct head head;
	int fd, r = open_part(path, &fd, &head);

	if (r == 0)
		close(fd);
	return r == 0 || r == -EPROTO || r == -ENODATA || r == -EBADMSG;
}

int part_add_text(struct part *part, const char *text, uint32_t *ret_at)
{
	const size_t bytes = text ? strlen(text) + 1 : 0;
	char *grown;

	*ret_at = PART_NONE;
	if (!text)
		return 0;
	grown = realloc(part->text, part->text_bytes + bytes);
	if (!grown || part->text_bytes + bytes >= PART_NONE)
		return -ENOMEM;
	part->text = grown;
	memcpy(grown + part->text_bytes, text, bytes);
	*ret_at = (uint32_t)part->text_bytes;
	part->text_bytes += bytes;
	return 0;
}

const char *part_text(const struct part *part, uint32_t at)
{
	return at == PART_NONE ? NULL : part->text + at;
}

const char *part_word(const struct part *part, enum part_word word)
{
	return part_text(part, part->words[word]);
}

void part_init(struct part *part)
{
	*part = (struct part){.ranks = NULL};
	for (int i = 0; i < PART_WORDS; i++)
		part->words[i] = PART_NONE;
}

static struct grid grid_of(const struct windows *windows, uint64_t *check)
{
	struct grid grid = {windows->placed, windows->wait_ns, windows->time_ns, {0}, 0};

	for (int i = 0; i < WINDOW_WIDTHS; i++) {
		const struct window_width *width = &windows->widths[i];

		grid.counts[i] = (uint32_t)width->count;
		grid.full |= (uint32_t)width->is_full << i;
		*check = sum_words(*check, width->list, width->count * sizeof(*width->list));
	}
	return grid;
}

/* Returns the file's bytes between head and windows; NULL: no memory. */
static char *make_middle(const struct part *part, const struct head *head, uint64_t *windows_check)
{
	char *middle = calloc(1, middle_bytes(head)), *at = middle;

	if (!middle)
		return NULL;
	for (size_t i = 0; i < head->group_count; i++, at += sizeof(struct group)) {
		const struct rank_group *from = &part->job.groups[i];
		const struct group group = {from->sums, grid_of(&from->by_step, windows_check)};

		memcpy(at, &group, sizeof(group));
	}
	memcpy(at, part->ranks, head->rank_count * sizeof(*part->ranks));
	for (size_t i = 0; i < head->rank_count; i++)
		((struct part_rank *)(void *)at)[i].group = (uint32_t)part->job.members[i].group;
	at += head->rank_count * sizeof(*part->ranks);
	if (head->epoch_count)
		memcpy(at, part->job.epochs, head->epoch_count * sizeof(*part->job.epochs));
	at += head->epoch_count * sizeof(*part->job.epochs);
	if (part->text_bytes)
		memcpy(at, part->text, part->text_bytes);
	return middle;
}

static void put_windows(const struct windows *windows, FILE *out)
{
	for (int i = 0; i < WINDOW_WIDTHS; i++)
		if (windows->widths[i].count)
			fwrite(windows->widths[i].list, sizeof(struct window),
			       windows->widths[i].count, out);
}

int part_write(const struct part *part, FILE *out)
{
	const struct rank_job *job = &part->job;
	struct head head = {
		.magic = MAGIC,
		.version = VERSION,
		.rank_count = job->rank_count,
		.epoch_count = job->epoch_count,
		.text_bytes = part->text_bytes,
		.attempt = part->attempt,
		.world_size = part->world_size,
		.start_unix_ns = part->start_unix_ns,
		.origin_ns = job->origin_ns,
		.bin_ns = job->bin_ns,
		.step_ns = job->step_ns,
		.group_count = job->group_count,
	};
	char *middle = make_middle(part, &head, &head.windows_check);

	if (!middle)
		return -ENOMEM;
	memcpy(head.words, part->words, sizeof(head.words));
	head.by_clock = grid_of(&job->by_clock, &head.windows_check);
	head.bytes = sizeof(head) + middle_bytes(&head) +
		     windows_bytes(&head, (const struct group *)(void *)middle);
	head.check = sum_head(&head, middle);
	fwrite(&head, sizeof(head), 1, out);
	fwrite(middle, 1, middle_bytes(&head), out);
	for (size_t i = 0; i < job->group_count; i++)
		put_windows(&job->groups[i].by_step, out);
	put_windows(&job->by_clock, out);
	free(middle);
	return 0;
}
