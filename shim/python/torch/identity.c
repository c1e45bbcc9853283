/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch/identity.h"

#include <string.h>

#include "base/note.h"
#include "base/sys.h"
#include "base/text.h"
#include "dlprof/hash.h"
#include "record/thread.h"

#define NEAREST_MAX 3  /* this many frames are hashed, those nearest to torch's code */
#define DEEPEST_MAX 64 /* this many frames are searched for the program's own code */

/* Parts of paths of installed code, which is not the program's own. */
static const char *const installed[] = {"/site-packages/", "/dist-packages/", "/lib/python3",
					"/lib64/python3", "<frozen ", NULL};
static const char *const loader_paths[] = {"/torch/utils/data/", "/torchdata/", NULL};
static const char *const tensorflow_paths[] = {"/tensorflow/python/", NULL};
static const char *const keras_paths[] = {"/keras/src/", "/tf_keras/src/", "/keras/engine/", NULL};
/* methods of Keras by which a program has a dataset iterated */
static const char *const keras_asks[] = {"fit", "evaluate", "predict", NULL};

static bool has_part(const char *path, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(path, *parts))
			return true;
	return false;
}

static const char *text_of(PyObject *string)
{
	const char *text = string && api_is_string(string) ? py.PyUnicode_AsUTF8(string) : NULL;

	py.PyErr_Clear();
	return text ? text : "?";
}

/* Writes "FILE:LINE in FUNCTION", or "FILE:LINE" for code outside of functions. */
static void describe_place(struct text *text, const char *path, const char *name, int64_t line)
{
	const char *slash = strrchr(path, '/');

	text->length = 0;
	text_format(text, "%s:%ld", slash ? slash + 1 : path, line);
	if (strcmp(name, "<module>") != 0)
		text_format(text, " in %s", name);
}

struct walk {
	uint64_t hash;	/* of the place and of the calls nearest to the library; 0: unknown */
	int nearest;	/* number of frames so far that are not the loaders' own */
	bool found;	/* a frame of the program's own code was found */
	bool is_dataset; /* a dataset of TensorFlow's is iterated; else a loader is made */
	bool by_keras;
	struct text *text;
};

/* Returns true for a frame of the library that makes the loader, or iterates the dataset. */
static bool pass_over(struct walk *walk, const char *path, const char *name)
{
	if (!walk->is_dataset)
		return !walk->nearest && has_part(path, loader_paths);
	if (!has_part(path, keras_paths))
		return has_part(path, tensorflow_paths);
	/* Two calls of fit() may ask for batches from different lines: only the name is hashed. */
	if (has_part(name, keras_asks)) {
		walk->hash = hash_bytes(walk->hash, name, strlen(name));
		walk->by_keras = true;
	}
	return true;
}

static bool take_frame(struct walk *walk, PyObject *frame)
{
	OWNED PyObject *code = api_get_named(frame, "f_code");
	OWNED PyObject *path = code ? api_get_named(code, "co_filename") : NULL;
	OWNED PyObject *name = code ? api_get_named(code, "co_name") : NULL;
	const int64_t line = api_get_number(frame, "f_lineno", 0);
	const char *path_text = text_of(path), *name_text = text_of(name);

	if (!pass_over(walk, path_text, name_text)) {
		const bool is_own = !walk->found && !has_part(path_text, installed);

		if (walk->nearest < NEAREST_MAX || is_own) {
			walk->hash = hash_bytes(walk->hash, path_text, strlen(path_text));
			walk->hash = hash_bytes(walk->hash, name_text, strlen(name_text));
			walk->hash = hash_bytes(walk->hash, &line, sizeof(line));
		}
		if (is_own || !walk->nearest)
			describe_place(walk->text, path_text, name_text, line);
		walk->found |= is_own;
		walk->nearest++;
	}
	return !walk->found || walk->nearest < NEAREST_MAX;
}

/*
 * Walks from the frame that runs to the program's own code, and writes its place, as
 * "train.py:41 in main". Needs the GIL.
 */
static struct walk walk_frames(struct text *text, bool is_dataset)
{
	struct walk walk = {.hash = HASH_BEGIN, .is_dataset = is_dataset, .text = text};
	PyObject *frame = py.PyEval_GetFrame();

	if (frame)
		py.Py_IncRef(frame);
	for (int i = 0; frame; i++) {
		OWNED PyObject *inner = frame;

		frame = frame != py.none && i < DEEPEST_MAX && take_frame(&walk, frame)
				? api_get_named(frame, "f_back")
				: NULL;
	}
	if (!walk.nearest)
		walk.hash = 0;
	return walk;
}

#define ITERATED_MAX 64 /* this many datasets that the program iterates are told apart */
#define LOADER_MAX 256 /* this many loaders are told apart; a note names this number */

