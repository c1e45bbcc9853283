/* SPDX-License-Identifier: Apache-2.0 */
/* reason.h - why the lines of a process are not observed: a name and a text for each reason. */
#pragma once

enum reason {
	REASON_OBSERVED,
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

/* Returns the words that follow "lines of code are not observed: ". */
const char *reason_text(enum reason reason);

enum reason reason_of(int error);
