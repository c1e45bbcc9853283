/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/grounds.h"

#include <math.h>
#include <string.h>

#include "analysis/cause/split.h"
#include "analysis/statistics/stats.h"

#define LEFT_EARLY      1.5  /* epochs end early if this many loads are made for each batch taken */
#define LOCKED          0.4  /* a lock is the cause if waits for it take this share of load time */
/* workers take turns at a pipe if waits for it take this share of the load time without locks */
#define TURNS           0.8
#define SLOW_TIMES      5.0  /* a sample is slow if it takes at least this many times the mean */
#define SLOW_FEW        0.01 /* slow samples are ignored if they are more than this share of all */
#define SLOW_SHARE      0.2  /* slow samples are the cause if they take this share of load time */
/* fetching tensors' descriptors is a cause only if it takes this share of the receiving time */
#define FETCH_SHARE     0.5
#define FETCH_LEAST_NS  1e6
#define FETCH_CPU_MOST  0.5
/* fetching descriptors is a cause only if loads take at least this share of the workers' time */
#define FETCH_BUSY      0.5
/* models are compiled again if compiling takes this share of time beyond the run's first tenth */
#define COMPILING_LEAST 0.2
#define COMPILED_FIRST  10
/* the main thread waits for the GIL if another thread holds it in this share of its waits */
#define HELD_SHARE      0.5
#define HELD_SAMPLES    30
/* a thread that holds the interpreter in steps is a cause from this share of their time on */
#define STEPS_HELD_LEAST 0.1
/* steps that need the interpreter for less of their time are not lengthened by other threads */
#define PYTHON_LEAST 0.05
/* without stack samples, a thread is a GIL holder if it uses a CPU for this share of the time */
#define HELD_CPU        0.25
#define SLOW_AGAIN      0.5 /* a sample is ignored if it is slow in a smaller share of epochs */
/* workers have too many threads if each worker has at least this many runnable threads */
#define THREADS_LEAST   2.0
#define THREADS_CROWD   2.0 /* threads are too many only if each core has this many runnable ones */
/* workers are too many only if each core has at least this many workers */
#define CROWD           2.0
/* workers are too many only if loads spend this share of time off the CPU, in no observed call */
#define CROWD_UNSEEN    0.5
/* workers have too few cores if they may use at most this share of the machine's cores */
#define NARROW          0.5
#define NARROW_FULL     0.85 /* workers with too few cores use them for this share of the time */
/* memory is short if loads spend this share of time off the CPU, in no observed call */
#define PAGING          0.33
#define FAULTS_A_LOAD   1.0 /* short memory is swapped, or has at least this many faults a sample */
/* workers are taken to write to one pipe if on average at least this many wait to write */
#define WRITERS         1.2
/* one worker's writes go to a helper if waits to read pipes take this part of the waits to write */
#define ANSWERED        0.1
#define HELPER_BUSY     0.8  /* a helper process is busy if it wants at least this part of a core */
/* a helper that wants more cores than this has several threads: one core does not limit it */
#define HELPER_ONE      1.3
/* making objects is the cause if it takes at least this share of the load time */
#define MAKING_LEAST    0.4
/* loads may make a connection for each sample only if they wait this often for each sample */
#define ASKED_PART      0.9
#define MAKING_MOST     0.9 /* constructors that take more of a load seem to read the data, too */
/* threads ask other machines for data if they receive at least this part of a batch's bytes */
#define ASKED_BYTES     0.05
/* with fewer bytes a sample, loads wait for the first byte rather than for all of them */
#define RECEIVED_LEAST  1e6
#define REOPENED_PART   0.5 /* files are reopened if this share of openings repeats earlier ones */
/* the user's own code is the cause if one of its functions takes this share of the load time */
#define OWN_LEAST       0.5
#define OWN_CPU         0.8 /* own code is the cause only if loads want a CPU this share of time */
#define OWN_DECODED     0.4 /* own code is the cause only if decoding takes less of the load time */
/* a batch is blown up if it has this size, and this many bytes for each byte of its images */
#define BLOWN_BYTES     (8.0 * (1 << 20))
#define BLOWN_TIMES     8.0
#define BLOWN_COLLATE   0.2 /* a batch is blown up only if collating takes this share of its load */
/* samples are small if a batch has at least this many, each with at most this time and size */
#define SMALL_COUNT     32
#define SMALL_NS        50e3
#define SMALL_BYTES     4096
#define SMALL_CPU       0.8 /* loads of small samples run, or await a core, this share of time */
#define SMALL_SINGLE    0.3 /* making small samples one by one takes this share of a load */
#define DRAWN_LEAST     3.0  /* images are needless only if a sample decodes at least this many */
#define DRAWN_BYTES     2.0  /* images are needless only at this many decoded bytes a batch byte */
/* images are needless only if their number varies by this share of what is_drawn() expects */
#define DRAWN_SPREAD    0.75
/* The run is cut into parts. Some parts at its start or end may be calm: they hardly wait. */
#define CALM_PARTS      32
#define CALM_FEWEST     8   /* calm parts are not looked for if a part has fewer batches */
#define CALM_LEAST      0.2 /* this share of the parts must be calm, and this share not calm */
#define CALM_WAIT       0.1 /* a calm part waits at most this share of the other parts' mean wait */