/* Kept in a loader object. A copy of the object is another loader. */
struct mark {
	uint32_t number;
	uint32_t pid;
	const void *object;
	uint64_t made;   /* `moments` when the loader was made or, if unseen, was first asked */
	uint64_t origin; /* hash of the place where the loader was made; 0: not observed */
	char place[DLPROF_MARK_BYTES];
};

struct settings {
	int64_t batch_size;
	int32_t workers;
	int32_t prefetch_factor;
	uint64_t flags;
};

struct identity {
	uint64_t origin;
	const void *dataset; /* NULL if `origin` is known */
	const void *classes[CONSUMER_PART_MAX];
	struct settings settings;
	uint64_t is_loader; /* 1: `dataset` is not a dataset, but the loader itself */
};

/* The loaders of this process. Entry N is loader N, from 1. */
static struct known {
	struct identity identity;
	int64_t length;
	PyObject *object, *iterator, *dataset; /* weak references to the newest ones, or NULL */
	const void *dataset_at;
	/* set by look_who_lives(); sought: this is the loader that is asked now */
	bool alive, sought, same_dataset;
	uint64_t asked;              /* in `moments` */
	uint32_t epochs;
	uint32_t running;
} loaders[LOADER_MAX + 1];
static uint32_t loader_count;
static uint32_t loader_pid;
static uint64_t moments;

/* guards `loaders` against threads that do not hold the GIL */
static _Atomic uint32_t loaders_busy;

static struct api_name mark_name = {"_dlprof_loader", NULL};

static struct mark *mark_of(PyObject *loader, bool make)
{
	return loader ? api_memory(loader, &mark_name, sizeof(struct mark), make) : NULL;
}

void identity_made(PyObject *loader)
{
	struct mark *mark = mark_of(loader, true);
	TEXT(place, sizeof(mark->place));

	if (!mark || mark->object)
		return;
	mark->object = loader;
	mark->made = ++moments;
	mark->origin = walk_frames(&place, false).hash;
	memcpy(mark->place, place.buffer, place.length + 1);
}

static bool is_numbered(const struct mark *mark, const void *object)
{
	return mark && mark->number && mark->pid == (uint32_t)sys_getpid() &&
	       mark->object == object;
}

bool identity_is_known(PyObject *loader)
{
	return is_numbered(mark_of(loader, false), loader);
}

/* Returns the object as a borrowed reference, or NULL if it is gone. */
static const PyObject *referred(PyObject *reference)
{
	OWNED PyObject *object = reference ? py.PyObject_CallObject(reference, NULL) : NULL;

	py.PyErr_Clear();
	return object == py.none ? NULL : object;
}

/* Notes which loaders still exist. A loader whose iterator is gone counts as no longer running. */
static void look_who_lives(const PyObject *sought, const void *dataset)
{
	for (uint32_t i = 1; i <= loader_count; i++) {
		struct known *known = &loaders[i];
		const PyObject *object = referred(known->object);

		known->alive = object;
		known->sought = object && object == sought;
		/* A living loader keeps its dataset alive, so comparing the address is enough. */
		known->same_dataset = known->dataset_at == dataset &&
				      (object || (dataset && referred(known->dataset) == dataset));
		if (known->iterator && !referred(known->iterator))
			known->running = 0;
	}
}

static void refer(PyObject **reference, PyObject *object)
{
	OWNED PyObject *before = *reference;

	*reference = object ? py.PyWeakref_NewRef(object, NULL) : NULL;
	py.PyErr_Clear();
}

/* Datasets that the program iterated, without a loader object around them. */
static struct iterated {
	const void *dataset;
	PyObject *reference; /* weak reference to the dataset */
	uint64_t origin;     /* hash of the place where the program iterated it first */
} iterated[ITERATED_MAX];

/* Gives the loader of a dataset that the program no longer iterates another address. */
static void rename_dataset(const void *before, const void *now)
{
	thread_lock(&loaders_busy);
	for (uint32_t i = 1; i <= loader_count; i++)
		if (!loaders[i].identity.origin && loaders[i].identity.dataset == before) {
			loaders[i].identity.dataset = now;
			loaders[i].running = 0;
		}
	thread_unlock(&loaders_busy);
}

/*
 * Returns an entry to use again: one whose dataset is gone, if possible one iterated at this place.
 * Keras's fit() keeps datasets alive by reference cycles, so its last one counts as gone.
 */
static struct iterated *find_before(const void *dataset, const struct walk *walk)
{
	struct iterated *same = NULL, *other = NULL;

	for (struct iterated *one = iterated; one < iterated + ITERATED_MAX; one++) {
		const bool is_gone = !referred(one->reference);

		if (one->dataset && walk->hash && one->origin == walk->hash &&
		    (is_gone || walk->by_keras)) {
			same = one;
			continue;
		}
		if (!is_gone)
			continue;
		/* The new dataset has the address of one that was iterated elsewhere. No dataset
		 * has the address of this entry. */
		if (one->dataset == dataset) {
			rename_dataset(dataset, one);
			one->dataset = one;
		}
		if (!other || !one->dataset)
			other = one;
	}
	return same ? same : other;
}

