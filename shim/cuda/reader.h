/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - reads the buffers that CUPTI gave back, and sends what is in them to the drain. Of the
 * writing thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

/* Reads all that came back; `forced`: also of what still runs. */
void reader_read(bool forced);

/* CUPTI's buffers are ours again from now on. */
void reader_resume(uint64_t now_ns);

struct reader_times {
	/* The end of the newest operation that was read; 0: none was. */
	uint64_t newest_ns;
	/*
	 * By how much an operation began before the buffer was requested that it came in, at most.
	 * 0 where CUPTI takes a record's place when its operation is launched.
	 */
	uint64_t lag_ns;
	/* When the first began that had no end at our end, at the earliest; UINT64_MAX: all had. */
	uint64_t unfinished_ns;
	/*
	 * By when each stream in the first buffer that was requested since reader_resume() had
	 * begun with its first operation; 0: none was read.
	 */
	uint64_t resumed_ns;
};

extern HIDDEN struct reader_times reader_times;
