/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/table.h"

#include "base/note.h"
#include "base/sys.h"
#include "batch/scope.h"

const struct decode_library table_libraries[DECODE_LIBRARY_MAX] = {
#define DECODER(id, name, format, sort, mark, first, second) {name, format, DECODE_SORT_##sort},
#include "decode/libraries.def"
#undef DECODER
};

const struct wrap_library table_marks[DECODE_LIBRARY_MAX] = {
#define DECODER(id, name, format, sort, mark, first, second) {mark, {first, second}},
#include "decode/libraries.def"
#undef DECODER
};

void table_reached(int library)
{
	static uint64_t noted;
	const struct decode_library *reached = &table_libraries[library];

	if (reached->sort == DECODE_SORT_IMAGE || reached->sort == DECODE_SORT_STREAM)
		scope_decoders_reached();
	if (noted & UINT64_C(1) << library)
		return;
	noted |= UINT64_C(1) << library;
	note_add('d', reached->name);
}
