/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - reads the buffers that CUPTI gave back, on the writing thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

/* Reads all returned buffers. `forced`: operations that still run were returned, too. */
void reader_read(bool forced);

void reader_resume(uint64_t now_ns);

struct reader_times {
	/* end of the newest operation; 0: none */
	uint64_t newest_ns;
	/* how long, at most, an operation began before its buffer was requested */
	uint64_t lag_ns;
	/* when the earliest operation began that still ran at our end; UINT64_MAX: none */
	uint64_t unfinished_ns;
	/* time by which all streams in the first buffer since reader_resume() had begun; 0: none */
	uint64_t resumed_ns;
};

extern HIDDEN struct reader_times reader_times;
