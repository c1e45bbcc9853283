/* SPDX-License-Identifier: Apache-2.0 */
#include "store/run/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/array.h"
#include "store/database/meta.h"
#include "store/database/rows.h"

/* No drain writes more than this. If a file has more, the rest is not read. */
#define MOST_FRAMES 50000
#define MOST_STACKS 50000
#define MOST_DEPTH  256
#define MOST_DOING  4096

static const char FRAMES_SQL[] =
	"SELECT id, file, function, line FROM t_frame ORDER BY id LIMIT ?1";

static const char STACKS_SQL[] = "SELECT role, phase, loader_id, count, ns, frames FROM t_stack"
				 " ORDER BY ns DESC, role, phase, loader_id, frames LIMIT ?1";

static const char DOING_SQL[] =
	"SELECT pid, worker_id, since_ns, seen_ns, role, frames FROM t_doing"
	" ORDER BY worker_id, pid LIMIT ?1";

#define OBSERVED "observed" /* value of META_LINES if stacks were sampled */

static const struct meta_field FIELDS[] = {{META_LINES, offsetof(struct line_samples, reason)}};

struct reader {
	struct line_samples *samples;
	int64_t *ids;
	size_t places;
};

/* Returns true if the function is get() of a queue, from which workers take their tasks. */
static bool is_queue(const char *file, const char *function)
{
	static const char queues[] = "/multiprocessing/queues.py";
	const size_t length = strlen(file), end = strlen(queues);

	return length > end && strcmp(file + length - end, queues) == 0 &&
	       strcmp(lines_bare_name(function), "get") == 0;
}

static bool is_waiter(const char *file)
{
	static const char *const parts[] = {"torch/utils/data/dataloader.py",
					    "torch/utils/data/_utils/", "/multiprocessing/",
					    "/threading.py", "/selectors.py", "/queue.py"};

	for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
		if (strstr(file, parts[i]))
			return true;
	return false;
}

/* Returns true for code of torch.compile() that runs only while it compiles. */
static bool is_compiler(const char *file)
{
	static const char *const names[] = {"convert_frame", "symbolic_convert", "output_graph",
					    "_inductor/graph", "_inductor/scheduler",
					    "_inductor/codecache", "_inductor/async_compile"};

	for (size_t i = 0; strstr(file, "/torch/_") && i < ARRAY_COUNT(names); i++)
		if (strstr(file, names[i]))
			return true;
	return false;
}

static unsigned does(const char *file, const char *function, bool is_waiter)
{
	const char *name = lines_bare_name(function);
	unsigned does = strstr(file, "/multiprocessing/resource_sharer.py") ? LINE_SHARES : 0;

	/* In these functions PyTorch's loader calls iter() or next() of a sampler. */
	if (strstr(file, "torch/utils/data/dataloader.py") &&
	    (strcmp(name, "_next_index") == 0 ||
	     strcmp(function, "_BaseDataLoaderIter._reset") == 0 ||
	     strcmp(function, "_BaseDataLoaderIter.__init__") == 0))
		does |= LINE_CHOOSES;
	if (!is_waiter && lines_is_maker(function) && !strstr(file, "/subprocess.py"))
		does |= LINE_MAKES;
	if (is_compiler(file))
		does |= LINE_COMPILES;
	/* NumPy's sum(), any(), stack() and the like are Python functions around C. */
	if (strstr(file, "/numpy/_core/") || strstr(file, "/numpy/core/"))
		does |= LINE_WRAPS;
	/* These two call the C++ engine: _engine_run_backward() since PyTorch 2.3. */
	if (strstr(file, "/torch/autograd/") && (strcmp(name, "_engine_run_backward") == 0 ||
						 strcmp(name, "backward") == 0))
		does |= LINE_GOES_BACK;
	if (strstr(file, "/torch/utils/data/_utils/fetch.py"))
		does |= LINE_FETCHES;
	if (strcasestr(function, "collat"))
		does |= LINE_COLLATES;
	if (lines_is_iterator(function) && !strstr(file, "/torch/utils/data/"))
		does |= LINE_ITERATES;
	if (strcmp(name, "__getitem__") == 0)
		does |= LINE_GETS_ITEM;
	/* Subset.__getitems__, PyTorch's own, mostly asks for one sample at a time. */
	if (strcmp(name, "__getitems__") == 0 && !strstr(file, "/torch/utils/data/"))
		does |= LINE_GETS_ITEMS;
	return does;
}

