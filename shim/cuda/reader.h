/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - reads the buffers that CUPTI gave back, and sends their records. For the writing
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

/* Reads all buffers that came back; `forced`: they have operations that still run. */
void reader_read(bool forced);

/* Notes that CUPTI's buffers are ours again from now on. */
void reader_resume(uint64_t now_ns);

struct reader_times {
	/* End of the newest operation that was read; 0: none was. */
	uint64_t newest_ns;
	/* The most by which an operation began before its buffer was requested; 0 as long as
	 * CUPTI gives a record its place at the launch. */
	uint64_t lag_ns;
	/* The earliest begin of an operation that had not ended at our end; UINT64_MAX: all had. */
	uint64_t unfinished_ns;
	/* By when each stream in the first buffer requested since reader_resume() had begun its
	 * first operation; 0: none was read. */
	uint64_t resumed_ns;
};

extern HIDDEN struct reader_times reader_times;
