/* SPDX-License-Identifier: Apache-2.0 */
#include "python/sample/boundary.h"

#include <string.h>

#include "batch/scope.h"
#include "decode/image.h"
#include "dlprof/units.h"
#include "python/interpreter/patch.h"
#include "python/interpreter/wrapper.h"
#include "record/activate.h"
#include "record/span.h"
#include "record/tally.h"

struct decoded {
	char format[24];
	uint32_t width, height;
	uint64_t bytes;		/* bytes of input; 0: unknown */
};

static OFTEN void set_format(struct decoded *image, const char *format)
{
	size_t length;

	if (!format)
		return;
	format = image_spelling(format);
	length = strnlen(format, sizeof(image->format) - 1);
	memcpy(image->format, format, length);
	image->format[length] = '\0';
}

static OFTEN uint32_t item_of(PyObject *tuple, ssize_t at)
{
	PyObject *item = py.PyTuple_GetItem(tuple, at);
	int64_t number = item ? api_number(item, 0) : 0;

	py.PyErr_Clear();
	return number > 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

static void measure_shape(PyObject *array, ssize_t height_axis, ssize_t width_axis,
			  struct decoded *image)
{
	OWNED PyObject *shape = api_get_named(array, "shape");

	if (!shape)
		return;
	image->height = item_of(shape, height_axis);
	image->width = item_of(shape, width_axis);
}

/* The result's shape is (height, width, ...). */
static void measure_rows(PyObject *args, PyObject *result, struct decoded *image)
{
	measure_shape(result, 0, 1, image);
}

/* The result's shape is (..., height, width); the input is a tensor of bytes. */
static void measure_planes(PyObject *args, PyObject *result, struct decoded *image)
{
	OWNED PyObject *shape = api_get_named(result, "shape");
	PyObject *first = api_first(args);
	ssize_t axes = shape ? py.PyTuple_Size(shape) : -1;
	ssize_t size = first ? py.PyObject_Size(first) : -1;

	py.PyErr_Clear();
	if (axes >= 2)
		measure_shape(result, axes - 2, axes - 1, image);
	if (size > 0)
		image->bytes = (uint64_t)size;
}

static uint8_t byte_of(PyObject *buffer, ssize_t at)
{
	OWNED PyObject *item = py.PySequence_GetItem(buffer, at);
	int64_t byte = item ? api_number(item, 0) : 0;

	py.PyErr_Clear();
	return (uint8_t)byte;
}

/* The argument is an array or bytes object with the content of a file. */
static void measure_buffer(PyObject *args, PyObject *result, struct decoded *image)
{
	PyObject *buffer = api_first(args);
	ssize_t size = buffer ? py.PyObject_Size(buffer) : -1;
	uint8_t begin[16];

	py.PyErr_Clear();
	measure_rows(args, result, image);
	if (size < (ssize_t)sizeof(begin))
		return;
	image->bytes = (uint64_t)size;
	for (size_t i = 0; i < sizeof(begin); i++)
		begin[i] = byte_of(buffer, (ssize_t)i);
	set_format(image, image_sniff(begin, sizeof(begin)).format);
}

static void measure_path(PyObject *args, PyObject *result, struct decoded *image)
{
	PyObject *first = api_first(args);
	const char *path = first && api_is_string(first) ? py.PyUnicode_AsUTF8(first) : NULL;

	py.PyErr_Clear();
	measure_rows(args, result, image);
	set_format(image, image_of_path(path));
}

static OFTEN void measure_pillow(PyObject *args, PyObject *result, struct decoded *image)
{
	static struct api_name own_size = {"_size", NULL}, size_name = {"size", NULL},
			       format_name = {"format", NULL};
	OWNED PyObject *size = NULL, *format = NULL;
	PyObject *self = api_first(args);

	if (!self)
		return;
	/* `size` is a property, that is Python code, in which a signal handler may raise. */
	size = api_get_again(self, &own_size);
	if (!size)
		size = api_get_again(self, &size_name);
	format = api_get_again(self, &format_name);
	if (size) {
		image->width = item_of(size, 0);
		image->height = item_of(size, 1);
	}
	if (format && api_is_string(format))
		set_format(image, py.PyUnicode_AsUTF8(format));
	py.PyErr_Clear();
}

/* Does nothing, since an archive is no image. */
static void measure_archive(PyObject *args, PyObject *result, struct decoded *image)
{
}

/* For classes whose load() calls ImageFile.load(), which counts the image. */
static void measure_around(PyObject *args, PyObject *result, struct decoded *image)
{
	measure_pillow(args, result, image);
}

/* Returns false if nothing is left to decode: each operation on an image calls load(). */
static OFTEN bool has_work(void (*measure)(PyObject *, PyObject *, struct decoded *),
			   PyObject *args)
{
	static struct api_name tile = {"tile", NULL};
	PyObject *self;

	if (measure != measure_pillow)
		return true;
	self = api_first(args);
	return self && api_flag(api_get_again(self, &tile), true);
}

struct boundary {
	const char *module, *class, *library, *format;
	void (*measure)(PyObject *args, PyObject *result, struct decoded *image);
	PyMethodDef method;
};

static OFTEN struct dlprof_tally *tally_around(struct thread *thread,
					       struct thread_decoder *decoded, const char *library)
{
	if (unlikely(decoded->around_library != library)) {
		decoded->around = tally_named(thread, DLPROF_TALLY_DECODE, library,
					      decoded->format, decoded->class);
		decoded->around_library = decoded->around ? library : NULL;
	}
	return decoded->around;
}

/* Times the call. Counts the image, unless a wrapped decoder inside has counted it. */
static OFTEN PyObject *on_decode(PyObject *original, PyObject *args, PyObject *kwargs,
				 const PyMethodDef *method)
{
	const struct boundary *boundary = WRAPPER_ROW(method, struct boundary, method);
	struct span span = {.fd = -1, .name = method->ml_name};
	struct decoded image = {0};
	struct thread_decoder *decoded = NULL;
	const struct dlprof_counter *counter;
	struct thread *thread;
	PyObject *result;
	uintptr_t around;
	uint32_t life;

	if (likely(!activate_on()) || !has_work(boundary->measure, args) ||
	    !span_begin(&span, DLPROF_CLASS_DECODE))
		return py.PyObject_Call(original, args, kwargs);
	life = thread_life;
	thread = span.thread;
	counter = &thread->slot->counters[DLPROF_CLASS_DECODE];
	around = thread->boundary_address;
	if (!around) {
		thread->boundary_count = counter->count;
		thread->decoded = NULL;
		thread->boundary_inflates = boundary->measure == measure_archive;
	}
	thread->boundary_address = (uintptr_t)&span;
	set_format(&image, boundary->format);
	result = py.PyObject_Call(original, args, kwargs);
	if (!thread_is_in_life(life))
		return result;
	thread->boundary_address = around;
	span.uncounted = !result || counter->count != thread->boundary_count ||
			 boundary->measure == measure_around;
	if (result && boundary->measure && boundary->measure != measure_archive) {
		/* Most images were measured by a decoder inside. */
		decoded = counter->count != thread->boundary_count ? thread->decoded : NULL;
		if (!decoded)
			boundary->measure(args, result, &image);
	}
	if (decoded)
		span.tally = tally_around(thread, decoded, boundary->library);
	else
		span.tally = tally_named(thread, DLPROF_TALLY_DECODE, boundary->library,
					 image.format,
					 image.width ? tally_width_class(image.width) : 0);
	if (span.tally && !span.uncounted)
		span.tally->pixels += (uint64_t)image.width * image.height;
	span_end(&span, span.uncounted ? 0 : image.bytes, !result);
	return result;
}

static struct boundary boundaries[] = {
#define BOUNDARY(id, module, implied, class, function, library, format, measure)                   \
	{module, class, library, format, measure, WRAPPER_METHOD(function, on_decode)},
#include "python/sample/boundary.def"
};

void boundary_patch(PyObject *module, size_t row)
{
	struct boundary *boundary = &boundaries[row];
	OWNED PyObject *class = boundary->class ? api_get_named(module, boundary->class) : NULL;
	PyObject *owner = boundary->class ? class : module;

	if (!owner || !patch_method(owner, &boundary->method))
		return;
	patch_note(boundary->module, boundary->method.ml_name, true);
	/* Code that did `from cv2 import imread` may call the original of a patched function. */
	if (boundary->class)
		scope_decoders_reached();
}
