/* SPDX-License-Identifier: Apache-2.0 */
/* tfdata_slots.c - the wrappers that tfdata.def describes. */
#include "python/tfdata.h"
#include "record/activate.h"

/* absl::Time, which comes by value. */
struct tf_time {
	uint64_t high;
	uint32_t low;
};

#define BEGIN	    activate_on()
#define END_MADE      tfdata_made(handle)
#define END_ASKED     tfdata_asked(handle)
#define END_WAITED    tfdata_waited(wait_us)
#define END_FETCHED   tfdata_fetched(bytes)

static const struct wrap_library libraries[] = {{.mark = NULL}};

#define WRAP_ROWS	 "python/tfdata.def"
#define WRAP_SET	 tfdata_slots
#define WRAP_LIBRARIES	 libraries
#define WRAP_LIBRARY(id) 0
#define WRAP_REACHED	 NULL
#include "slots/wrap_rows.h"
