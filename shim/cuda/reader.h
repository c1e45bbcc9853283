/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - reads the buffers that CUPTI gave back, on the writing thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

/* Reads all returned buffers. `forced`: some operations in them still run, and have no end. */
void reader_read(bool forced);

void reader_resume(uint64_t now_ns);

struct reader_times {
	/* end of the newest operation; 0: none */
	uint64_t newest_ns;
	/* by how much an operation was older than its buffer's request, at most */
	uint64_t lag_ns;
	/* by when the streams of the first buffer since reader_resume() had begun to work; or 0 */
	uint64_t resumed_ns;
};

extern HIDDEN struct reader_times reader_times;
