/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/remedy.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/cause/diagnosis.h"

#define GLUON "mxnet.gluon"

#define FACTOR "prefetch_factor", "prefetch_factor x 4", "prefetch_factor"
#define GLUONS "prefetch", "prefetch x 4", "prefetch / num_workers"

static const struct dialect dialects[] = {
	{"torch.", 0, true, true, FACTOR},
	{"torchdata.Stateful", 0, true, true, FACTOR},
	{GLUON, OPTION_PERSISTENT | OPTION_SHARING | OPTION_SAMPLER, false, true, GLUONS},
	/* With persistent workers, paddle.io takes 0.5 s to begin each epoch: no advice. */
	{"paddle.io", OPTION_PERSISTENT | OPTION_SHARING | OPTION_SAMPLER, false, true, FACTOR},
	/* An imported table of steps does not say which library the loader is from. */
	{"imported", 0, false, false, FACTOR},
	{"", OPTION_ALL, false, false, FACTOR},
};

/* The demo of dlprof. Of programs that mark batches, it alone has a known number of workers. */
static const struct dialect of_demo = {"marks", 0, false, false, FACTOR};

static const char *kind_of(const struct loader_info *loader)
{
	return loader && loader->kind[0] ? loader->kind : dialects[0].kind;
}

const struct dialect *dialect_of(const struct loader_info *loader)
{
	const char *kind = kind_of(loader);
	size_t i = 0;

	if (strcmp(kind, of_demo.kind) == 0 && loader->workers > 0)
		return &of_demo;
	while (strncmp(kind, dialects[i].kind, strlen(dialects[i].kind)) != 0)
		i++;
	return &dialects[i];
}

bool dialect_is_threads(const struct loader_info *loader)
{
	return strcmp(kind_of(loader), GLUON " (threads)") == 0;
}

bool dialect_is_dispatcher(const struct loader_info *loader)
{
	return strcmp(kind_of(loader), "accelerate") == 0;
}

/* Returns Gluon's `prefetch`, which counts the batches of all workers together. */
static int64_t prefetch_of(const struct report *report)
{
	const struct replay_setup *setup =
		&report->diagnosis.whatif.setups[WHATIF_PREFETCH_X4];

	return (int64_t)setup->prefetch_factor * setup->workers;
}

/* Says what differs in Gluon's loader from PyTorch's. */
static void say_gluon(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	static const char *const hows[ADVICE_MAX] = {
		[ADVICE_LIMIT_THREADS] =
			"Before the DataLoader is made: cv2.setNumThreads(0); in the environment: "
			"OMP_NUM_THREADS=1.",
		[ADVICE_WIDEN_CORES] =
			"Before the DataLoader is made: os.sched_setaffinity(0, "
			"range(os.cpu_count())); look for taskset and a job's --cpus-per-task.",
		[ADVICE_SHARE_MEMORY] =
			"Arrays instead of lists of Python objects, np.memmap, a smaller "
			"num_workers or prefetch.",
		[ADVICE_FEWER_REQUESTS] =
			"Fetch the samples of a batch together, or pack them into shards "
			"(MXIndexedRecordIO).",
		[ADVICE_VECTORISE_SAMPLER] =
			"Draw the indices of an epoch with numpy (permutation, choice) in "
			"__iter__, and yield slices of them.",
		[ADVICE_SMOOTH_SHARD_OPENING] =
			"Open it in a thread of the dataset, or load further ahead (prefetch=N).",
	};
	const bool is_threads = dialect_is_threads(report->loader);

	if (advice->whatif == WHATIF_PREFETCH_X4) {
		snprintf(ret->line_buffer, REMEDY_WORDS,
			 "Load further ahead: prefetch=%" PRId64 ".", prefetch_of(report));
		snprintf(ret->how_buffer, REMEDY_WORDS,
			 "DataLoader(..., prefetch=%" PRId64 ") asks for as many batches ahead; "
			 "the default is twice num_workers.",
			 prefetch_of(report));
		ret->line = ret->line_buffer;
		ret->how = ret->how_buffer;
	} else if (advice->id == ADVICE_PREFETCH_OR_IN_ORDER_FALSE) {
		ret->line = "Load further ahead: prefetch.";
	} else if (advice->id == ADVICE_MOVE_OUT_OF_PROCESS && is_threads) {
		ret->line = "Load in processes: thread_pool=False.";
		ret->how = "Its threads share one interpreter and its locks with each other and "
			   "the training; processes do not, but send each batch through shared "
			   "memory.";
	} else if (advice->id == ADVICE_INSPECT_WAITS && !is_threads) {
		ret->how = "Processes pickle a batch and send it through shared memory; threads "
			   "(thread_pool=True) hand it over as it is.";
	} else if (hows[advice->id]) {
		ret->how = hows[advice->id];
	}
}

void dialect_say(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	if (advice->id == ADVICE_CHEAPER_STARTS && report->finding.epoch_count > 1 &&
	    report->finding.epoch_count < report->finding.batch_count &&
	    strcmp(kind_of(report->loader), "tf.data") == 0) {
		ret->how = "One iterator for all epochs: \"for batch in dataset.repeat(EPOCHS)\"; "
			   "with Keras, fit(dataset.repeat(), steps_per_epoch=BATCHES).";
	} else if (advice->id == ADVICE_WORK_IN_WORKERS &&
		   strstr(report->samples.frames[report->lines.around.frame].file,
			  "torch_geometric/")) {
		ret->how = "Give the loader filter_per_worker=True: workers then gather the "
			   "features and apply `transform`.";
	} else if (advice->id == ADVICE_MARK_LOADS && dialect_is_dispatcher(report->loader)) {
		ret->line = "Let each rank load its own batches: dispatch_batches=False.";
		ret->how = "Rank 0 loads for all ranks and sends each its part. With "
			   "DataLoaderConfiguration(dispatch_batches=False) each rank reads all "
			   "of an iterable dataset and keeps its part. To read less, split it by "
			   "rank (split_dataset_by_node) and leave that loader out of prepare().";
	} else if (strcmp(dialect_of(report->loader)->kind, GLUON) == 0) {
		say_gluon(report, advice, ret);
	}
}
