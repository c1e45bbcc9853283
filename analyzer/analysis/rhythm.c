/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rhythm.c - each operation has become a small number, and of each number there is a list of its
 * places (gpu_trace.h). A candidate is judged by one walk over these lists.
 */
#include "analysis/rhythm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu_trace.h"

#define MOST            0.8 /* of the pieces, of the constant signatures */
#define SPAN_LEAST      0.5 /* of all operations that lie between the first step and the last */
#define EXPLAINED_LEAST (1.0 / 3)
#define HARDLY_IN_DOUBT 0.9
#define SAME_COUNT      1.05 /* signatures of one rhythm */
#define MOST_CLUSTERS   12
#define ANCHORS_EACH    2
#define FEWEST_ALONE    4 /* kernels that agree, where nothing but kernels does */
#define MODES           256
#define LENGTHS         65536
#define QUARTILES       3
#define LONG_PIECE      2   /* medians: then there is more in it than a step */
#define TYPICAL_LEAST   0.5 /* of kernels and graphs that lie in typical pieces */
#define SHORTER         1.5 /* a period is, if there are so many times the steps */
#define MOST_INNER      64

/* The beginnings of the steps that a candidate would make. */
struct cut {
	uint32_t *begins;
	size_t count;
	uint32_t anchor;
	bool by_optimizer;
};

struct judgement {
	double confidence;
	int inner_count;
};

/* Room for one judgement. */
struct room {
	uint32_t *counts;  /* of one signature in each piece */
	uint32_t *hits;    /* constant signatures that are in it as often as in most */
	uint32_t *known;   /* kernels and graphs of signatures that are in nearly every piece */
	uint32_t *lengths; /* how many pieces have so many kernels and graphs */
};

/* How often it is in each piece. */
static void count_pieces(const struct gpu_trace *t, const struct signature *signature,
			 const struct cut *cut, uint32_t *counts)
{
	const uint32_t *places = t->places + signature->first;
	size_t piece, pieces = cut->count - 1;
	uint32_t i = 0, begin;

	while (i < signature->count && places[i] < cut->begins[0])
		i++;
	for (piece = 0; piece < pieces; piece++) {
		for (begin = i; i < signature->count && places[i] < cut->begins[piece + 1]; i++)
			;
		counts[piece] = i - begin;
	}
}

/* The count, 1 at least, that most pieces have; their number. */
static uint32_t find_mode(const uint32_t *counts, size_t pieces, uint32_t *ret_mode,
			  uint32_t *ret_present)
{
	uint32_t frequency[MODES] = {0}, mode = 1, i;
	size_t piece;

	for (piece = 0; piece < pieces; piece++)
		frequency[counts[piece] < MODES ? counts[piece] : 0]++;
	for (i = 2; i < MODES; i++)
		if (frequency[i] > frequency[mode])
			mode = i;
	*ret_mode = mode;
	for (*ret_present = 0, piece = 0; piece < pieces; piece++)
		*ret_present += counts[piece] > 0;
	return frequency[mode];
}

/* Kernels and graphs in each piece, and the quartiles of that. */
static void measure_lengths(const struct gpu_trace *t, const struct cut *cut, struct room *room,
			    double *quartiles)
{
	size_t pieces = cut->count - 1, piece, seen = 0;
	uint32_t length, at, q = 0;

	memset(room->lengths, 0, LENGTHS * sizeof(*room->lengths));
	for (piece = 0; piece < pieces; piece++) {
		for (length = 0, at = cut->begins[piece]; at < cut->begins[piece + 1]; at++)
			length += t->signatures[t->which[at]].sort == SORT_COMPUTE;
		room->counts[piece] = length;
		room->lengths[length < LENGTHS ? length : LENGTHS - 1]++;
	}
	for (length = 0; length < LENGTHS && q < QUARTILES; length++) {
		seen += room->lengths[length];
		while (q < QUARTILES && seen * (QUARTILES + 1) >= (q + 1) * pieces)
			quartiles[q++] = length;
	}
}

/*
 * The largest number of equal rhythms in a step: of the constant signatures nearly all occur a
 * multiple of it. (Layers that are alike repeat kernels too, but not those before and behind them.)
 */
static int find_inner(const uint32_t *modes)
{
	uint32_t all = 0, fits, i;
	int inner;

	for (i = 1; i < MODES; i++)
		all += modes[i];
	for (inner = MOST_INNER; inner > 1 && all; inner--) {
		for (fits = 0, i = (uint32_t)inner; i < MODES; i += (uint32_t)inner)
			fits += modes[i];
		if ((all - fits) * 8 <= all)
			return inner;
	}
	return 1;
}

