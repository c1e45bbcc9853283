/* SPDX-License-Identifier: Apache-2.0 */
#include "summary.h"

#include <stdatomic.h>
#include <string.h>

#include "activate.h"
#include "clock.h"
#include "config.h"
#include "dlprof/event.h"
#include "log.h"
#include "run.h"
#include "sys.h"
#include "text.h"

static _Atomic uint64_t batch_count;
static _Atomic uint64_t waited_ns;
static _Atomic uint64_t starved_ns;
static _Atomic uint64_t computed_ns;
static _Atomic uint64_t computed_count;

static void add(_Atomic uint64_t *sum, uint64_t value)
{
	atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
}

/* As the report judges it, by the mean of the steps so far for their median. */
static bool has_starved(uint64_t wait_ns)
{
	const uint64_t count = computed_count;

	return wait_ns >= DLPROF_STARVED_LEAST_NS &&
	       (!count || wait_ns >= computed_ns / count * DLPROF_STARVED_LEAST_PERCENT / 100);
}

void summary_batch(uint64_t wait_ns, bool steady)
{
	add(&batch_count, 1);
	if (!steady)
		return;
	add(&waited_ns, wait_ns);
	if (has_starved(wait_ns))
		add(&starved_ns, wait_ns);
}

void summary_compute(uint64_t compute_ns)
{
	add(&computed_ns, compute_ns);
	add(&computed_count, 1);
}

/* The path as a user would type it: without the folder that they are in. */
static const char *short_path(const char *path)
{
	char folder[512];
	size_t length;

	if (sys_call2(SYS_getcwd, folder, sizeof(folder)) < 0)
		return path;
	length = strlen(folder);
	if (strncmp(path, folder, length) == 0 && path[length] == '/')
		return path + length + 1;
	return path;
}

static void add_batches(struct text *line)
{
	uint64_t starved = starved_ns, total = waited_ns + computed_ns;

	text_add_number(line, (int64_t)batch_count);
	text_add(line, batch_count == 1 ? " batch" : " batches");
	if (total) {
		text_add(line, ", ");
		text_add_number(line, (int64_t)((starved * 100 + total / 2) / total));
		text_add(line, " % of the time waiting for data");
	}
}

static void add_report(struct text *line, const char *before, const char *database,
		       const char *behind)
{
	text_add(line, before);
	text_add(line, "dlprof-report ");
	text_add(line, short_path(database));
	text_add(line, behind);
}

/* Never that something is stored which is not, as far as the drain could tell until now. */
static void add_place(struct text *line, const char *database)
{
	const char *where = "";
	int error = 0;
	enum run_state state = run_state(clock_now_ns(), &where, &error);

	if (error) {
		text_add(line, "; ");
		text_add(line, short_path(database));
		text_add(line, " cannot be written (");
		text_add(line, text_error(error));
		text_add(line, ")");
	}
	switch (state) {
	case RUN_STORED:
		add_report(line, ", ", database, "");
		break;
	case RUN_RENAMED:
		add_report(line, ", ", where, "");
		break;
	case RUN_KEPT:
		text_add(line, ": kept in ");
		text_add(line, where);
		add_report(line, ", ", database, " reads it");
		break;
	case RUN_IN_RINGS:
		add_report(line, error ? ": " : "; dlprof-drain does not answer: ", database,
			   " adds what is still in memory");
		break;
	}
}

void summary_print(void)
{
	const char *database = run_database();
	TEXT(line, 5000);

	if (config.quiet || (!database && !activate_failure()))
		return;
	text_add(&line, "dlprof: ");
	if (database) {
		add_batches(&line);
		add_place(&line, database);
	} else {
		text_add(&line, "nothing was recorded: ");
		text_add(&line, activate_failure());
	}
	if (line.cut)
		line.length--;
	text_add(&line, "\n");
	log_stderr(line.buffer, line.length);
}
