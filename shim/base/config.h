/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - the DLPROF_* variables, read once when the process begins to record. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"
#include "dlprof/levels.h"
#include "dlprof/set.h"

#define CONFIG_LEVEL(constant, name, help) CONFIG_DETAIL_##constant,
enum config_detail { DLPROF_DETAIL_LEVELS(CONFIG_LEVEL, CONFIG_LEVEL, CONFIG_LEVEL) };
#undef CONFIG_LEVEL

#define CONFIG_LEVEL(constant, name, help) CONFIG_CUDA_##constant,
enum config_cuda { DLPROF_CUDA_LEVELS(CONFIG_LEVEL, CONFIG_LEVEL, CONFIG_LEVEL) };
#undef CONFIG_LEVEL

struct config {
	const char *out;
	const char *segment_dir;	/* folder of the segments; NULL: choose one */
	enum config_detail detail;
	enum config_cuda cuda;
	uint64_t slow_ns;
	uint64_t stop_after;		/* batches; 0: never */
	struct dlprof_set_list set;
	bool activate_always;
	bool quiet;
};

extern HIDDEN struct config config;

#define CONFIG_BATCH_FN_MAX 256

/* Returns DLPROF_BATCH_FN, or NULL if it is not set or malformed. */
const char *config_batch_fn(void);

#define CONFIG_NVTX_MAX 64

/* Returns DLPROF_NVTX: "1", or the name of steps' ranges; NULL: no ranges. */
const char *config_nvtx(void);

bool config_disabled(void);

const char *config_cuda_name(enum config_cuda level);

/* Returns true if DLPROF_CUDA is off. Works before config_read(), too. */
bool config_cuda_is_off(void);

/* Reads all variables. A bad value leaves the default, and config_note() names it. */
void config_read(void);

void config_note(void);