/* Lower end of Wilson's interval at one standard error: few pieces prove little. */
static double share_at_least(double part, double whole)
{
	double share = part / whole;

	return (share + 0.5 / whole - sqrt(share * (1 - share) / whole + 0.25 / (whole * whole))) /
	       (1 + 1 / whole);
}

/* How far the pieces are alike. */
static struct judgement judge(const struct gpu_trace *t, const struct cut *cut, struct room *room)
{
	struct judgement ret = {0, 1};
	uint32_t constant_count = 0, sorts[SORT_MAX] = {0}, modes[MODES] = {0}, mode, present,
		 sort_count = 0;
	size_t pieces = cut->count - 1, piece, typical = 0, varied = 0, i;
	double computed = 0, computed_typical = 0, explained = 0, quartiles[QUARTILES] = {0};

	if (cut->count <= RHYTHM_FEWEST_STEPS ||
	    cut->begins[pieces] - cut->begins[0] < SPAN_LEAST * (double)t->count)
		return ret;
	memset(room->hits, 0, pieces * sizeof(*room->hits));
	memset(room->known, 0, pieces * sizeof(*room->known));
	for (i = 1; i < t->signature_count; i++) {
		const struct signature *signature = &t->signatures[i];

		if (signature->count < MOST * (double)pieces)
			continue;
		count_pieces(t, signature, cut, room->counts);
		if (find_mode(room->counts, pieces, &mode, &present) >= MOST * (double)pieces &&
		    (i != cut->anchor || cut->by_optimizer)) {
			for (piece = 0; piece < pieces; piece++)
				room->hits[piece] += room->counts[piece] == mode;
			constant_count++;
			sorts[signature->sort] += i != cut->anchor;
			modes[mode] += !signature->is_optimizer && signature->sort != SORT_OTHER;
		}
		if (signature->sort == SORT_COMPUTE && present >= MOST * (double)pieces)
			for (piece = 0; piece < pieces; piece++)
				room->known[piece] += room->counts[piece];
	}
	sorts[t->signatures[cut->anchor].sort]++;
	for (i = 0; i < SORT_OTHER; i++)
		sort_count += sorts[i] > 0;
	if (!sorts[SORT_COMPUTE] || (sort_count < 2 && sorts[SORT_COMPUTE] < FEWEST_ALONE))
		return ret;
	measure_lengths(t, cut, room, quartiles);
	for (piece = 0; piece < pieces; piece++) {
		bool is_typical = room->hits[piece] >= MOST * constant_count &&
				  room->counts[piece] <= LONG_PIECE * quartiles[1];

		typical += is_typical;
		computed += room->counts[piece];
		computed_typical += is_typical ? room->counts[piece] : 0;
		explained += room->known[piece];
		varied += room->counts[piece] > room->known[piece];
	}
	if (!(computed_typical >= TYPICAL_LEAST * computed))
		return ret;
	explained /= computed;
	if (explained >= EXPLAINED_LEAST && (double)varied >= MOST * (double)pieces)
		explained = fmax(explained, 1 - (quartiles[2] - quartiles[0]) / quartiles[1]);
	ret.confidence = share_at_least((double)typical, (double)pieces) * explained;
	ret.inner_count = find_inner(modes);
	return ret;
}

/* Its occurrences; with an optimizer only those that are the first after one of its kernels. */
static void make_cut(const struct gpu_trace *t, const uint32_t *optimizer, size_t optimizer_count,
		     uint32_t anchor, struct cut *ret)
{
	const struct signature *signature = &t->signatures[anchor];
	const uint32_t *places = t->places + signature->first;
	size_t next = 0;
	uint32_t i;

	ret->anchor = anchor;
	ret->by_optimizer = optimizer != NULL;
	ret->count = 0;
	for (i = 0; i < signature->count; i++) {
		size_t passed = next;

		while (next < optimizer_count && optimizer[next] < places[i])
			next++;
		if (!optimizer || next > passed)
			ret->begins[ret->count++] = places[i];
	}
}

/* Distance from the optimizer's last kernel to where the step would begin, on average. */
static double find_delay(const struct cut *cut, const uint32_t *optimizer, size_t optimizer_count)
{
	size_t i, next = 0;
	double sum = 0;

	for (i = 0; i < cut->count; i++) {
		while (next < optimizer_count && optimizer[next] < cut->begins[i])
			next++;
		sum += cut->begins[i] - optimizer[next - 1];
	}
	return cut->count ? sum / (double)cut->count : INFINITY;
}

/*
 * The steps that an optimizer ends. Kernels that it shares with the rest make more beginnings than
 * there are steps, those of a validation fewer; what most signatures agree on is their number. Of
 * these the one that follows first begins a step. Only one stream, within which order is certain.
 */
