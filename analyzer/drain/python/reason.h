/* SPDX-License-Identifier: Apache-2.0 */
/* reason.h - why the lines of a process are not observed: one name and one text each. */
#pragma once

enum reason {
	REASON_OBSERVED, /* none: it is */
	REASON_GONE,
	REASON_DENIED,
	REASON_NO_CALL,
	REASON_NO_FILE,
	REASON_NO_PYTHON,
	REASON_32_BIT,
	REASON_VERSION,
	REASON_PROCESSOR,
	REASON_FREE_THREADED,
	REASON_NOT_READY,
	REASON_STRANGE,
	REASON_NO_MEMORY,
	REASON_COUNT
};

/* After "lines of code are not observed: ". */
const char *reason_text(enum reason reason);

/* What -errno of a read means. */
enum reason reason_of(int error);