static double share_of(double part, double whole)
{
	return whole > 0 && part >= 0 ? fmin(part / whole, 1) : NAN;
}

static double excess_ns(const struct batch_series *s, double median_ns, double least_ns)
{
	double ns = 0;

	for (size_t i = 0; s->load_ns && i < s->count; i++)
		if ((double)s->load_ns[i] >= least_ns)
			ns += (double)s->load_ns[i] - median_ns;
	return ns;
}

/* Returns true if a slow load has, beyond chance, at least (workers - 1) / 2 slow ones near it. */
static bool come_together(const struct batch_series *s, double least_ns)
{
	const size_t others = s->workers > 1 && s->load_ns ? (size_t)s->workers - 1 : 0;
	double slow = 0, beside = 0;
	/* number of slow loads among load i, the `others` loads before it and those after it */
	size_t around = 0, begin = 0, end = 0;

	for (size_t i = 0; others && i < s->count; i++) {
		for (; end < s->count && end <= i + others; end++)
			around += (double)s->load_ns[end] >= least_ns;
		for (; begin + others < i; begin++)
			around -= (double)s->load_ns[begin] >= least_ns;
		if (!((double)s->load_ns[i] >= least_ns))
			continue;
		slow++;
		beside += (double)(around - 1);
	}
	beside -= slow * (double)(2 * others) * slow / (double)s->count;
	return slow > 0 && beside >= slow * (double)others / 2;
}

/* Finds samples that are always slow; none if slow loads come together, as a server's pauses do. */
static void find_samples(const struct batch_series *s, const struct finding *f,
			 const struct cause_input *input, struct grounds *ret)
{
	const struct stats_column column = {.values = s->load_ns,
					    .count = s->load_ns ? s->count : 0};
	const struct load_times *loads = input->loads;
	double ns = 0, all_ns = 0, times = 0, epochs = (double)f->epoch_count, mean_ns;
	double median_ns, least_ns; /* the median load, and the shortest load with a slow sample */
	size_t count = 0;

	if (!loads || !(loads->samples > 0) || !(loads->load_ns > 0) || !epochs)
		return;
	mean_ns = loads->load_ns / loads->samples;
	for (size_t i = 0; i < input->sample_count; i++) {
		if (input->samples[i].ns < SLOW_TIMES * mean_ns)
			continue;
		ns += input->samples[i].ns;
		all_ns += input->samples[i].ns * fmin(input->samples[i].count, epochs);
		times += fmin(input->samples[i].count, epochs);
		count++;
	}
	if (!count || (double)count * epochs > SLOW_FEW * loads->samples)
		return;
	if (epochs > 1 && times < SLOW_AGAIN * epochs * (double)count)
		return;
	median_ns = stats_median(&column);
	least_ns = median_ns + ns / (double)count / 2;
	if (epochs == 1 && come_together(s, least_ns))
		return;
	ret->samples.count = count;
	ret->samples.each_ns = ns / (double)count;
	ret->samples.mean_ns = mean_ns;
	ret->samples.share =
		fmin(all_ns, excess_ns(s, median_ns, least_ns)) / loads->load_ns;
}

