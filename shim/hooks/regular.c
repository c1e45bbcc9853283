/* SPDX-License-Identifier: Apache-2.0 */
/* regular.c - the wrappers that hooks.def describes in full. */
#include "hooks/hook.h"

#include <string.h>

/* BEGIN_x and END_x see the wrapper's parameters, `span` and `result`. */
#define BEGIN_OPEN	 hook_open_begin(&span)
#define END_OPEN	 hook_open_end(&span, result, path, flags)
#define BEGIN_CREAT	 hook_open_begin(&span)
#define END_CREAT	 hook_open_end(&span, result, path, O_WRONLY)
#define BEGIN_CLOSE	 hook_close_begin(&span, fd)
#define END_CLOSE	 span_end(&span, 0, result < 0)

#define BEGIN_READ	 hook_read_begin(&span, fd)
#define END_READ	 span_end(&span, result > 0 ? (uint64_t)result : 0, result < 0)
#define BEGIN_ADVISE	 hook_read_begin(&span, fd)
#define END_ADVISE	 span_end(&span, 0, result != 0)

#define BEGIN_FOPEN	 hook_open_begin(&span)
#define END_FOPEN	 hook_open_end(&span, result ? FILE_FD(result) : -1, path, fopen_flags(mode))
#define BEGIN_FREOPEN	 (fd_forget(FILE_FD(file)), hook_open_begin(&span))
#define END_FREOPEN                                                                                \
	(path ? hook_open_end(&span, result ? FILE_FD(result) : -1, path, fopen_flags(mode))      \
	      : span_cancel(&span))
#define BEGIN_FCLOSE	 hook_close_begin(&span, FILE_FD(file))
#define END_FCLOSE	 span_end(&span, 0, result != 0)
#define BEGIN_FILE	 hook_read_begin(&span, FILE_FD(file))
#define BEGIN_FREAD	 BEGIN_FILE
#define END_FREAD	 span_end(&span, result * size, false)
#define BEGIN_FGETS	 BEGIN_FILE
#define END_FGETS	 span_end(&span, result ? strlen(result) : 0, false)
#define BEGIN_GETLINE	 BEGIN_FILE
#define END_GETLINE	 span_end(&span, result > 0 ? (uint64_t)result : 0, false)
#define BEGIN_FSEEK	 BEGIN_FILE
#define END_FSEEK	 span_end(&span, 0, result != 0)
#define BEGIN_REFILL	 BEGIN_FILE
#define END_REFILL                                                                                 \
	span_end(&span, result == EOF ? 0 : (uint64_t)(file->_IO_read_end - file->_IO_read_base), \
		 false)
#define BEGIN_SCAN	 BEGIN_FILE
#define END_SCAN	 span_end(&span, 0, false)

/* Whether a mode reads at all; "r+" and "w+" both do. */
static int fopen_flags(const char *mode)
{
	return mode[0] == 'r' || strchr(mode, '+') ? O_RDONLY : O_WRONLY;
}

#define HOOK(family, nr, type, hook_name, params, args)                                            \
	HOOK_EXPORT type hook_name params                                                          \
	{                                                                                          \
		struct span span;                                                                  \
		type result;                                                                       \
                                                                                                   \
		if (likely(!activate_on()) || !BEGIN_##family)                                     \
			return real.hook_name args;                                                \
		span.name = #hook_name;                                                            \
		span.hook = HOOK_ID_##hook_name;                                                   \
		result = real.hook_name args;                                                      \
		END_##family;                                                                      \
		return result;                                                                     \
	}
#define HOOK_BY_HAND(nr, type, hook_name, params, args)
#define HOOK_VARIADIC(nr, type, hook_name, params, args)
/* Not in every libc header. */
#define HOOK_DECLARE(type, name, params) type name params;
HOOK_DECLARE(int, __open_2, (const char *, int))
HOOK_DECLARE(int, __open64_2, (const char *, int))
HOOK_DECLARE(int, __openat_2, (int, const char *, int))
HOOK_DECLARE(int, __openat64_2, (int, const char *, int))
HOOK_DECLARE(int, __close, (int))
HOOK_DECLARE(ssize_t, __read, (int, void *, size_t))
HOOK_DECLARE(ssize_t, __read_chk, (int, void *, size_t, size_t))
HOOK_DECLARE(ssize_t, __pread64, (int, void *, size_t, off64_t))
HOOK_DECLARE(ssize_t, __pread_chk, (int, void *, size_t, off_t, size_t))
HOOK_DECLARE(ssize_t, __pread64_chk, (int, void *, size_t, off64_t, size_t))
HOOK_DECLARE(ssize_t, sendfile, (int, int, off_t *, size_t))
HOOK_DECLARE(ssize_t, sendfile64, (int, int, off64_t *, size_t))
HOOK_DECLARE(size_t, __fread_chk, (void *, size_t, size_t, size_t, FILE *))
HOOK_DECLARE(size_t, __fread_unlocked_chk, (void *, size_t, size_t, size_t, FILE *))
HOOK_DECLARE(char *, __fgets_chk, (char *, size_t, int, FILE *))
HOOK_DECLARE(char *, __fgets_unlocked_chk, (char *, size_t, int, FILE *))
HOOK_DECLARE(int, __isoc99_vfscanf, (FILE *, const char *, va_list))
#include "hooks/hooks.def"
