/* SPDX-License-Identifier: Apache-2.0 */
/* lttng_pread.h - the one event of lttng_pread.c; LTTng's macros read this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_pread.h"

#if !defined(LTTNG_PREAD_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_PREAD_H

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(bench, pread,
	LTTNG_UST_TP_ARGS(int, fd, long, result),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, fd, fd)
		lttng_ust_field_integer(long, result, result)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