static void find_fetches(const struct batch_series *s, const struct finding *f,
			 struct grounds *ret)
{
	double receiving_ns = f->own.part_ns[ACCOUNT_RECEIVING];

	ret->loading_share = stall_loads_at_once(f) / s->workers;
	if (!(s->fetches.batches > 0) || !(s->fetches.count > 0))
		return;
	ret->fetch.count = s->fetches.count / s->fetches.batches;
	ret->fetch.each_ns = s->fetches.ns / s->fetches.count;
	ret->fetch.cpu_share = share_of(s->fetches.cpu_ns, s->fetches.ns);
	ret->fetch.share = share_of(s->fetches.ns, receiving_ns);
}

static bool has_free_core(const struct batch_series *s)
{
	double used = s->main_cores + (s->other_cores >= 0 ? s->other_cores : 0);

	return isnan(s->cores) || isnan(s->main_cores) || used < GROUNDS_FREE * s->cores;
}

/* Returns, by stack samples, the share of a group's time in which other threads held the GIL. */
static double held_share(const struct line_lead *held, double *ret_error)
{
	double share = 0;

	for (size_t i = 0; i < held->count; i++)
		share += held->lines[i].share;
	share = fmin(share, 1);
	*ret_error = lines_error(share, lines_effective_count(held->samples, held->ns));
	return share;
}

/*
 * Finds a thread that held the interpreter while the main thread waited. Without stack samples, it
 * is the thread with the most CPU time, if that is HELD_CPU of the run or more, a core was free,
 * and the main thread hardly used the CPU while it fetched descriptors.
 */
static void find_holder(const struct batch_series *s, const struct finding *f,
			const struct cause_input *input, struct grounds *ret)
{
	const struct line_lead *held = input->lines ? &input->lines->holders[LINE_WAITS] : NULL;
	const struct load_facts *facts = input->facts;
	double most = facts && facts->thread_count ? facts->threads[0].cpu_ns : NAN;

	ret->holder.cpu_ns = ret->holder.share = NAN;
	if (held && held->samples >= HELD_SAMPLES) {
		double error, share = held_share(held, &error);

		if (share - error < HELD_SHARE)
			return;
		ret->holder.found = true;
		ret->holder.share = share;
		ret->holder.is_line = true;
	} else {
		ret->holder.found = most >= HELD_CPU * f->account.time_ns &&
				    ret->fetch.cpu_share < FETCH_CPU_MOST && has_free_core(s);
	}
	if (ret->holder.found && most > 0) {
		ret->holder.cpu_ns = most;
		memcpy(ret->holder.name, facts->threads[0].name, sizeof(ret->holder.name));
	}
}

/*
 * Finds, by stack samples, in which share of the steps other threads held the interpreter; none if
 * the steps hardly run Python, as they are not longer for it. With a GPU, only waits for these
 * threads count, and at most for as long as the GPU idled for want of work.
 */
static void find_steps_held(const struct cause_input *input, const struct finding *f,
			    struct grounds *ret)
{
	const struct lines *lines = input->lines;
	const struct line_lead *held = lines ? &lines->holders[LINE_STEPS] : NULL;
	double share, least, error, idle_share;

	if (!held || held->samples < HELD_SAMPLES || lines->python_share < PYTHON_LEAST)
		return;
	share = held_share(held, &error);
	least = fmin(lines->awaited_share, share);
	if (input->has_gpu) {
		idle_share = input->gpu && f->by_gpu ? fmax(input->gpu->lack_share, 0) : 0;
		share = fmin(least, idle_share);
		least = fmax(share - error, 0);
	}
	if (share - error >= STEPS_HELD_LEAST)
		ret->steps_held = (struct steps_held){share, error, least};
}