static int read_frames(struct db *db, struct reader *reader)
{
	struct line_samples *samples = reader->samples;
	ROWS *stmt = NULL;
	int r = rows_ask(db, &stmt, FRAMES_SQL, "n", (int64_t)MOST_FRAMES);

	while (r >= 0 && (r = rows_next(stmt)) == 1) {
		struct line_frame *frame = &samples->frames[samples->frame_count];
		const char *file = rows_text(stmt, 1, REDACT_NOT);
		const char *function = rows_text(stmt, 2, REDACT_NOT);

		frame->is_own = file && lines_is_own(file);
		frame->is_iterator = !frame->is_own && function && lines_is_iterator(function);
		frame->is_waiter = file && !frame->is_own && is_waiter(file);
		frame->is_queue = !frame->is_own && file && function && is_queue(file, function);
		frame->does = does(file ? file : "", function ? function : "", frame->is_waiter);
		frame->line = rows_time(stmt, 3) == UNKNOWN ? 0 : rows_time(stmt, 3);
		r = rows_copy(stmt, 1, REDACT_FILE, &frame->file);
		if (r == 0)
			r = rows_copy(stmt, 2, REDACT_OTHER, &frame->function);
		reader->ids[samples->frame_count] = rows_int(stmt, 0);
		samples->frame_count += r == 0 && frame->file && frame->function;
	}
	return r;
}

static size_t place_of(const int64_t *ids, size_t count, int64_t id)
{
	size_t at = ARRAY_PLACE(count, i, ids[i] < id);

	return at < count && ids[at] == id ? at : count;
}

/* Adds the frames whose ids `text` lists; unknown ids are left out. */
static int add_places(struct reader *reader, const char *text, size_t *ret_depth)
{
	struct line_samples *samples = reader->samples;
	const char *at = text ? text : "";

	*ret_depth = 0;
	while (*at && *ret_depth < MOST_DEPTH) {
		char *end;
		size_t place = place_of(reader->ids, samples->frame_count, strtoll(at, &end, 10));

		if (end == at)
			break;
		at = end;
		if (place == samples->frame_count)
			continue;
		if (!ARRAY_GROW(samples->places, reader->places))
			return -ENOMEM;
		samples->places[reader->places++] = (uint32_t)place;
		++*ret_depth;
	}
	return 0;
}

static int name_of(const char *const *names, int count, const char *text)
{
	for (int i = 0; text && i < count; i++)
		if (strcmp(names[i], text) == 0)
			return i;
	return -1;
}

static int take_stack(struct reader *reader, sqlite3_stmt *stmt)
{
	struct line_samples *samples = reader->samples;
	struct line_stack *stack = &samples->stacks[samples->stack_count];
	int role = name_of(line_role_names, LINE_ROLE_MAX, rows_text(stmt, 0, REDACT_NOT));
	int phase = name_of(line_phase_names, LINE_PHASE_MAX, rows_text(stmt, 1, REDACT_NOT));
	const size_t places = reader->places;
	int r = add_places(reader, rows_text(stmt, 5, REDACT_NOT), &stack->depth);

	stack->count = rows_time(stmt, 3);
	stack->ns = rows_time(stmt, 4);
	/* Leaves out times of more than a year, with which sums could overflow. */
	if (r < 0 || role < 0 || phase < 0 || !stack->depth || stack->count <= 0 || stack->ns < 0 ||
	    stack->ns > INT64_C(1) << 55 || stack->count > INT64_C(1) << 40) {
		reader->places = places;
		return r;
	}
	stack->role = (enum line_role)role;
	stack->phase = (enum line_phase)phase;
	stack->loader_id = rows_time(stmt, 2) == UNKNOWN ? 0 : rows_time(stmt, 2);
	samples->stack_count++;
	return 0;
}

