/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/remedy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/form/units.h"

#define LEAST_SHARE  0.02
#define NEARLY_ALL   0.9
#define MOST_KERNELS 3
#define LEAST_ROW    0.001
#define MOST_ROWS    40

static const struct stage_work *at(const struct report *report, size_t place)
{
	return place < report->stages.count ? &report->stages.list[place] : NULL;
}

const struct stage_work *stages_slow(const struct report *report)
{
	return at(report, report->diagnosis.stages.slow);
}

static const struct stage_work *lead_of(const struct report *report)
{
	return at(report, report->diagnosis.stages.lead);
}

static void add_lead(const struct report *report, struct text *text)
{
	const struct stage_finding *f = &report->diagnosis.stages;
	const struct stage_work *slow = stages_slow(report), *lead = lead_of(report);

	if (f->is_overhead)
		text_add(text, " %s calls its function for each element: of %s a call, its kernels "
			 "take little", slow->name, UNITS_TIME(f->each_ns));
	else if (lead == slow && f->lead_share >= NEARLY_ALL)
		text_add(text, " %s takes %s an element", slow->name, UNITS_TIME(f->each_ns));
	else if (lead == slow)
		text_add(text, " %s takes %s of its time itself, %s an element", slow->name,
			 UNITS_SHARE(f->lead_share), UNITS_TIME(f->each_ns));
	else
		text_add(text, " %s takes %s of what %s does, %s a call", lead->name,
			 UNITS_SHARE(f->lead_share), slow->name, UNITS_TIME(f->each_ns));
	if (f->is_reading)
		text_add(text, ", waiting for files");
	else if (f->is_waiting)
		text_add(text, ", and waits for %s of that: Python of the program's own",
			 UNITS_SHARE(f->blocked_share));
	else if (lead->kind == STAGE_PYTHON && lead->is_kernel && !isnan(lead->cpu_ns))
		text_add(text, ", %s of it on the CPU: Python of the program's own",
			 UNITS_TIME(f->each_ns * (1 - f->blocked_share)));
	else if (lead->kind == STAGE_PYTHON)
		text_add(text, ": Python of the program's own");
	text_add(text, ".");
}

static void add_calls(const struct stage_finding *f, bool is_autotuned, struct text *text)
{
	/* If less than one call ran on average, other work (an epoch's start) took the time. */
	const bool is_busy = f->at_once >= 1;

	if (f->asked == 1)
		text_add(text, " The program asks for one call at a time");
	else if (f->asked > 0)
		text_add(text, " The program asks for %" PRId32 " calls at once", f->asked);
	else if (!is_busy)
		return;
	if (f->asked > 1 && is_busy)
		text_add(text, ", %.2g run", f->at_once);
	else if (f->asked <= 0)
		text_add(text, " %.2g call%s at once%s", f->at_once,
			 f->at_once < 1.05 ? " runs" : "s run", is_autotuned ? " (autotuned)" : "");
	if (f->threads > 0 && f->asked != 1 && !f->is_interleaved)
		text_add(text, ": the pool has %" PRId32 " thread%s", f->threads,
			 f->threads == 1 ? "" : "s");
	text_add(text, ".");
}

static void add_dali(const struct report *report, struct text *text)
{
	const struct stage_finding *f = &report->diagnosis.stages;
	const struct account *own = &report->finding.own;

	if (f->callback_share > 0)
		text_add(text, " Of the %s that a batch is waited for, %s is Python of the "
			 "program's own (an external source), which the training's thread calls.",
			 UNITS_TIME(own->wait_ns / (double)own->count),
			 UNITS_SHARE(f->callback_share));
	else if (f->limit == STAGE_LIMIT_SERIAL)
		text_add(text, " The operators wait for the reader%s one thread: a file takes "
			 "%s%s.", f->wanted > 2 ? "s, of which each has" : ", which has",
			 UNITS_TIME(f->each_ns), f->is_reading ? ", waiting for files" : "");
	else
		text_add(text, " %s takes %s of the executor's time, %s a batch; operators run one "
			 "after the other.", lead_of(report)->name, UNITS_SHARE(f->lead_share),
			 UNITS_TIME(f->each_ns));
}