/* Returns true if the peer is a multiprocessing Manager, like "/tmp/pymp-8hq3/listener-x1". */
static bool is_manager(const char *peer)
{
	const char *folder = strstr(peer, "/pymp-");

	return folder && strstr(folder, "/listener-");
}

/* Returns true if loads wait for other processes, at least about once for each sample. */
static bool is_asking_each(const struct grounds *r, const struct load_times *loads)
{
	double count = 0;

	for (size_t i = 0; i < r->facts->peer_count; i++)
		count += fmax(r->facts->peers[i].count, 0);
	return r->asked_share >= GROUNDS_OUTSIDE && loads && count >= ASKED_PART * loads->samples;
}

/*
 * Returns true if loads mostly make objects or connections that could be kept, and either wait for
 * another process or open the same file for each sample.
 */
static bool is_making(const struct grounds *r, const struct cause_input *input)
{
	const struct load_facts *facts = r->facts;
	const struct lines *lines = input->lines;
	const bool is_reopened = facts->reopens_per_sample >= LOAD_FACTS_REOPENED &&
				 facts->reopened_per_sample >=
					 REOPENED_PART * facts->opens_per_sample;

	const double least = lines ? lines->making_share - lines->making_error : NAN;

	return least >= MAKING_LEAST && !r->is_managed &&
	       (is_reopened || (is_asking_each(r, input->loads) && least <= MAKING_MOST));
}

/* Returns true if loads mostly compute in one of the user's functions, and decode few images. */
static bool is_own_code(const struct grounds *r, const struct cause_input *input)
{
	const struct line_share *line = lines_leading(input->lines, LINE_LOADS);

	return line &&
	       lines_function_share(input->lines, false) - line->function_error >= OWN_LEAST &&
	       r->cpu_share + fmax(r->no_core_share, 0) >= OWN_CPU && input->loads &&
	       !(load_decode_share(input->loads) >= OWN_DECODED);
}

/* Finds small samples that are made one by one, so that most of the time is calls of Python. */
static void find_small(const struct finding *f, const struct cause_input *input,
		       struct grounds *ret)
{
	const struct load_times *loads = input->loads;
	const double count = loads ? loads->samples * f->load_mean_ns / loads->load_ns : 0;

	if (count >= SMALL_COUNT && f->load_mean_ns / count <= SMALL_NS &&
	    ret->facts->batch_bytes / count <= SMALL_BYTES && input->lines &&
	    input->lines->single_share >= SMALL_SINGLE &&
	    ret->cpu_share + fmax(ret->no_core_share, 0) >= SMALL_CPU) {
		ret->small.count = count;
		ret->small.each_ns = f->load_mean_ns / count;
	}
}

/* Returns true if loads wait for threads of their process, and these threads for other machines. */
static bool are_threads_asking(const struct load_facts *facts)
{
	return facts->runnable_threads < GROUNDS_HARDLY_RUN &&
	       facts->wait_bytes[LOAD_WAIT_THREAD] > 0 &&
	       facts->received_per_byte >= ASKED_BYTES;
}

/* Finds out whether loads wait for much more from other machines than a batch needs. */
static void find_received(const struct finding *f, const struct load_times *loads,
			  struct grounds *ret)
{
	const struct load_facts *facts = ret->facts;
	const double bytes = facts->received_per_byte * facts->batch_bytes;
	double wait_ns = fmax(facts->wait_ns[LOAD_WAIT_SOCKET], 0);

	if (are_threads_asking(facts))
		wait_ns += fmax(facts->wait_ns[LOAD_WAIT_THREAD], 0);
	if (wait_ns >= GROUNDS_OUTSIDE * facts->load_ns && loads &&
	    facts->received_per_byte >= GROUNDS_READ_AGAIN &&
	    bytes * loads->load_ns >= RECEIVED_LEAST * loads->samples * f->load_mean_ns) {
		ret->received_again = facts->received_per_byte;
		ret->received_share = wait_ns / facts->load_ns;
	}
}

