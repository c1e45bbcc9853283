/* SPDX-License-Identifier: Apache-2.0 */
/* aio.c - POSIX asynchronous reads: times submitting and waiting; bytes count when collected. */
#include "hooks/hook.h"

/* LIO_READ64 is LIO_READ with an eighth bit, which this mask removes. */
#define OPCODE_MASK 127

#define IS_DATA_READ(control)                                                                      \
	((control) && ((control)->aio_lio_opcode & OPCODE_MASK) == LIO_READ &&                     \
	 fd_kind((control)->aio_fildes) == FD_DATA)

static bool begin(struct span *span, int fd, const char *name)
{
	if (!hook_read_begin(span, fd))
		return false;
	span->name = name;
	span->uncounted = true;		/* the operation counts when its bytes are collected */
	return true;
}

#define DEFINE_AIO_READ(hook_name, type)                                                           \
	HOOK_EXPORT int hook_name(type *control)                                                   \
	{                                                                                          \
		struct span span;                                                                  \
		int result;                                                                        \
                                                                                                   \
		if (likely(!activate_on()) ||                                                      \
		    !begin(&span, control->aio_fildes, #hook_name))                                \
			return real.hook_name(control);                                            \
		result = real.hook_name(control);                                                  \
		span_end(&span, 0, result < 0);                                                    \
		return result;                                                                     \
	}
DEFINE_AIO_READ(aio_read, struct aiocb)
DEFINE_AIO_READ(aio_read64, struct aiocb64)

#define DEFINE_AIO_RETURN(hook_name, type)                                                         \
	HOOK_EXPORT ssize_t hook_name(type *control)                                               \
	{                                                                                          \
		struct span span;                                                                  \
		ssize_t result;                                                                    \
                                                                                                   \
		if (likely(!activate_on()) || !IS_DATA_READ(control) ||                            \
		    !begin(&span, control->aio_fildes, #hook_name))                                \
			return real.hook_name(control);                                            \
		span.uncounted = false;                                                            \
		result = real.hook_name(control);                                                  \
		span_end(&span, result > 0 ? (uint64_t)result : 0, result < 0);                    \
		return result;                                                                     \
	}
DEFINE_AIO_RETURN(aio_return, struct aiocb)
DEFINE_AIO_RETURN(aio_return64, struct aiocb64)

#define DEFINE_FIRST(name, type)                                                                   \
	static int name(const type *const list[], int count)                                       \
	{                                                                                          \
		for (int i = 0; i < count; i++)                                                    \
			if (IS_DATA_READ(list[i]))                                                 \
				return list[i]->aio_fildes;                                        \
		return -1;                                                                         \
	}
DEFINE_FIRST(first, struct aiocb)
DEFINE_FIRST(first64, struct aiocb64)

#define DEFINE_AIO_SUSPEND(hook_name, type, first)                                                 \
	HOOK_EXPORT int hook_name(const type *const list[], int count,                             \
				  const struct timespec *timeout)                                  \
	{                                                                                          \
		struct span span;                                                                  \
		int result;                                                                        \
                                                                                                   \
		if (likely(!activate_on()) ||                                                      \
		    !begin(&span, first(list, count), #hook_name))                                 \
			return real.hook_name(list, count, timeout);                               \
		result = real.hook_name(list, count, timeout);                                     \
		span_end(&span, 0, false);                                                         \
		return result;                                                                     \
	}
DEFINE_AIO_SUSPEND(aio_suspend, struct aiocb, first)
DEFINE_AIO_SUSPEND(aio_suspend64, struct aiocb64, first64)

#define DEFINE_LIO_LISTIO(hook_name, type, first)                                                  \
	HOOK_EXPORT int hook_name(int mode, type *const list[], int count, struct sigevent *event) \
	{                                                                                          \
		struct span span;                                                                  \
		int result;                                                                        \
                                                                                                   \
		if (likely(!activate_on()) ||                                                      \
		    !begin(&span, first((const type *const *)list, count), #hook_name))            \
			return real.hook_name(mode, list, count, event);                           \
		result = real.hook_name(mode, list, count, event);                                 \
		span_end(&span, 0, result < 0);                                                    \
		return result;                                                                     \
	}
DEFINE_LIO_LISTIO(lio_listio, struct aiocb, first)
DEFINE_LIO_LISTIO(lio_listio64, struct aiocb64, first64)