static int read_stacks(struct db *db, struct reader *reader)
{
	struct line_samples *samples = reader->samples;
	const uint32_t *at;
	ROWS *stmt = NULL;
	int r = rows_ask(db, &stmt, STACKS_SQL, "n", (int64_t)MOST_STACKS);

	while (r >= 0 && (r = rows_next(stmt)) == 1)
		r = take_stack(reader, stmt);
	at = samples->places;
	for (size_t i = 0; i < samples->stack_count; i++) {
		samples->stacks[i].frames = at;
		at += samples->stacks[i].depth;
	}
	return r < 0 ? r : 0;
}

int lines_read(struct db *db, struct line_samples *ret)
{
	struct reader reader = {.samples = ret, .ids = calloc(MOST_FRAMES, sizeof(int64_t))};
	int r;

	*ret = (struct line_samples){
		.frames = calloc(MOST_FRAMES, sizeof(*ret->frames)),
		.stacks = calloc(MOST_STACKS, sizeof(*ret->stacks)),
		.ids = reader.ids,
	};
	r = meta_read(db, ret, FIELDS, ARRAY_COUNT(FIELDS));
	if (r == 0 && ret->reason && strcmp(ret->reason, OBSERVED) == 0) {
		free(ret->reason);
		ret->reason = NULL;
	}
	if (r == 0)
		r = reader.ids && ret->frames && ret->stacks ? read_frames(db, &reader) : -ENOMEM;
	return r < 0 ? r : read_stacks(db, &reader);
}

void lines_free(struct line_samples *samples)
{
	for (size_t i = 0; samples->frames && i < MOST_FRAMES; i++) {
		free(samples->frames[i].file);
		free(samples->frames[i].function);
	}
	free(samples->frames);
	free(samples->stacks);
	free(samples->places);
	free(samples->ids);
	meta_free(samples, FIELDS, ARRAY_COUNT(FIELDS));
	*samples = (struct line_samples){0};
}

static bool find_place(const char *at, const struct line_samples *samples, struct doing *ret)
{
	bool has_inner = false, has_own = false, is_in_queue = false;

	for (char *end; at && *at; at = end) {
		size_t place = place_of(samples->ids, samples->frame_count, strtoll(at, &end, 10));
		const struct line_frame *frame = &samples->frames[place];

		if (end == at)
			break;
		if (place == samples->frame_count)
			continue;
		/* A worker is idle in a queue's get(), unless the user's code called get(). */
		if (is_in_queue && !frame->is_own && ret->role == LINE_ROLE_WORKER)
			return false;
		is_in_queue = frame->is_queue;
		if (!has_inner)
			ret->inner = ret->frame = (uint32_t)place;
		if (frame->is_own && !has_own)
			ret->frame = (uint32_t)place;
		has_inner = true;
		has_own |= frame->is_own;
	}
	return has_inner && !(is_in_queue && ret->role == LINE_ROLE_WORKER);
}

static bool take_doing(sqlite3_stmt *stmt, const struct line_samples *samples, struct doing *ret)
{
	int role = name_of(line_role_names, LINE_ROLE_MAX, rows_text(stmt, 4, REDACT_NOT));

	*ret = (struct doing){
		.pid = rows_int(stmt, 0),
		.worker_id = rows_time(stmt, 1),
		.since_ns = rows_time(stmt, 2),
		.seen_ns = rows_time(stmt, 3),
		.role = role < 0 ? LINE_ROLE_MAIN : (enum line_role)role,
	};
	return ret->since_ns != UNKNOWN && ret->seen_ns >= ret->since_ns &&
	       find_place(rows_text(stmt, 5, REDACT_NOT), samples, ret);
}

int doing_read(struct db *db, const struct line_samples *samples, struct doing **ret,
	       size_t *ret_count)
{
	ROWS *stmt = NULL;
	int r = rows_ask(db, &stmt, DOING_SQL, "n", (int64_t)MOST_DOING);

	*ret_count = 0;
	*ret = calloc(MOST_DOING, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	while (r >= 0 && *ret_count < MOST_DOING && (r = rows_next(stmt)) == 1)
		*ret_count += take_doing(stmt, samples, &(*ret)[*ret_count]);
	return r < 0 ? r : 0;
}