/* Returns how many bytes a batch has for each byte of its images, if that is much; else 0. */
static double find_blown_up(const struct load_facts *facts, const struct load_times *loads)
{
	const double times = 1 / facts->decoded_per_byte;

	return facts->images_per_sample >= 1 && facts->batch_bytes >= BLOWN_BYTES &&
			       times >= BLOWN_TIMES && loads &&
			       BLOWN_TIMES * fmax(facts->read_per_byte, 0) <= 1 &&
			       BLOWN_TIMES * fmax(facts->inflated_per_byte, 0) <= 1 &&
			       loads->collate_ns >= BLOWN_COLLATE * loads->load_ns
		       ? times
		       : 0;
}

/* Returns the share of the loads' time waiting to write to one pipe or terminal, or 0. */
static double find_writing(const struct load_facts *facts, double loading)
{
	const struct load_peer *peer = load_facts_peer(facts, LOAD_WAIT_WRITE);
	const double share = peer ? share_of(peer->ns, facts->load_ns) : 0;
	/* What a single worker writes may be requests to a helper, which answers by a pipe. */
	const bool is_answered =
		facts->wait_ns[LOAD_WAIT_PIPE] >= ANSWERED * facts->wait_ns[LOAD_WAIT_WRITE];
	const bool is_common = loading <= 1 ? !is_answered : share * loading >= WRITERS;

	return is_common && share >= GROUNDS_OUTSIDE ? share : 0;
}

/*
 * Returns true if loads seem to draw images until one fits. If a sample then takes N draws on
 * average, their standard deviation is sqrt(N(N - 1)). It is less if each sample has N images.
 */
static bool is_drawn(const struct load_facts *facts)
{
	const double images = facts->images_per_sample;

	return images >= DRAWN_LEAST && facts->decoded_per_byte >= DRAWN_BYTES &&
	       facts->images_spread >= DRAWN_SPREAD * sqrt((images - 1) / images);
}

/*
 * Returns true if each worker opens the same files, two or more, in each epoch. The last epoch may
 * be cut off, so its openings may be missing, unless one worker alone could make all the others.
 */
static bool are_opened_by_all(const struct load_facts *facts, double workers, double epochs)
{
	const double whole = workers * (epochs - 1), all = workers * epochs;

	return facts->files.count >= 2 &&
	       facts->files.fewest_opens >= (1 - GROUNDS_ALL) * (whole > epochs ? whole : all) &&
	       fabs(facts->files.most_opens / all - 1) <= GROUNDS_ALL;
}

