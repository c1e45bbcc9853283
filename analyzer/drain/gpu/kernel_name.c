/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/gpu/kernel_name.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns the demangled name, or NULL. Loads the C++ library here, as few runs need it. */
static char *demangle(const char *symbol)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};
	static char *(*function)(const char *, char *, size_t *, int *);
	static bool is_looked_for;

	for (size_t i = 0; !is_looked_for && i < sizeof(libraries) / sizeof(*libraries); i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
		void *found = library ? dlsym(library, "__cxa_demangle") : NULL;

		memcpy(&function, &found, sizeof(found));
		if (function)
			break;
	}
	is_looked_for = true;
	/* Names without _Z would be read as types: "f" as float. */
	return function && strncmp(symbol, "_Z", 2) == 0 ? function(symbol, NULL, NULL, NULL)
							 : NULL;
}

int kernel_name_take(struct writer *writer, struct kernel_name *name,
		     const struct dlprof_event *event)
{
	size_t at = (size_t)event->task * sizeof(event->mark);
	size_t part = strnlen(event->mark, sizeof(event->mark));
	char *readable;
	int r;

	if (event->task == 0)
		*name = (struct kernel_name){.id = event->stream};
	/* If parts are missing, the ring is damaged, or an earlier drain took them. */
	if (name->id != event->stream || name->parts != event->task ||
	    at + part >= sizeof(name->symbol) || name->id > INT64_MAX)
		return 0;
	memcpy(name->symbol + at, event->mark, part);
	name->symbol[at + part] = '\0';
	name->parts++;
	if (part == sizeof(event->mark))
		return 0;
	readable = demangle(name->symbol);
	r = writer_kernel(writer, (int64_t)name->id, name->symbol,
			  readable ? readable : name->symbol);
	free(readable);
	return r;
}
