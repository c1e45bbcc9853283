/* SPDX-License-Identifier: Apache-2.0 */
/* stdio.c - wrappers of stdio that need more than a row. */
#include "hooks/hook.h"

#include <stdarg.h>

HOOK_EXPORT void rewind(FILE *file)
{
	struct span span;

	if (likely(!activate_on()) || !hook_read_begin(&span, FILE_FD(file))) {
		real.rewind(file);
		return;
	}
	span.name = "rewind";
	span.hook = HOOK_ID_rewind;
	real.rewind(file);
	span_end(&span, 0, false);
}

#define DEFINE_SCAN(hook_name, list_name)                                                          \
	int hook_name(FILE *file, const char *format, ...);                                        \
	HOOK_EXPORT int hook_name(FILE *file, const char *format, ...)                             \
	{                                                                                          \
		struct span span;                                                                  \
		va_list values;                                                                    \
		bool recorded;                                                                     \
		int result;                                                                        \
                                                                                                   \
		recorded = unlikely(activate_on()) && hook_read_begin(&span, FILE_FD(file));       \
		va_start(values, format);                                                          \
		result = real.list_name(file, format, values);                                     \
		va_end(values);                                                                    \
		if (recorded) {                                                                    \
			span.name = #hook_name;                                                    \
			span.hook = HOOK_ID_##hook_name;                                           \
			span_end(&span, 0, false);                                                 \
		}                                                                                  \
		return result;                                                                     \
	}

DEFINE_SCAN(fscanf, vfscanf)
DEFINE_SCAN(__isoc99_fscanf, __isoc99_vfscanf)