static void find_waits(const struct batch_series *s, const struct finding *f,
		       const struct cause_input *input, struct grounds *ret)
{
	const struct load_facts *facts = input->facts;
	const struct load_times *loads = input->loads;
	double seen_ns, piped_ns, asked_ns;

	ret->lock_share = ret->asked_share = ret->piped_share = ret->sync_share = NAN;
	ret->storage_share = ret->unseen_share = ret->fault_share = ret->thread_share = NAN;
	ret->cpu_share = share_of(series_load_cpu_ns(s), f->load_mean_ns);
	ret->has_inner = input->has_inner;
	if (loads && loads->load_ns > 0) {
		seen_ns = fmax(loads->open_ns, 0) + fmax(loads->read_ns, 0);
		ret->storage_share = share_of(seen_ns, loads->load_ns);
		ret->cpu_share = share_of(loads->cpu_ns, loads->load_ns);
		seen_ns += loads->cpu_ns + fmax(loads->blocked_ns, 0);
		ret->unseen_share = share_of(fmax(loads->load_ns - seen_ns, 0), loads->load_ns);
	}
	if (!facts || !(facts->load_ns > 0))
		return;
	ret->is_left_early = f->epoch_count > 1 && facts->loads_per_batch >= LEFT_EARLY;
	ret->lock_share = share_of(facts->wait_ns[LOAD_WAIT_LOCK], facts->load_ns);
	ret->thread_share = share_of(facts->wait_ns[LOAD_WAIT_THREAD], facts->load_ns);
	ret->write_share = find_writing(facts, ret->loading > 0 ? ret->loading : s->workers);
	piped_ns = fmax(facts->wait_ns[LOAD_WAIT_PIPE], 0) +
		   (ret->write_share > 0 ? 0 : fmax(facts->wait_ns[LOAD_WAIT_WRITE], 0)) +
		   fmax(facts->wait_ns[LOAD_WAIT_PROGRAM], 0);
	ret->takes_turns = ret->lock_share >= LOCKED &&
			   facts->wait_ns[LOAD_WAIT_PIPE] >=
				   TURNS * (facts->load_ns - facts->wait_ns[LOAD_WAIT_LOCK]);
	if (ret->takes_turns)
		piped_ns += facts->wait_ns[LOAD_WAIT_LOCK];
	asked_ns = fmax(facts->wait_ns[LOAD_WAIT_SOCKET], 0) + piped_ns;
	if (are_threads_asking(facts))
		asked_ns += fmax(facts->wait_ns[LOAD_WAIT_THREAD], 0);
	ret->asked_share = share_of(asked_ns, facts->load_ns);
	ret->piped_share = share_of(piped_ns, facts->load_ns);
	ret->sync_share = share_of(facts->wait_ns[LOAD_WAIT_SYNC], facts->load_ns);
	ret->fault_share = share_of(facts->wait_ns[LOAD_WAIT_FAULT], facts->load_ns);
	ret->starts_programs = facts->children_cores >= GROUNDS_CPU_LITTLE;
	ret->is_helper_busy =
		share_of(facts->wait_ns[LOAD_WAIT_PIPE], facts->load_ns) >= GROUNDS_OUTSIDE &&
		facts->helper_cores >= HELPER_BUSY && facts->helper_cores <= HELPER_ONE &&
		!ret->starts_programs;
	ret->is_other_end_idle =
		ret->piped_share >= GROUNDS_OUTSIDE && facts->children_cores < GROUNDS_CPU_LITTLE &&
		facts->helper_cores < GROUNDS_CPU_LITTLE && s->other_cores < GROUNDS_CPU_LITTLE;
	ret->no_core_share = fmax(share_of(facts->no_core_ns, facts->load_ns), 0);
	ret->fixed_share = fmax(share_of(facts->fixed_ns, facts->load_ns), 0);
	find_received(f, loads, ret);
	ret->read_again = fmax(fmax(facts->read_per_byte, ret->received_again),
			       facts->inflated_per_byte);
	ret->decoded_again = fmax(facts->decoded_per_byte, 0);
	if (is_drawn(facts))
		ret->drawn = facts->images_per_sample;
	/* If a sample seems to have W images (W workers), each worker decoded the sample once. */
	ret->is_decoded_by_all =
		s->iterable == 1 && series_busy_workers(s) >= 2 &&
		fabs(facts->images_per_sample / series_busy_workers(s) - 1) <= GROUNDS_ALL;
	ret->is_opened_by_all = s->iterable == 1 && series_busy_workers(s) >= 2 &&
				are_opened_by_all(facts, series_busy_workers(s),
						  (double)f->epoch_count);
	ret->is_managed = ret->asked_share >= GROUNDS_OUTSIDE && facts->peer_count &&
			  is_manager(facts->peers[0].name);
	ret->is_own_code = is_own_code(ret, input);
	find_small(f, input, ret);
	ret->blown_up = find_blown_up(facts, loads);
	if (is_making(ret, input)) {
		ret->making_share = input->lines->making_share;
		ret->making_error = input->lines->making_error;
	}
	ret->samples.asleep_share = share_of(facts->wait_ns[LOAD_WAIT_ASLEEP], facts->load_ns);
}

/* Returns true if loads wait for pages because memory is short, and not for mapped files. */
static bool is_paging(const struct load_facts *facts, const struct cause_input *input,
		      const struct grounds *r)
{
	const struct load_times *loads = input->loads;
	const double mapped = facts->swapped_bytes > 0 ? 0 : fmax(r->fault_share, 0);

	if (!loads)
		return false;
	return r->unseen_share - mapped - fmax(facts->no_core_ns / facts->load_ns, 0) >= PAGING &&
	       (facts->swapped_bytes > 0 || facts->major_faults >= FAULTS_A_LOAD * loads->samples);
}

