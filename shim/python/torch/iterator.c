/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch/iterator.h"

#include "python/torch/identity.h"

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
