/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/explain.h"

#include <string.h>

#include "dlprof/units.h"

static const struct explanation PAGES[] = {
#define CAUSE(constant, name, group, noun, line, page) {name, "cause", line, page},
#include "analysis/cause/causes.def"
#undef CAUSE
#define ADVICE(constant, name, waste, line, how, page) {name, "advice", line, page, how},
#include "analysis/cause/remedies.def"
#undef ADVICE

	{"clock", "metric", "Whose time the stall ratio counts: the host's or the GPU's.",
	 "host: what the main process waited for batches. With a GPU that runs behind the host "
	 "this is an upper bound: while the host waits the GPU may still have work.\n\ngpu: the "
	 "part of those waits in which the GPU was idle, from CUPTI's records. It is used where "
	 "it is known of half of the batches or more. The other batches are then left out, "
	 "since one ratio has one clock, and the report says how many they are."},
	{"gpu_idle", "metric", "The time in which the GPU ran no kernel and no graph.",
	 "Each nanosecond of it has one cause, the first of these that holds. data: the training "
	 "thread waited for a batch. copies: something was copied to the device. sync: the host "
	 "had waited for the GPU, so that the GPU ran out of work. host: nothing was launched for "
	 "more than 10 us. Else other. Their sum is the step less the busy time.\n\nWhere CUDA "
	 "graphs are recorded as wholes, gaps within them count as busy: busy is then an upper "
	 "bound.\n\nWhere a process drives several devices, gpu_idle is the mean of the devices "
	 "that the loader feeds. Each of these gets at least a quarter of the bytes that the host "
	 "sends to the device with most. The other devices get their data from these, and do not "
	 "count. The view gpu_device has each device."},

	{"collectives_alone_share", "metric",
	 "Share of the time in which the GPU ran nothing but collectives.",
	 "It exchanged data with other ranks, or waited for them: a collective lasts until the "
	 "last rank has come. The other ranks of a job wait for the one with the smallest "
	 "share.\n\nWhere CUDA graphs are recorded as wholes, collectives within them are not "
	 "seen: the share is then a lower bound."},

	{"stall_ratio", "metric", "Share of its time that the training waits for data.",
	 "All time in iter(), next() and the end of epochs, over the time from the first batch to "
	 "the end of the last step. Its parts are not_ready, receiving, sampling, epoch_start and "
	 "epoch_end. Under 5 %: not input-bound; 5 to 20 %: moderately; over 20 %: highly. Without "
	 "waiting the run would be 1 / (1 - ratio) times as fast."},
	{"in_doubt", "metric", "It is not known whether the recorded waits are the training's own.",
	 "A thread takes batches from a loader and hands them on in a way that is not followed: an "
	 "event loop, polling, several batches in one item. Or a thread other than the main one "
	 "does next to nothing with its batches, and the main thread works while that one waits. "
	 "If such a thread prefetches for the training, the training itself waits elsewhere and "
	 "for less. So there is no verdict: the first line says IN DOUBT, --json has the figure "
	 "beside in_doubt, the line at exit has none, and report and gate exit with status "
	 "3.\n\nName what the training itself asks: DLPROF_BATCH_FN=module:Class.__next__, or the "
	 "generator or function that hands out a batch. Its waits are then the training's, and the "
	 "thread's are left out."},
	{"batches", "metric", "Batches that a loader handed to the training.",
	 "Where the training asks several loaders, as one to train and one to validate, the first "
	 "line of the report counts the batches of all. The report judges the loader that is "
	 "waited for most: stall.batches, stall.steady_batches and stall.starved_batches of --json "
	 "count only its batches; so do the batches of a job's ranks, and a limit on "
	 "stall.batches. The list loaders of --json has each loader's. The stall ratio, wait_s and "
	 "time_s are of the training's thread, with the waits for all of its loaders."},
	{"starved", "metric",
	 "A batch that was not finished when asked for and was waited for noticeably.",
	 "A steady batch that is not known to have been ready, and was waited for at least theta = "
	 "max(2 ms, 10 % of the median step). Handing over a ready batch takes about 1 ms, so a "
	 "short wait proves nothing."},
	{"ci95", "metric",
	 "Range of the stall ratio (95 %), by how the batches of this run vary.",
	 "Circular block bootstrap over the steady batches, blocks of 2 x prefetch_factor x "
	 "workers, 400 resamples, fixed seed: the same run always gives the same interval. Other "
	 "runs vary more, for example if storage is slower that day."},
	{"trimmed_ratio", "metric", "The stall ratio without its largest waits.",
	 "Leaves out the largest half percent of the stalls, at least one. A run is starved only "
	 "if the rest is 2.5 % or more."},
	{"not_ready", "metric", "Share of the time spent waiting for batches to be finished.",
	 "Part of the stall ratio. Without workers it is the load itself."},
	{"receiving", "metric", "Share of the time spent receiving finished batches.",
	 "Part of the stall ratio. See the cause delivery."},
	{"sampling", "metric", "Share of the time spent choosing the samples of batches.",
	 "Part of the stall ratio. The sampler, or batch sampler, of a DataLoader runs in the "
	 "training's thread while that waits, with workers, too. Sampling within iter() or for the "
	 "first batches of an epoch is part of epoch_start. null: this loader's sampler is not "
	 "seen; its time is in not_ready and receiving."},
	{"epoch_end", "metric", "Share of the time spent ending epochs: workers are shut down.",
	 "Part of the stall ratio. See the cause epoch_start."},
	{"startup", "metric", "The wait for the very first batch.",
	 "Making the first iterator, starting its workers, and the first load. It comes once a "
	 "run, or once for each program that the training becomes, and is in no ratio."},
	{"period", "metric", "Stalls that come every so many batches.",
	 "Found by folding the run into rows of P batches and asking how unlikely it is that one "
	 "phase stands out, against rows that are each rotated at random; corrected for all "
	 "periods tried, at 1 %. It is a regular spike if half of the stall time or more (1.5/P if "
	 "that is more) is at one phase; else the waits are only modulated. A period explains "
	 "stalls. It is never a condition for being starved: if loads vary much, there are more "
	 "stalls and no period."},
	{"rho", "metric",
	 "Batches that the training takes, divided by batches that the workers can load.",
	 "Mean load / workers / mean step, waits for other loaders included. 1 or more: the "
	 "workers cannot keep up."},
	{"eta", "metric",
	 "Throughput of the run, divided by what the slower of loading and training allows.",
	 "Throughput / min(workers / mean load, 1 / mean step). Below .9 delivering in order costs "
	 "something on top of capacity: raise prefetch_factor, pass in_order=False, or make "
	 "samples alike."},
	{"workers_needed", "metric",
	 "Fewest workers with which the replay reaches 95 % of the ceiling.",
	 "Found by replaying the recorded loads and steps with 1, 2, ... workers. None if the "
	 "cores would not suffice for their CPU time."},
	{"whatif", "metric", "Throughput predicted for other settings.",
	 "The recorded loads and steps are replayed through the rules of the DataLoader (worker i "
	 "mod W, delivery in order, at most prefetch_factor x workers batches on the way) with the "
	 "setting changed, and limited by cores / CPU time of a batch. On 39 pairs of real runs "
	 "that no constant was chosen on, the median error was 1.4 %, 90 % were within 6.3 %, and "
	 "36 lay in their range. Shared storage that becomes slower with more readers is not "
	 "foreseen."},
	{"masked_share", "metric",
	 "Share of the load time that the training did not have to wait for.",
	 "1 - sum of min(wait, load) of starved batches / sum of load. It is a description, and "
	 "decides nothing: one wait can hide the loads of all other workers."},
	{"drain_ratio", "metric", "How long a step that waits for the GPU takes, in mean steps.",
	 "For a training that runs ahead of its GPU, where GPU times were not observed: median of "
	 "the steps that take over 5 medians / mean step. 5 or more: the GPU had work all the "
	 "time, whatever the host waited. 3.5 or less: the GPU ran out of work."},
	{"theta", "metric", "How long a wait must be to count as a stall.",
	 "max(2 ms, 10 % of the median step); see starved."},
	{"gain_max", "metric", "How many times as fast the run would be if it never stalled.",
	 "1 / (1 - stall ratio). Only steps that become shorter can bring more: see gain_alone."},
	{"gain_alone", "metric",
	 "gain_max, if also no worker took cores that the steps wanted.",
	 "gain_max / (1 - w / b). b: time of the training's thread, without its waits for "
	 "unfinished batches. w: how long it wanted a core in that time and had none, at most the "
	 "CPU time of the loads. If other programs took cores, too, only the loads' share of the "
	 "CPU time of both counts. With the GPU's clock, it is gain_max."},
	{"queued_share", "metric", "Share of the stall time in which other batches were ready.",
	 "If it is at least half, and rho < 1, the cause is head_of_line."},
	{"load_mean", "metric", "Mean time of one load, in a worker, over steady batches.",
	 "Divided by the number of workers, it is the time that the loader needs for each batch."},
	{"load_cv", "metric", "How much loads differ: their standard deviation over their mean.",
	 "From .5 on no rhythm can be seen, and delivering in order costs a tenth of the "
	 "capacity or more; see eta."},
	{"cpu_share", "metric", "Share of the cores' time that the workers used.",
	 "It is of the time that other programs left: they took what /proc/stat counts as busy, "
	 "less what the run's processes used. From 85 % on, more workers would only share the same "
	 "cores; see cpu_contention."},
	{"threads", "metric", "Threads of a worker that run at once, or want to.",
	 "The mean over its loads, from what its threads ran and waited for a core, as the kernel "
	 "counts both. From two for each core on, in all, the cause is too_many_threads."},
	{"cores_allowed", "metric", "Cores that the workers may use, by their own masks.",
	 "Of the worker that may use the fewest. If these are at most half of the training's "
	 "cores, and used up, the cause is narrowed_cores."},
	{"confidence", "metric", "How far the verdict can be trusted.",
	 "High from 300 steady batches on (the ratio of a fresh run then differs by some 3 "
	 "points), medium from 100 (5 points), else low. One step lower where it is not known for "
	 "95 % of the batches whether they were ready, where over 1 % of the records were lost, or "
	 "where the GPU's idle time was only guessed."},
	{"step", "metric", "What the training does in its steps, by the host's clock.",
	 "Parts of a PyTorch training: before the backward pass (copies to the GPU, forward, "
	 "loss), in it, between it and the optimizer (clipping, scaling), in the optimizer, and "
	 "saving checkpoints (torch.save, torch.distributed.checkpoint, safetensors). Other loops "
	 "are those over loaders in whose steps no backward pass runs, as validations. After is "
	 "the rest: metrics, logging, schedules, a loss that is asked for. A closure is no part "
	 "of the optimizer. A batch without an optimizer step ends with its backward pass: its "
	 "gradients are accumulated.\n\nA host that waits for a GPU may do so for earlier work. "
	 "Before PyTorch 2.0 the optimizer is not observed, nor what lies before it; nor if "
	 "torch.compile compiled it, or one of several. JAX and TensorFlow are not split."},
	{"compute_period", "metric", "Long steps that come every so many batches.",
	 "As period, but for steps instead of waits. See main_thread_periodic."},
	{"noise", "metric", "A difference between two runs that may be mere chance.",
	 "compare marks it by ~: the 95 % interval of the difference holds 0, or the difference is "
	 "under 2 % of the step (of the load, for its parts; 2 points of stall). The interval "
	 "comes from blocks of the run, of the length that makes it widest, because storage or a "
	 "neighbour can be slow for hundreds of batches: among 500 pairs of equal simulated runs "
	 "of each of nine kinds, 5 % or less were called different. It does not cover what makes "
	 "one whole run differ from another."},
	{"culprit", "metric", "The rank of a job for whose data all others wait.",
	 "Ranks that train together meet in every step. A step loses as much as the longest "
	 "stall among them, and the rank with that stall is to blame for the step. The culprit "
	 "is to blame for over half of what the job lost, and mending it alone would save over "
	 "half of that. In the others' reports the same time is computing: they wait inside the "
	 "collective. Ranks that are equally bad, as those of one bad machine, are named "
	 "together (culprits)."},
	{"gain_min", "metric", "How much faster the job is, at least, without the culprits' waits.",
	 "gain_max is the same, at most. The other ranks' waits at that time may remain or vanish, "
	 "and a step on a busy machine does not take the same time twice. On a quiet machine "
	 "gain_min and gain_max are close."},
	{"groups", "metric", "Ranks of a job that never wait for each other.",
	 "As independent data-parallel groups in one job. The ranks of a group keep level, and the "
	 "groups get ever further apart. The job's figures are then those of the group that loses "
	 "the largest share of its time. Groups that are as fast as each other are not told "
	 "apart. [] where all ranks meet, or none do."},
	{"blame_share", "metric", "Share of the job's lost time for which one rank is to blame.",
	 "See culprit."},
	{"lag", "metric", "Whether the ranks of a job wait for each other.",
	 "Measured where one rank stalls: how much longer its step is than the mean of the others' "
	 "steps, divided by its stall. 0: all steps are alike, so the ranks meet. 1: no rank waits "
	 "for another. Over .5 the ranks are aligned by the clock instead, or judged one by one."},

	{"gate", "limit", "What a gate asserts: --limit 'METRIC<=VALUE', as often as wanted.",
	 "--warn 'METRIC<=VALUE' only warns. @FILE holds options of the gate, one a line; # begins "
	 "a comment.\n\nstall.ratio <= 10%: fails if the ratio (all waiting, see stall_ratio) is "
	 "above it with 99 % confidence, by the bootstrap that ci95 is of.\n\nstall.ratio.increase "
	 "<= 3pp: fails if the ratio is above the mean of the baselines (five or more, of the same "
	 "kind as the run) by more than that and by more than k times their standard deviation or "
	 "the run's bootstrap error, whichever is larger; k is 4.1 for five baselines. --rule "
	 "separation fails if three runs are all above all baselines "
	 "instead.\n\nstall.trimmed_ratio, stall.not_ready, stall.receiving, stall.sampling, "
	 "stall.epoch_start, stall.epoch_end, loss.share <= SHARE; stall.startup, stall.wait_p50, "
	 "stall.wait_p99, workers.load_mean <= TIME (250ms, 2s): the values of --json, without a "
	 "margin for chance. stall.batches, stall.steady_batches >= N.\n\ngpu.idle, "
	 "gpu.collectives_alone_share <= SHARE: the values of --json, where the clock is the "
	 "GPU's. They cannot be judged where CUDA graphs are recorded as wholes. A rank that fails "
	 "gpu.collectives_alone_share is one that waits, not the rank for which it waits.\n\nA run "
	 "cannot be judged if it has fewer than max(300, 20 x prefetch_factor x workers) batches "
	 "(if only the loader that is waited for most has so few, a limit on stall.ratio is judged "
	 "where its few waits leave no doubt), lost more than 1 % of its records, still records, "
	 "has fewer than five baselines, or belongs to a job whose other ranks left no database "
	 "(--ranks N: only N ranks load data). The gate then exits with status 3, unless "
	 "--on-inconclusive says otherwise, or --on-few-baselines where only baselines are "
	 "missing."},
};