/* Appends why a cache's elements are never used a second time. */
static void add_cache(const struct report *report, struct text *text)
{
	const struct stage_work *cache = at(report, report->diagnosis.stages.cache);
	const struct stage_work *endless = at(report, report->diagnosis.stages.endless);

	if (cache && endless)
		text_add(text, " The cache's input has no end (%s), so the cache is never full, "
			 "and never serves.", endless->name);
	else if (cache)
		text_add(text, " The cache gave %s elements in several epochs, and nearly all were "
			 "made anew: it never served.",
			 UNITS_COUNT((int64_t)fmin(cache->elements, 9e18)));
}

void stages_add_evidence(const struct report *report, struct text *text)
{
	const struct stage_finding *f = &report->diagnosis.stages;
	const struct account *own = &report->finding.own;
	const struct stage_work *opener = at(report, f->opener);

	if (f->limit == STAGE_LIMIT_UNKNOWN || !stages_slow(report) || !lead_of(report))
		return;
	if (f->maker == STAGES_DALI) {
		add_dali(report, text);
		return;
	}
	if (f->limit == STAGE_LIMIT_FILLING) {
		text_add(text, " A batch is waited for %s in the first epoch, %s in later ones.",
			 UNITS_TIME(f->first_ns), UNITS_TIME(f->later_ns));
		return;
	}
	if (report->stages.is_later)
		text_add(text, " From the second epoch on, when a cache serves:");
	if (f->limit == STAGE_LIMIT_PREFETCH)
		text_add(text, " A step takes %s, and %s of waiting comes after it.",
			 UNITS_TIME(own->step_ns / (double)own->count),
			 UNITS_TIME(own->wait_ns / (double)own->count));
	add_lead(report, text);
	if (f->limit == STAGE_LIMIT_SERIAL && opener)
		text_add(text, " %s asks its inputs one after the other.", opener->name);
	else if (lead_of(report) != stages_slow(report) || f->is_interleaved)
		add_calls(f, stages_slow(report)->is_autotuned, text);
	add_cache(report, text);
}

/* Says to make the slowest work cheaper, and how: `hows` has words for each kind of work. */
static void say_cheaper(const struct stage_work *lead, const char *const *hows, struct remedy *ret)
{
	const bool is_read = lead->kind == STAGE_READ;

	remedy_line(ret, "Make %s%s%s", is_read ? "reading (" : "", lead->name,
		    is_read ? ") faster." : " need less time.");
	if (hows[lead->kind])
		ret->how = hows[lead->kind];
}

static void say_dali(const struct report *report, enum advice_id id, struct remedy *ret)
{
	static const char *const hows[STAGE_KIND_MAX] = {
		[STAGE_READ] = "Copy the files to a local disk or /dev/shm, or pack them: "
			       "fn.readers.tfrecord, fn.readers.webdataset.",
		[STAGE_DECODE] = "fn.decoders.image(..., device=\"mixed\") decodes on the GPU, "
				 "fn.decoders.image_crop a part of the image.",
		[STAGE_TRANSFORM] = "Run it on the GPU (.gpu() of its input) or on smaller images.",
		[STAGE_PYTHON] = "Use DALI's own operators, which hold no Python interpreter.",
	};
	const struct stage_finding *f = &report->diagnosis.stages;

	if (id == ADVICE_CHEAPER_STAGE) {
		say_cheaper(lead_of(report), hows, ret);
	} else if (id == ADVICE_PARALLEL_STAGE && f->callback_share > 0) {
		ret->line = "Call the external source in processes.";
		ret->how = "fn.external_source(..., parallel=True), and py_num_workers=N of the "
			   "pipeline.";
	} else if (id == ADVICE_PARALLEL_STAGE && f->limit == STAGE_LIMIT_SERIAL) {
		ret->line = "Build the pipeline twice: a reader has one thread.";
		ret->how = "fn.readers.file(..., num_shards=2, shard_id=0) in one, shard_id=1 "
			   "in the other (with several ranks: twice the shards); take batches "
			   "from both in turn. Nothing is gained if the storage is at its limit.";
	} else if (id == ADVICE_PARALLEL_STAGE) {
		ret->line = "Give the pipeline more threads: num_threads.";
		remedy_how(ret, "pipeline_def(num_threads=N): the process uses %.2g of %.3g cores.",
			   report->series.main_cores, report->series.cores);
	}
}

