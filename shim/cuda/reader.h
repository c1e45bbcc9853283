/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - reads the buffers that CUPTI gave back, and sends their records. For the writing
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

/* Reads all buffers that came back. `forced`: a forced flush returned operations that still run. */
void reader_read(bool forced);

/* Notes that CUPTI's buffers are ours again from now on. */
void reader_resume(uint64_t now_ns);

struct reader_times {
	/* End of the newest operation that was read; 0: none was. */
	uint64_t newest_ns;
	/* Longest time by which an operation began before its buffer was requested; 0 as long as
	 * CUPTI reserves a record's place at the launch. */
	uint64_t lag_ns;
	/* Earliest begin of an operation that still ran at our end; UINT64_MAX: none did. */
	uint64_t unfinished_ns;
	/* When all streams in the first buffer requested since reader_resume() had begun their
	 * first operations; 0: no such buffer was read. */
	uint64_t resumed_ns;
};

extern HIDDEN struct reader_times reader_times;