const struct explanation *explain_find(const char *id)
{
	for (size_t i = 0; i < ARRAY_COUNT(PAGES); i++)
		if (strcmp(PAGES[i].id, id) == 0)
			return &PAGES[i];
	return NULL;
}

const struct explanation *explain_at(size_t i)
{
	return i < ARRAY_COUNT(PAGES) ? &PAGES[i] : NULL;
}

void explain_print(const struct page *page, const struct explanation *explanation)
{
	const char *text = explanation->page, *end;

	page_entry(page, 0, 0, "", "%s (%s)", explanation->id, explanation->kind);
	page_break(page);
	page_entry(page, 2, 2, "", "%s", explanation->line);
	if (explanation->how) {
		page_break(page);
		page_entry(page, 2, 2, "", "%s", explanation->how);
	}
	while (*text) {
		end = strstr(text, "\n\n");
		page_break(page);
		page_entry(page, 2, 2, "", "%.*s", (int)(end ? (size_t)(end - text) : strlen(text)),
			   text);
		text = end ? end + 2 : "";
	}
}

void explain_list(const struct page *page)
{
	for (size_t i = 0; i < ARRAY_COUNT(PAGES); i++) {
		if (!i || strcmp(PAGES[i].kind, PAGES[i - 1].kind) != 0)
			page_entry(page, 0, 0, "", "%s", PAGES[i].kind);
		page_entry(page, 2, 30, PAGES[i].id, "%s", PAGES[i].line);
	}
}
