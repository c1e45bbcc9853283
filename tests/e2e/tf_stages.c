/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf_stages.c - two libraries that TensorFlow consists of, as far as its pipelines are made of
 * stages and kernels: with -DFRAMEWORK the one that has the base classes, else the one whose stages
 * call each other through them. Root asks Prefetch, which is two elements ahead of it, that asks
 * Map, whose function has the kernels ReadFile (asleep) and DecodeJpeg (busy).
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct object;

/* What both libraries know of a stage or a kernel. */
struct object {
	const char *name;
	void (*work)(struct object *object, bool *end);
};

/* std::string */
struct text {
	char *bytes;
	size_t length;
	char local[16];
};

#define GLUE(a, b, c) a##b##c
#define NAME(a, b, c) GLUE(a, b, c)
#define NEXT                                                                                       \
	NAME(_ZN10tensorflow4data19DatasetBaseIterator7GetNext,                                    \
	     EPNS0_15IteratorContextEPSt6vector, INS_6TensorESaIS5_EEPb)
#define READY                                                                                      \
	NAME(_ZN10tensorflow4data16CapturedFunction11Instantiate,                                  \
	     EPNS0_15IteratorContextEPSt10unique_ptrI,                                             \
	     NS0_28InstantiatedCapturedFunctionESt14default_deleteIS5_EE)
#define COMPUTE                                                                                    \
	_ZN10tensorflow16ThreadPoolDevice7ComputeEPNS_8OpKernelEPNS_15OpKernelContextE
#define BORN   _ZN10tensorflow8OpKernelC2EPNS_20OpKernelConstructionE
#define DEAD   _ZN10tensorflow8OpKernelD2Ev
#define CLOSED _ZN10tensorflow4data19DatasetBaseIteratorD2Ev

/* C returns a struct of this size as C++ returns an object: at an address that it is told. */
struct status {
	const void *of;
	char bytes[24];
};

struct status NEXT(struct object *stage, void *context, void *tensors, bool *end);
struct status READY(void (*make)(void), void *context, void *function);
void COMPUTE(void *device, struct object *kernel, void *context);
void BORN(struct object *kernel, const char *name);
void DEAD(struct object *kernel);
void CLOSED(struct object *stage);
long texts_kept(void);
long texts_made(void);

#ifdef FRAMEWORK
static long kept, made;

void *_Znwm(size_t size);
void *_Znwm(size_t size)
{
	kept++;
	return malloc(size);
}

void _ZdlPv(void *bytes);
void _ZdlPv(void *bytes)
{
	kept--;
	free(bytes);
}

long texts_kept(void)
{
	return kept;
}

long texts_made(void)
{
	return made;
}

static struct text text_of(const char *from)
{
	struct text text = {.length = strlen(from)};

	made++;
	text.bytes = _Znwm(text.length + 1);
	memcpy(text.bytes, from, text.length + 1);
	return text;
}

#define STAGE_NAME  _ZN10tensorflow4data19DatasetBaseIterator16BuildTraceMeNameB5cxx11Ev
#define KERNEL_NAME _ZNK10tensorflow8OpKernel11TraceStringB5cxx11ERKNS_15OpKernelContextEb
struct text STAGE_NAME(const struct object *stage);
struct text KERNEL_NAME(const struct object *kernel, const void *context, bool is_verbose);

struct text STAGE_NAME(const struct object *stage)
{
	return text_of(stage->name);
}

struct text KERNEL_NAME(const struct object *kernel, const void *context, bool is_verbose)
{
	return text_of(context && !is_verbose ? kernel->name : "");
}

struct status NEXT(struct object *stage, void *context, void *tensors, bool *end)
{
	stage->work(stage, end);
	return (struct status){.of = context && tensors ? stage : NULL};
}

struct status READY(void (*make)(void), void *context, void *function)
{
	make();
	return (struct status){.of = context == function ? context : NULL};
}

void COMPUTE(void *device, struct object *kernel, void *context)
{
	if (device && context)
		kernel->work(kernel, NULL);
}

void BORN(struct object *kernel, const char *name)
{
	kernel->name = name;
}

void DEAD(struct object *kernel)
{
	kernel->name = NULL;
}

/* As any C++ library, it gives memory back through its own import. */
void CLOSED(struct object *stage)
{
	_ZdlPv(_Znwm(1));
	stage->name = NULL;
}
#else
#define AHEAD 2

#define SELDOM_FROM 200 /* when short calls are no longer timed one by one */

static struct object places[6]; /* at the same addresses each time, and never of the same */
static struct object seldom[100]; /* each is called once, in another element */
static char seldom_names[100][32];
static struct object *root, *prefetch, *map, *reading, *decoding, *training;
static long made_count, left_count, ahead_count, answers_wrong;
static long read_us, decode_us, asleep_us, seldom_every, decoded;

static uint64_t ns_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void sleep_us(long us)
{
	struct timespec nap = {.tv_nsec = us * 1000};

	if (us)
		nanosleep(&nap, NULL);
}