static int cut_by_optimizer(const struct gpu_trace *t, struct cut *ret)
{
	uint32_t *optimizer = malloc(t->count * sizeof(*optimizer)), *counts, *votes;
	size_t count = 0, i, k;
	uint32_t stream = 0, best = 0;
	double delay, least = INFINITY;

	counts = calloc(2 * GPU_TRACE_SIGNATURES, sizeof(*counts));
	if (!optimizer || !counts) {
		free(optimizer);
		free(counts);
		return -ENOMEM;
	}
	votes = counts + GPU_TRACE_SIGNATURES;
	for (i = 0; i < t->count; i++)
		if (t->signatures[t->which[i]].is_optimizer) {
			stream = t->ops[i].stream;
			optimizer[count++] = (uint32_t)i;
		}
	for (i = 1; count >= RHYTHM_FEWEST_STEPS && i < t->signature_count; i++) {
		const struct signature *signature = &t->signatures[i];

		if (signature->is_optimizer || signature->sort != SORT_COMPUTE ||
		    signature->stream != stream || signature->count <= RHYTHM_FEWEST_STEPS)
			continue;
		make_cut(t, optimizer, count, (uint32_t)i, ret);
		counts[i] = (uint32_t)ret->count;
	}
	for (i = 1; i < t->signature_count; i++)
		for (k = 1; counts[i] && k < t->signature_count; k++)
			votes[i] += counts[k] && counts[i] + 1 >= counts[k] &&
				    counts[k] + 1 >= counts[i];
	for (i = 1; i < t->signature_count; i++)
		if (votes[i] > votes[best])
			best = (uint32_t)i;
	ret->count = 0;
	if (best) {
		uint32_t agreed = votes[best];

		for (i = 1; i < t->signature_count; i++) {
			if (votes[i] != agreed)
				continue;
			make_cut(t, optimizer, count, (uint32_t)i, ret);
			delay = find_delay(ret, optimizer, count);
			if (delay < least) {
				least = delay;
				best = (uint32_t)i;
			}
		}
		make_cut(t, optimizer, count, best, ret);
	}
	free(optimizer);
	free(counts);
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct signature *left = *(const struct signature *const *)a;
	const struct signature *right = *(const struct signature *const *)b;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return left->spread < right->spread ? -1 : left->spread > right->spread;
}

struct cluster {
	size_t begin, count;
};

static int by_size(const void *a, const void *b)
{
	const struct cluster *left = a, *right = b;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return left->begin < right->begin ? -1 : 1;
}

/* The most even ones of the signatures that occur about equally often, the largest groups first. */
static size_t list_anchors(const struct gpu_trace *t, uint32_t *ret)
{
	const struct signature **sorted = malloc(t->signature_count * sizeof(*sorted));
	struct cluster *clusters = malloc(t->signature_count * sizeof(*clusters));
	size_t count = 0, cluster_count = 0, anchor_count = 0, i, k;

	for (i = 1; sorted && i < t->signature_count; i++)
		if (t->signatures[i].count > RHYTHM_FEWEST_STEPS)
			sorted[count++] = &t->signatures[i];
	if (sorted && clusters && count) {
		qsort(sorted, count, sizeof(*sorted), by_count);
		for (i = 0; i < count; i++) {
			if (!i || sorted[clusters[cluster_count - 1].begin]->count >
					  SAME_COUNT * sorted[i]->count + 1)
				clusters[cluster_count++] = (struct cluster){i, 0};
			clusters[cluster_count - 1].count++;
		}
		qsort(clusters, cluster_count, sizeof(*clusters), by_size);
	}
	for (i = 0; i < cluster_count && i < MOST_CLUSTERS; i++) {
		for (k = 0; k < ANCHORS_EACH && k < clusters[i].count; k++) {
			size_t at = clusters[i].begin, best = at;

			for (; at < clusters[i].begin + clusters[i].count; at++)
				if (sorted[at] &&
				    (!sorted[best] || sorted[at]->spread < sorted[best]->spread))
					best = at;
			ret[anchor_count++] = (uint32_t)(sorted[best] - t->signatures);
			sorted[best] = NULL;
		}
	}
	free(sorted);
	free(clusters);
	return anchor_count;
}

