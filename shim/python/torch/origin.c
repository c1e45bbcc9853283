/* SPDX-License-Identifier: Apache-2.0 */
#include "python/torch/origin.h"

#include <stdbool.h>
#include <string.h>

#include "dlprof/hash.h"
#include "python/interpreter/api.h"

#define NEAREST_MAX 3  /* so many frames are hashed, those nearest to torch's code */
#define DEEPEST_MAX 64 /* so many frames are searched for the program's own code */

/* Parts of paths of installed code, which is not the program's own. */
static const char *const installed[] = {"/site-packages/", "/dist-packages/", "/lib/python3",
					"/lib64/python3", "<frozen ", NULL};
static const char *const loaders[] = {"/torch/utils/data/", "/torchdata/", NULL};

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
static void describe(struct text *text, const char *path, const char *name, int64_t line)
{
	const char *slash = strrchr(path, '/');

	text->length = 0;
	text_add(text, slash ? slash + 1 : path);
	text_add(text, ":");
	text_add_number(text, line);
	if (strcmp(name, "<module>") != 0) {
		text_add(text, " in ");
		text_add(text, name);
	}
}

struct walk {
	uint64_t hash;
	int nearest;	/* number of frames so far that are not the loaders' own */
	bool found;	/* a frame of the program's own code was found */
	struct text *text;
};

static bool take_frame(struct walk *walk, PyObject *frame)
{
	OWNED PyObject *code = api_get_named(frame, "f_code");
	OWNED PyObject *path = code ? api_get_named(code, "co_filename") : NULL;
	OWNED PyObject *name = code ? api_get_named(code, "co_name") : NULL;
	const int64_t line = api_get_number(frame, "f_lineno", 0);
	const char *path_text = text_of(path), *name_text = text_of(name);

	if (walk->nearest || !has_part(path_text, loaders)) {
		const bool is_own = !walk->found && !has_part(path_text, installed);

		if (walk->nearest < NEAREST_MAX || is_own) {
			walk->hash = hash_bytes(walk->hash, path_text, strlen(path_text));
			walk->hash = hash_bytes(walk->hash, name_text, strlen(name_text));
			walk->hash = hash_bytes(walk->hash, &line, sizeof(line));
		}
		if (is_own || !walk->nearest)
			describe(walk->text, path_text, name_text, line);
		walk->found |= is_own;
		walk->nearest++;
	}
	return !walk->found || walk->nearest < NEAREST_MAX;
}

uint64_t origin_find(struct text *text)
{
	struct walk walk = {.hash = HASH_BEGIN, .text = text};
	PyObject *frame = py.PyEval_GetFrame();

	if (frame)
		py.Py_IncRef(frame);
	for (int i = 0; frame; i++) {
		OWNED PyObject *inner = frame;

		frame = frame != py.none && i < DEEPEST_MAX && take_frame(&walk, frame)
				? api_get_named(frame, "f_back")
				: NULL;
	}
	return walk.nearest ? walk.hash : 0;
}