void identity_iterated(PyObject *dataset)
{
	struct iterated *one;
	struct walk walk;
	TEXT(place, DLPROF_MARK_BYTES);

	for (int i = 0; i < ITERATED_MAX; i++)
		if (iterated[i].dataset == dataset && referred(iterated[i].reference) == dataset)
			return;
	walk = walk_frames(&place, true);
	one = find_before(dataset, &walk);
	if (!one)
		return;
	if (one->dataset)
		rename_dataset(one->dataset,
			       walk.hash && one->origin == walk.hash ? dataset : NULL);
	one->dataset = dataset;
	one->origin = walk.hash;
	refer(&one->reference, dataset);
}

static struct identity describe(const struct consumer_facts *facts, const struct mark *mark)
{
	struct identity identity;

	memset(&identity, 0, sizeof(identity)); /* padding is compared, too */
	identity.origin = mark ? mark->origin : 0;
	identity.dataset = identity.origin ? NULL : facts->dataset;
	memcpy(identity.classes, facts->classes, sizeof(facts->classes));
	identity.settings = (struct settings){facts->batch_size, facts->workers,
					      facts->prefetch_factor, facts->flags};
	identity.is_loader = facts->is_loader;
	return identity;
}

static bool goes_on(const struct known *known, const struct mark *mark, int64_t length)
{
	if (known->sought) /* a copy of a loader has its original's mark */
		return true;
	if (known->identity.is_loader)
		return true;
	if (known->running)
		return false;
	if (!known->identity.origin)
		return known->identity.dataset;
	if (known->alive && !(mark->made > known->asked && known->same_dataset))
		return false;
	/* A dataset may grow, so another length says nothing if the dataset is the same. */
	return known->length == length || known->same_dataset;
}

static uint32_t find(const struct identity *identity, const struct mark *mark, int64_t length)
{
	for (uint32_t i = 1; i <= loader_count; i++)
		if (memcmp(&loaders[i].identity, identity, sizeof(*identity)) == 0 &&
		    goes_on(&loaders[i], mark, length))
			return i;
	if (loader_count == LOADER_MAX)
		return LOADER_MAX;
	loaders[++loader_count].identity = *identity;
	return loader_count;
}

/* In a forked child, forgets all loaders, which are its parent's. */
static void look_where(void)
{
	const uint32_t pid = (uint32_t)sys_getpid();

	if (loader_pid == pid)
		return;
	memset(loaders, 0, sizeof(loaders));
	loader_count = 0;
	loader_pid = pid;
}

static bool is_same(const struct mark *mark, const void *object, const struct identity *identity)
{
	return is_numbered(mark, object) &&
	       (mark->number == LOADER_MAX ||
		memcmp(&loaders[mark->number].identity.settings, &identity->settings,
		       sizeof(identity->settings)) == 0);
}

void identity_number(struct consumer *consumer, PyObject *loader, PyObject *iterator,
		     const struct consumer_facts *facts)
{
	struct mark *mark = mark_of(loader, true);
	const struct identity identity = describe(facts, mark);
	struct known *known;
	bool is_first;

	thread_lock(&loaders_busy);
	look_where();
	thread_unlock(&loaders_busy);
	is_first = !is_same(mark, loader, &identity);
	if (loader && is_first)
		look_who_lives(loader, facts->dataset);
	thread_lock(&loaders_busy);
	consumer->loader = is_first ? find(&identity, mark, facts->length) : mark->number;
	known = &loaders[consumer->loader];
	consumer->epoch = known->epochs++;
	known->running++;
	if (is_first) {
		known->asked = ++moments;
		known->length = facts->length;
		known->dataset_at = facts->dataset;
	}
	thread_unlock(&loaders_busy);
	if (unlikely(loader_count == LOADER_MAX))
		note_once('w', "the program made 256 loaders or more: from the 256th on they are "
			       "recorded as one");
	if (mark) {
		mark->number = consumer->loader;
		mark->pid = loader_pid;
		mark->object = loader;
	}
	if (loader && is_first) {
		refer(&known->object, loader);
		refer(&known->dataset, (PyObject *)facts->dataset);
	}
	if (iterator)
		refer(&known->iterator, iterator);
}

const char *identity_made_at(PyObject *loader)
{
	const struct mark *mark = mark_of(loader, false);

	return mark && mark->origin ? mark->place : NULL;
}

const char *identity_place(PyObject *loader)
{
	const struct mark *mark = mark_of(loader, false);

	return is_numbered(mark, loader) && mark->origin && loaders[mark->number].epochs == 1
		       ? mark->place
		       : NULL;
}

void identity_epoch_ended(const struct consumer *consumer)
{
	thread_lock(&loaders_busy);
	if (consumer->loader <= LOADER_MAX && loader_pid == (uint32_t)sys_getpid() &&
	    loaders[consumer->loader].running)
		loaders[consumer->loader].running--;
	thread_unlock(&loaders_busy);
}
