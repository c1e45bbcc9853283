/* SPDX-License-Identifier: Apache-2.0 */
/* tfdata_slots.c - the set of wrappers made from tfdata.def. */
#include "base/clock.h"
#include "batch/stage.h"
#include "python/loaders/tfdata.h"
#include "python/loaders/tfstage.h"
#include "record/activate.h"

/* absl::Time, passed by value. */
struct tf_time {
	uint64_t high;
	uint32_t low;
};

#define BEGIN         activate_on()
#define END_MADE      tfdata_made(handle)
#define END_ASKED     tfdata_asked(handle)
#define END_WAITED    tfdata_waited(wait_us)
#define END_FETCHED   tfdata_fetched(bytes)
#define BEGIN_DROPPED , (begin_ns = activate_on() ? clock_now_ns() : 0) != 0
#define END_DROPPED   tfdata_dropped(begin_ns)

/* GONE: an object that is destroyed is forgotten, since another may get its address. */
#define BEGIN_NEXT        , tfstage_next(&call, target, copy, object)
#define JUMPS_NEXT        , true
#define END_NEXT          stage_end(&call, !*end)
#define BEGIN_INSTANTIATE , tfstage_instantiate(&call)
#define END_INSTANTIATE   stage_end(&call, false)
#define BEGIN_COMPUTE     , tfstage_compute(&call, target, object, context)
#define JUMPS_COMPUTE     , true
#define END_COMPUTE       stage_end(&call, true)
#define END_BORN          tfstage_born(copy, object)
#define BEGIN_GONE        , (stage_forget(object), false)
#define JUMPS_GONE        , true
#define END_GONE

enum { TFDATA, TFSTAGE };

static const struct wrap_library libraries[] = {
	[TFDATA] = {.mark = NULL},
	[TFSTAGE] = {.helpers = {TFSTAGE_ITERATOR_NAME, TFSTAGE_KERNEL_NAME}},
};

#define WRAP_ROWS        "python/loaders/tfdata.def"
#define WRAP_SET         tfdata_slots
#define WRAP_LIBRARIES   libraries
#define WRAP_LIBRARY(id) id
#define WRAP_STATE                                                                                 \
	struct stage_call call __attribute__((unused));                                            \
	uint64_t begin_ns __attribute__((unused))
#define WRAP_REACHED NULL
#include "slots/wrap_rows.h"
