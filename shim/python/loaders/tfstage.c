/* SPDX-License-Identifier: Apache-2.0 */
#include "python/loaders/tfstage.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "dlprof/event.h"
#include "record/activate.h"
#include "slots/import.h"

/* libstdc++'s std::string since GCC 5. */
struct tf_string {
	char *bytes;
	size_t length;
	char local[16];
};

/* TensorFlow's function that returns a kernel's name. */
static void *_Atomic kernel_name;

/* Returns false if the string cannot be freed, and so leaks. */
static bool drop(struct tf_string *string, const void *within)
{
	static void *_Atomic known_within, *_Atomic known;
	void (*delete)(void *);

	if (string->bytes == string->local)
		return true;
	if (known_within != within) {
		known = import_of(within, "_ZdlPv");
		known_within = (void *)(uintptr_t)within;
	}
	delete = (void (*)(void *))known;
	if (delete)
		delete(string->bytes);
	return delete;
}

/* Returns the number in "#...,parallelism=2,...#", or -1 if there is none. */
static int32_t number_in(const char *facts, const char *key)
{
	const size_t length = strlen(key);
	int64_t number = 0;

	for (const char *at = facts; *at; at++) {
		if ((*at != ',' && *at != '#') || strncmp(at + 1, key, length) != 0)
			continue;
		at += 1 + length;
		if (!text_is_digit(*at))
			return -1;
		for (; text_is_digit(*at) && number < INT32_MAX / 10; at++)
			number = number * 10 + (*at - '0');
		return (int32_t)number;
	}
	return -1;
}

static int32_t first_of(int32_t one, int32_t other)
{
	return one >= 0 ? one : other;
}

static struct stage_facts facts_of(const char *facts)
{
	return (struct stage_facts){
		.flags = strstr(facts, ",autotune=true") || strstr(facts, "#autotune=true")
				 ? DLPROF_STAGE_AUTOTUNED
				 : 0,
		.parallel = number_in(facts, "parallelism="),
		.capacity = first_of(first_of(number_in(facts, "buffer_limit="),
					      number_in(facts, "buffer_size=")),
				     number_in(facts, "cycle_length=")),
		.threads = number_in(facts, "threadpool_size="),
	};
}

/*
 * Returns true if a stage, such as Interleave, has inputs that all do the same, and so count as one
 * stage. The inputs of Zip, for example, differ.
 */
static bool is_alike(const char *name)
{
	static const char *const stages[] = {"Interleave", "FlatMap", "Parallel", "Sample",
					     "Repeat"};

	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		const char *found = strstr(name, stages[i]);
		const char *colon = strstr(name, "::");

		if (found && (!colon || found < colon))
			return true;
	}
	return false;
}

/* Adds "Root::Interleave::Zip" for "Iterator::Root::Interleave[2]::Zip#facts#". */
static void add_path(struct text *path, const char *name)
{
	static const char first[] = "Iterator::";
	bool alike;

	if (strncmp(name, first, sizeof(first) - 1) == 0)
		name += sizeof(first) - 1;
	alike = is_alike(name);
	for (; *name && *name != '#'; name++) {
		if (name[0] == ':' && name[1] == ':')
			alike = is_alike(name + 2);
		if (alike && *name == '[') {
			while (*name && *name != ']')
				name++;
			continue;
		}
		text_add_bytes(path, name, 1);
	}
}

static void take(struct tf_string *string, const void *within, struct text *text)
{
	if (string->length < 1 << 20)
		text_add_bytes(text, string->bytes, string->length);
	drop(string, within);
}

static bool can_drop(const void *within)
{
	return import_of(within, "_ZdlPv");
}

static uint16_t name_iterator(const struct wrap_target *target, const struct wrap_copy *copy,
			      const void *iterator)
{
	struct tf_string (*build)(const void *) =
		(struct tf_string(*)(const void *))copy->helpers[0];
	struct tf_string string;
	struct stage_facts facts;
	const char *name;
	uint16_t number;
	TEXT(line, 1024);
	TEXT(path, STAGE_PATH + 1);

	if (!build || !can_drop(target->real))
		return STAGE_NONE;
	string = build(iterator);
	take(&string, target->real, &line);
	name = strchr(line.buffer, '#');
	facts = facts_of(name ? name : "");
	add_path(&path, line.buffer);
	if (!strstr(path.buffer, "::"))
		facts.flags |= DLPROF_STAGE_ROOT;
	number = stage_number(path.buffer, &facts, STAGE_NONE);
	stage_put(iterator, number);
	if (number)
		stage_empty(number);
	return number;
}

RARELY bool tfstage_first(struct stage_call *call, const struct wrap_target *target,
			  const struct wrap_copy *copy, const void *iterator)
{
	const uint16_t number = name_iterator(target, copy, iterator);

	if (number)
		stage_begin_first(call, number);
	return number;
}

/* `name` is "node:Op" or "node:Op#facts#". */
static uint16_t name_kernel(const struct wrap_target *target, const void *kernel,
			    const void *context)
{
	static const struct stage_facts facts = {DLPROF_STAGE_KERNEL, -1, -1, -1};
	struct tf_string (*trace)(const void *, const void *, bool) =
		(struct tf_string(*)(const void *, const void *, bool))kernel_name;
	struct tf_string string;
	uint16_t number;
	char *name;
	TEXT(line, STAGE_PATH);

	if (!trace || !can_drop(target->real))
		return STAGE_NONE;
	string = trace(kernel, context, false);
	take(&string, target->real, &line);
	line.buffer[strcspn(line.buffer, "#")] = '\0';
	name = strrchr(line.buffer, ':');
	number = stage_number(name ? name + 1 : line.buffer, &facts, stage_current());
	stage_put(kernel, number);
	return number;
}

RARELY bool tfstage_first_compute(struct stage_call *call, const struct wrap_target *target,
				  const void *kernel, const void *context)
{
	const uint16_t number = name_kernel(target, kernel, context);

	if (number)
		stage_begin_first(call, number);
	return number;
}

bool tfstage_instantiate(struct stage_call *call)
{
	if (!activate_on())
		return false;
	stage_begin_first(call, STAGE_NONE);
	return true;
}

void tfstage_born(const struct wrap_copy *copy, const void *kernel)
{
	if (!stage_is_inside())
		return;
	if (copy->helpers[1])
		kernel_name = copy->helpers[1];
	stage_put(kernel, STAGE_UNNAMED);
}