static void say_parallel(const struct report *report, struct remedy *ret)
{
	const struct stage_finding *f = &report->diagnosis.stages;
	const struct stage_work *lead = lead_of(report);
	const bool is_generator = lead->kind == STAGE_PYTHON && !lead->is_kernel;
	const bool is_opened = at(report, f->opener);

	if (is_opened)
		remedy_line(ret, "%s: interleave(..., num_parallel_calls=%" PRId32 ").",
			    is_generator ? "Run several generators at once"
					 : "Read several files at once",
			    f->wanted);
	else if (is_generator)
		remedy_line(ret, "Run several generators at once, each with a part of the data: "
			    "interleave(), num_parallel_calls=%" PRId32 ".", f->wanted);
	else if (strncmp(stages_slow(report)->name, "Filter", 6) == 0)
		remedy_line(ret, "Compute what filter() asks in a map(..., num_parallel_calls=%"
			    PRId32 ") before it.", f->wanted);
	else if (lead->is_kernel)
		remedy_line(ret, "Let map() run %s calls at once: map(..., num_parallel_calls=%"
			    PRId32 ").", f->asked > 1 ? "more" : "several", f->wanted);
	else if (lead->kind == STAGE_READ)
		remedy_line(ret, "Read several files at once: interleave() over their names, "
			    "num_parallel_calls=%" PRId32 ".", f->wanted);
	if (lead->is_kernel || is_opened)
		remedy_how(ret, "The order of elements stays (deterministic=True).");
	else if (is_generator)
		remedy_how(ret, "tf.data.Dataset.range(%" PRId32 ").interleave(lambda part: "
			   "tf.data.Dataset.from_generator(generate, args=(part,), ...), ...).",
			   f->wanted);
	/* Only functions run in the pool's threads. Interleaved files have threads of their own. */
	if (f->is_waiting && (lead->is_kernel || is_generator) && f->wanted > f->threads)
		remedy_how(ret, " Calls that wait also need threads: "
			   "options.threading.private_threadpool_size = %" PRId32 ".", f->wanted);
	if (!lead->is_kernel)
		remedy_how(ret,
			   " Nothing is gained if what they wait for is shared and at its limit.");
}

void remedy_stage(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	static const char *const hows[STAGE_KIND_MAX] = {
		[STAGE_READ] = "Copy the files to a local disk or /dev/shm, or pack small ones "
			       "into TFRecord shards; dataset.cache() keeps what was read.",
		[STAGE_DECODE] = "tf.io.decode_jpeg(..., ratio=2) decodes smaller, "
				 "tf.image.decode_and_crop_jpeg a part; or store images near the "
				 "size that is used.",
		[STAGE_TRANSFORM] = "Do it on the smaller image, on whole batches (behind "
				    "batch()), or on the GPU, as layers of the model.",
		[STAGE_PYTHON] = "Write it with TensorFlow's own operations, which hold no Python "
				 "interpreter; or do it once, beforehand.",
	};
	const struct stage_finding *f = &report->diagnosis.stages;
	const struct stage_work *lead = lead_of(report);

	if (!lead)
		return;
	if (f->maker == STAGES_DALI) {
		say_dali(report, advice->id, ret);
	} else if (advice->id == ADVICE_OWN_THREADS) {
		remedy_line(ret, "Give the pipeline %" PRId32 " threads of its own.", f->wanted);
		remedy_how(ret, "options = tf.data.Options(); "
			   "options.threading.private_threadpool_size = %" PRId32 "; dataset = "
			   "dataset.with_options(options)%s.", f->wanted,
			   f->asked < f->wanted ? "; and map(..., num_parallel_calls=16)" : "");
	} else if (advice->id == ADVICE_PARALLEL_STAGE) {
		say_parallel(report, ret);
	} else if (f->is_overhead) {
		ret->line = "Call map()'s function once a batch: batch() before map().";
		ret->how = "dataset.batch(N).map(f): f then gets whole batches, and TensorFlow's "
			   "operations work on them as they are.";
	} else {
		say_cheaper(lead, hows, ret);
	}
}

double stages_share(const struct report *report, const struct stage_work *stage)
{
	double kernel_ns = 0;

	if (!stage->is_kernel)
		return stage->busy_ns / report->stages.span_ns;
	for (size_t i = 0; i < report->stages.count; i++)
		if (report->stages.list[i].is_kernel)
			kernel_ns += report->stages.list[i].own_ns;
	return stage->own_ns / kernel_ns;
}

/* Returns a kernel's share of the time of all kernels plus `lead`; 0 if `lead` runs the kernel. */
static double share_beside(const struct report *report, const struct stage_work *kernel)
{
	const struct stage_work *lead = lead_of(report);
	const double share = stages_share(report, kernel);

	if (lead->is_kernel)
		return share;
	return lead->kind == STAGE_PYTHON && kernel->kind == STAGE_PYTHON
		       ? 0
		       : 1 / (1 / share + lead->own_ns / kernel->own_ns);
}