static void do_read(struct object *kernel, bool *end)
{
	(void)kernel, (void)end;
	sleep_us(read_us);
}

static void do_decode(struct object *kernel, bool *end)
{
	/* The clock of CPU time is too slow for calls of few microseconds. */
	const clockid_t clock = decode_us < 100 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
	const uint64_t until = ns_of(clock) + (uint64_t)decode_us * 1000;

	(void)kernel, (void)end;
	if (asleep_us && decoded++ % 2)
		sleep_us(asleep_us);
	else
		while (decode_us && ns_of(clock) < until)
			;
}

static void do_train(struct object *kernel, bool *end)
{
	(void)kernel, (void)end;
}

static bool next_of(struct object *stage)
{
	bool end = true;

	answers_wrong += NEXT(stage, &end, &end, &end).of != stage;
	return !end;
}

static void do_map(struct object *stage, bool *end)
{
	static long elements;
	int device;

	(void)stage;
	*end = left_count-- <= 0;
	if (*end)
		return;
	elements++;
	if (seldom_every && elements > SELDOM_FROM && elements % seldom_every == 0 &&
	    (elements - SELDOM_FROM) / seldom_every <= 100)
		COMPUTE(&device, &seldom[(elements - SELDOM_FROM) / seldom_every - 1], &device);
	COMPUTE(&device, reading, &device);
	COMPUTE(&device, decoding, &device);
}

static void do_prefetch(struct object *stage, bool *end)
{
	(void)stage;
	while (ahead_count <= AHEAD && next_of(map))
		ahead_count++;
	*end = ahead_count == 0;
	ahead_count -= !*end;
}

static void do_root(struct object *stage, bool *end)
{
	(void)stage;
	*end = !next_of(prefetch);
}

static void make_kernels(void)
{
	BORN(reading, "some/node:ReadFile");
	BORN(decoding, "map/DecodeJpeg:DecodeJpeg#id=7#");
	for (int i = 0; seldom_every && i < 100; i++) {
		snprintf(seldom_names[i], sizeof(seldom_names[i]), "node:Seldom%d", i);
		seldom[i].work = do_train;
		BORN(&seldom[i], seldom_names[i]);
	}
}

static void place(struct object **ret, int number, void (*work)(struct object *, bool *))
{
	*ret = &places[(number + made_count) % 6];
	(*ret)->work = work;
}

/*
 * Every other call of DecodeJpeg sleeps for `us` instead. If `every` is not 0, Map calls 100 more
 * kernels, a new one every so many elements.
 */
void pipeline_vary(long us, long every);
void pipeline_vary(long us, long every)
{
	asleep_us = us;
	seldom_every = every;
}

void pipeline_make(long elements, long us_to_read, long us_to_decode);
void pipeline_make(long elements, long us_to_read, long us_to_decode)
{
	int unused;

	place(&root, 0, do_root);
	place(&prefetch, 1, do_prefetch);
	place(&map, 2, do_map);
	place(&reading, 3, do_read);
	place(&decoding, 4, do_decode);
	place(&training, 5, do_train);
	made_count++;
	left_count = elements;
	ahead_count = 0;
	read_us = us_to_read;
	decode_us = us_to_decode;
	root->name = "Iterator::Root#name=Prefetch:1,threadpool_size=3,warm_start=false#";
	prefetch->name = "Iterator::Root::Prefetch#name=Prefetch:1,buffer_limit=2,autotune=false#";
	map->name = "Iterator::Root::Prefetch::ParallelMapV2#autotune=true,parallelism=8#";
	answers_wrong += READY(make_kernels, &unused, &unused).of != &unused;
	BORN(training, "MatMul:MatMul");
}

/* The next element for the training, which then computes. False: there are no more. */
int pipeline_next(void);
int pipeline_next(void)
{
	int device, found = next_of(root);

	COMPUTE(&device, training, &device);
	return found;
}

void pipeline_drop(void);
void pipeline_drop(void)
{
	CLOSED(map);
	CLOSED(prefetch);
	CLOSED(root);
	DEAD(reading);
	DEAD(decoding);
	DEAD(training);
}

long pipeline_wrong(void);
long pipeline_wrong(void)
{
	return answers_wrong;
}

long pipeline_texts(void);
long pipeline_texts(void)
{
	return texts_kept();
}

#ifdef PROGRAM
#include <dlprof.h>

/* Two epochs, with dlprof's marks. Prints elements, wrong answers, texts kept and texts made. */
int main(void)
{
	long elements = 0;

	for (int epoch = 0; epoch < 2; epoch++) {
		int found;

		pipeline_make(40, 100, 100);
		do {
			dlprof_batch_begin();
			found = pipeline_next();
			dlprof_batch_end(found ? DLPROF_NEXT : DLPROF_END);
			elements += found;
		} while (found);
		pipeline_drop();
	}
	printf("%ld %ld %ld %ld\n", elements, answers_wrong, texts_kept(), texts_made());
	return 0;
}
#endif
#endif