static void find_processes(const struct batch_series *s, const struct finding *f,
			   const struct cause_input *input, struct grounds *ret)
{
	const struct load_facts *facts = input->facts;
	double loading = ret->loading > 0 ? ret->loading : s->workers, used, full;

	ret->threads = ret->cores_allowed = NAN;
	ret->is_crowded = s->workers >= CROWD * s->cores && ret->unseen_share >= CROWD_UNSEEN;
	if (!facts)
		return;
	ret->is_memory_short = is_paging(facts, input, ret);
	ret->tensors = fmax(facts->tensors, ret->fetch.count);
	if (!(loading > 0))
		return;
	if (facts->runnable_threads >= THREADS_LEAST &&
	    facts->runnable_threads * loading >= THREADS_CROWD * s->cores)
		ret->threads = facts->runnable_threads * loading;
	used = series_load_cpu_ns(s) * (double)f->steady_count / f->steady_ns;
	/* If workers may use fewer cores than the training, it is unknown on which cores other
	 * programs run, so all cores of the workers count. Else the workers share the training's
	 * cores, so what the training uses counts, too. */
	full = facts->cores_allowed < s->cores ? facts->cores_allowed : series_free_cores(s);
	used += facts->cores_allowed < s->cores ? 0 : fmax(s->main_cores, 0);
	ret->cores_there = fmax(s->cores, facts->cores_at_start);
	if (facts->cores_allowed <= NARROW * ret->cores_there && used >= NARROW_FULL * full)
		ret->cores_allowed = facts->cores_allowed;
}

/* Returns how many parts at the run's start (or end) hardly wait, compared with the other parts. */
static size_t count_calm(const double *wait_ns, bool from_end)
{
	double all = 0, calm = 0;
	size_t count = 0, part;

	for (part = 0; part < CALM_PARTS; part++)
		all += wait_ns[part];
	for (part = 0; part + 1 < CALM_PARTS; part++) {
		double rest, own = wait_ns[from_end ? CALM_PARTS - 1 - part : part];

		calm += own;
		rest = (all - calm) / (double)(CALM_PARTS - 1 - part);
		if (calm <= CALM_WAIT * rest * (double)(part + 1) && own <= CALM_WAIT * rest)
			count = part + 1;
	}
	return count;
}

static void find_calm(const struct batch_series *s, const struct finding *f, struct grounds *ret)
{
	double wait_ns[CALM_PARTS] = {0};
	size_t first, last;

	if (!s->wait_ns || s->count < CALM_PARTS * CALM_FEWEST)
		return;
	for (size_t i = 0; i < s->count; i++)
		if (s->state[i] & SERIES_STEADY)
			wait_ns[i * CALM_PARTS / s->count] += fmax(0, (double)stall_waits(s, f)[i]);
	first = count_calm(wait_ns, false);
	last = count_calm(wait_ns, true);
	if (first >= CALM_LEAST * CALM_PARTS && first <= (1 - CALM_LEAST) * CALM_PARTS)
		ret->calm.first = first * s->count / CALM_PARTS;
	else if (last >= CALM_LEAST * CALM_PARTS && last <= (1 - CALM_LEAST) * CALM_PARTS)
		ret->calm.last = last * s->count / CALM_PARTS;
}

/* Finds models that are compiled again and again, and not only in the run's first batches. */
static void find_compiling(const struct batch_series *s, const struct cause_input *input,
			   struct grounds *ret)
{
	const double share = input->lines ? input->lines->compiling_share : NAN;
	double first_ns = 0, all_ns = 0;

	for (size_t i = 0; share >= COMPILING_LEAST && s->compute_ns && i < s->count; i++) {
		all_ns += fmax(0, (double)s->compute_ns[i]);
		if (i * COMPILED_FIRST < s->count)
			first_ns = all_ns;
	}
	if (share - first_ns / all_ns >= COMPILING_LEAST)
		ret->compiling_share = share;
}