static void add_kernels(const struct report *report, struct text *text)
{
	const struct stage_work *last = lead_of(report);

	for (int shown = 0; shown < MOST_KERNELS; shown++) {
		const struct stage_work *next = NULL;

		for (size_t i = 0; i < report->stages.count; i++) {
			const struct stage_work *stage = &report->stages.list[i];

			if (stage->is_kernel && stage != last &&
			    (!last->is_kernel || stage->own_ns < last->own_ns) &&
			    (!next || stage->own_ns > next->own_ns))
				next = stage;
		}
		if (!next || !(share_beside(report, next) >= LEAST_SHARE))
			return;
		text_add(text, "%s%s %s", *text->words ? ", " : "", next->name,
			 UNITS_SHARE(share_beside(report, next)));
		last = next;
	}
}

void stages_outline_line(const struct report *report, struct outline *o)
{
	const struct stage_work *slow = stages_slow(report);
	struct text text = TEXT_OF(512);

	if (report->diagnosis.stages.limit == STAGE_LIMIT_UNKNOWN || !slow || !lead_of(report))
		return;
	/* Beside the program's own Python, kernels hardly take time, so leave them out. */
	if (!(report->diagnosis.stages.callback_share > 0))
		add_kernels(report, &text);
	for (size_t i = 0; i < report->stages.count; i++) {
		const struct stage_work *stage = &report->stages.list[i];

		if (stage->kind != STAGE_PREFETCH || !(stage->queue >= 0))
			continue;
		text_add(&text, "%s%s holds %.2g", *text.words ? "; " : "", stage->name,
			 stage->queue);
		/* The size of an autotuned queue changes, and only the first size is known. */
		if (stage->capacity > 0 && !stage->is_autotuned)
			text_add(&text, " of %" PRId32, stage->capacity);
		text_add(&text, " when asked");
	}
	if (*text.words)
		outline_item(o, "Beside", "%s", text.words);
}

/* Returns the time in the calls of the busiest stage or kernel. */
static double busiest_ns(const struct report *report)
{
	double most_ns = 1;

	for (size_t i = 0; i < report->stages.count; i++)
		most_ns = fmax(most_ns, report->stages.list[i].busy_ns);
	return most_ns;
}

static void add_row(const struct report *report, const struct stage_work *stage, struct outline *o)
{
	char asked[24] = "", queue[48] = "", name[STAGE_NAME + 2];

	if (stage->is_autotuned && stage->parallel > 0)
		snprintf(asked, sizeof(asked), "auto");
	else if (stage->parallel > 0)
		snprintf(asked, sizeof(asked), "%" PRId32, stage->parallel);
	if (stage->queue >= 0)
		snprintf(queue, sizeof(queue), "%.2g", stage->queue);
	snprintf(name, sizeof(name), "%s%s", stage->is_kernel ? "  " : "", stage->name);
	outline_cells(o, name, stage_kind_names[stage->kind],
		      UNITS_COUNT((int64_t)fmin(stage->elements, 9e18)), UNITS_TIME(stage->busy_ns),
		      UNITS_TIME(stage->own_ns / fmax(stage->elements, 1)),
		      isnan(stage->cpu_ns) ? "-"
					   : UNITS_SHARE(fmin(stage->cpu_ns / stage->own_ns, 1)),
		      UNITS_SHARE(fmin(stage->read_ns / fmax(stage->own_ns, 1), 1)), asked, queue);
	outline_share(o, stage->busy_ns / busiest_ns(report), 0);
}

void stages_outline(const struct report *report, struct outline *o)
{
	size_t rows = 0;

	outline_table(o, "life", "", "", "#Elements", "#Busy", "#Each", "#CPU", "#Reads", "#Asked",
		      "#Queue");
	if (!report->stages.count)
		return;
	outline_title(o, "Stages of the pipeline, and the kernels that they call (own time of each "
			 "call, CPU and reading in it; calls at once that are asked for; elements "
			 "that were ready when asked)");
	for (size_t i = 0; i < report->stages.count && rows < MOST_ROWS; i++) {
		const struct stage_work *stage = &report->stages.list[i];

		if (!(stage->busy_ns >= LEAST_ROW * report->stages.span_ns))
			continue;
		add_row(report, stage, o);
		rows++;
	}
}
