/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch/iterator.h"

#include "base/clock.h"
#include "python/torch/identity.h"
#include "record/activate.h"

static struct api_name state_name = {"_dlprof_iterator", NULL};

PyObject *iterator_make(PyObject *original, PyObject *args, PyObject *kwargs, uint64_t begin_ns)
{
	struct consumer_wait wait;
	const bool is_timed = consumer_iter_begin(&wait, begin_ns);
	PyObject *made = py.PyObject_Call(original, args, kwargs);

	if (is_timed)
		consumer_iter_end(&wait);
	return made;
}

PyObject *iterator_choose(PyObject *original, PyObject *args, PyObject *kwargs)
{
	struct thread *thread = activate_on() ? thread_waiting() : NULL;
	const uint64_t begin_ns = thread ? clock_now_ns() : 0;
	const uint32_t life = thread_life;
	PyObject *result = py.PyObject_Call(original, args, kwargs);

	if (thread && thread_is_in_life(life) && thread_waiting() == thread)
		thread->parts.sample_ns += clock_now_ns() - begin_ns;
	return result;
}

struct consumer *iterator_state(PyObject *iterator)
{
	return api_memory(iterator, &state_name, sizeof(struct consumer), false);
}

void iterator_skip(PyObject *iterator, bool skips)
{
	struct consumer *consumer = api_memory(iterator, &state_name, sizeof(*consumer), skips);

	if (consumer)
		consumer->skipping = skips;
}

void iterator_start(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns)
{
	identity_number(consumer, NULL, NULL, facts);
	consumer_begin(consumer, facts, begin_ns);
}

struct consumer *iterator_epoch(PyObject *iterator, PyObject *loader,
				const struct consumer_facts *facts, uint64_t begin_ns)
{
	struct consumer *consumer = api_memory(iterator, &state_name, sizeof(*consumer), true);

	if (!consumer)
		return NULL;
	identity_number(consumer, loader, iterator, facts);
	consumer_begin(consumer, facts, begin_ns);
	consumer_place(consumer, identity_place(loader));
	return consumer;
}