void grounds_find(const struct batch_series *s, const struct finding *f,
		 const struct cause_input *input, struct grounds *ret)
{
	*ret = (struct grounds){.facts = input->facts};
	ret->loading = s->loading;
	ret->shared_per_s = input->flight ? input->flight->limit_per_s : NAN;
	find_samples(s, f, input, ret);
	ret->growth = growth_find(s, s->load_ns, f->epoch_count);
	ret->step_growth = growth_find(s, s->compute_ns, f->epoch_count);
	find_fetches(s, f, ret);
	find_holder(s, f, input, ret);
	find_steps_held(input, f, ret);
	find_waits(s, f, input, ret);
	find_processes(s, f, input, ret);
	find_calm(s, f, ret);
	find_compiling(s, input, ret);
}

static enum cause growth_cause(const struct grounds *r)
{
	return r->growth.in_epoch ? CAUSE_GROWING_IN_EPOCH : CAUSE_GROWING_LOADS;
}

static enum cause of_workers(const struct grounds *r, const struct batch_series *s,
			     enum cause cause)
{
	if (r->loading > 0 && r->loading < s->workers)
		return CAUSE_IDLE_WORKERS;
	if (r->is_memory_short)
		return CAUSE_MEMORY;
	if (r->lock_share >= LOCKED && !r->takes_turns)
		return CAUSE_LOCK;
	if (r->samples.share >= SLOW_SHARE && cause != CAUSE_PERIODIC_SLOW_LOAD)
		return CAUSE_SLOW_SAMPLES;
	if (!isnan(r->shared_per_s) || r->is_helper_busy || r->takes_turns ||
	    (r->write_share > 0 && s->workers > 1))
		return CAUSE_SHARED_LIMIT;
	if (!isnan(r->threads))
		return CAUSE_TOO_MANY_THREADS;
	if (!isnan(r->cores_allowed))
		return CAUSE_NARROWED_CORES;
	if (r->growth.found)
		return growth_cause(r);
	return cause;
}

bool grounds_is_asking(const struct grounds *r)
{
	return r->fetch.share >= FETCH_SHARE && r->fetch.each_ns >= FETCH_LEAST_NS &&
	       r->fetch.cpu_share < FETCH_CPU_MOST && r->loading_share >= FETCH_BUSY;
}

enum cause grounds_cause(const struct grounds *r, const struct batch_series *s, enum cause cause)
{
	/* If a server halts now and then, all loads are slow at once. This may look periodic. */
	if (cause == CAUSE_PERIODIC_SLOW_LOAD && r->asked_share >= GROUNDS_OUTSIDE &&
	    split_are_slow_together(s))
		cause = CAUSE_INTERMITTENT_LOADER;
	switch (cause) {
	case CAUSE_LOADER_CAPACITY:
	case CAUSE_CPU_CONTENTION:
	case CAUSE_HEAD_OF_LINE:
	case CAUSE_PERIODIC_SLOW_LOAD:
		return of_workers(r, s, cause);
	case CAUSE_SLOW_WORKER:
		return r->loading > 0 && r->loading < s->workers ? CAUSE_IDLE_WORKERS : cause;
	case CAUSE_INTERMITTENT_LOADER:
		cause = of_workers(r, s, cause);
		if (cause == CAUSE_INTERMITTENT_LOADER && !split_are_slow_together(s))
			return CAUSE_UNEXPLAINED;
		return cause;
	case CAUSE_SINGLE_PROCESS:
		return r->samples.share >= SLOW_SHARE ? CAUSE_SLOW_SAMPLES : cause;
	case CAUSE_DELIVERY:
		/* Receiving needs a core, too, so too few cores may be why it is slow. */
		if (r->cores_there > s->cores && !isnan(r->cores_allowed))
			return CAUSE_NARROWED_CORES;
		if (r->holder.found)
			return CAUSE_INTERPRETER_HELD;
		if (!grounds_is_asking(r))
			return cause;
		/* Growing loads delay a worker's answers to fetches, so growth is the cause. */
		return r->growth.found ? growth_cause(r) : CAUSE_WORKER_INTERPRETER;
	case CAUSE_SAMPLER:
		return r->holder.found ? CAUSE_INTERPRETER_HELD : cause;
	default:
		return cause;
	}
}