static int by_time(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static double median_step(const struct gpu_trace *t, const struct cut *cut)
{
	size_t pieces = cut->count - 1, i;
	int64_t *steps = malloc(pieces * sizeof(*steps));
	double median = NAN;

	if (!steps)
		return NAN;
	for (i = 0; i < pieces; i++)
		steps[i] = t->ops[cut->begins[i + 1]].begin_ns - t->ops[cut->begins[i]].begin_ns;
	qsort(steps, pieces, sizeof(*steps), by_time);
	median = (double)steps[pieces / 2];
	free(steps);
	return median;
}

static void take(const struct gpu_trace *t, const struct cut *cut,
		 const struct judgement *judgement, struct rhythm *ret)
{
	size_t i = t->count;

	*ret = (struct rhythm){
		.confidence = judgement->confidence,
		.step_count = cut->count,
		.period_ns = cut->count > 1 ? median_step(t, cut) : NAN,
		.inner_count = judgement->inner_count,
		.anchor = t->signatures[cut->anchor].value,
		.by_optimizer = cut->by_optimizer,
	};
	while (i-- > 0 && t->which[i] != cut->anchor)
		ret->armed |= t->signatures[t->which[i]].is_optimizer;
}

/* Of two that are hardly in doubt the shorter period, else the one less in doubt. */
static bool is_better(const struct judgement *new, size_t new_count, const struct rhythm *old)
{
	if (fmin(new->confidence, old->confidence) >= HARDLY_IN_DOUBT) {
		if ((double)new_count > SHORTER * (double)old->step_count)
			return true;
		if ((double)old->step_count > SHORTER * (double)new_count)
			return false;
	}
	return new->confidence > old->confidence;
}

static int search(const struct gpu_trace *t, struct cut *cut, struct room *room, struct rhythm *ret)
{
	uint32_t anchors[MOST_CLUSTERS * ANCHORS_EACH];
	struct judgement judgement;
	size_t count, i;
	int r = cut_by_optimizer(t, cut);

	if (r < 0)
		return r;
	if (cut->count > RHYTHM_FEWEST_STEPS) {
		judgement = judge(t, cut, room);
		take(t, cut, &judgement, ret);
		if (judgement.confidence >= RHYTHM_CONFIDENT)
			return 0;
	}
	count = list_anchors(t, anchors);
	for (i = 0; i < count; i++) {
		make_cut(t, NULL, 0, anchors[i], cut);
		judgement = judge(t, cut, room);
		if (is_better(&judgement, cut->count, ret))
			take(t, cut, &judgement, ret);
	}
	return 0;
}

int rhythm_find(const struct rhythm_op *ops, size_t count, struct rhythm *ret)
{
	struct gpu_trace trace;
	struct room room;
	struct cut cut;
	int r;

	*ret = (struct rhythm){.period_ns = NAN, .inner_count = 1};
	if (count > UINT32_MAX / 2)
		return -EINVAL;
	if (count <= RHYTHM_FEWEST_STEPS)
		return 0;
	r = gpu_trace_open(ops, count, &trace);
	cut.begins = malloc(count * sizeof(*cut.begins));
	room.counts = malloc(count * sizeof(*room.counts));
	room.hits = malloc(count * sizeof(*room.hits));
	room.known = malloc(count * sizeof(*room.known));
	room.lengths = malloc(LENGTHS * sizeof(*room.lengths));
	if (!cut.begins || !room.counts || !room.hits || !room.known || !room.lengths)
		r = -ENOMEM;
	if (r == 0)
		r = search(&trace, &cut, &room, ret);
	free(cut.begins);
	free(room.counts);
	free(room.hits);
	free(room.known);
	free(room.lengths);
	gpu_trace_close(&trace);
	return r;
}

bool rhythm_is_step(struct rhythm *rhythm, const struct rhythm_op *op)
{
	if (rhythm->confidence < RHYTHM_CONFIDENT)
		return false;
	if (rhythm->by_optimizer && op->kind == RHYTHM_KERNEL && op->is_optimizer) {
		rhythm->armed = true;
		return false;
	}
	if (gpu_trace_sign(op) != rhythm->anchor || (rhythm->by_optimizer && !rhythm->armed))
		return false;
	rhythm->armed = false;
	return true;
}

bool rhythm_is_optimizer(const char *name)
{
	/* What a name must not go on with: a C++ lambda is no LAMB. */
	static const struct {
		const char *word, *never;
	} words[] = {
		{"multi_tensor", NULL}, {"foreach", NULL},   {"triton_for_fused", NULL},
		{"adam", NULL},         {"adagrad", NULL},   {"adafactor", NULL},
		{"rmsprop", NULL},      {"sgd", NULL},       {"lamb", "da"},
		{"lars", NULL},         {"optimizer", NULL},
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t length = strlen(words[i].word);
		const char *at = name;

		while ((at = strcasestr(at, words[i].word))) {
			at += length;
			if (!words[i].never ||
			    strncasecmp(at, words[i].never, strlen(words[i].never)) != 0)
				return true;
		}
	}
	return false;
}
