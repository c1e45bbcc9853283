/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - the DLPROF_* environment variables, read once when the process begins to record. */
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
	const char *out;		/* pattern of the database's path */
	const char *segment_dir;	/* folder for segments; NULL: choose one */
	enum config_detail detail;
	enum config_cuda cuda;
	uint64_t slow_ns;
	uint64_t stop_after;		/* batches after which to end the program; 0: never */
	struct dlprof_set_list set;	/* settings that DLPROF_SET gives to loaders */
	bool activate_always;
	bool quiet;
};

extern HIDDEN struct config config;

#define CONFIG_BATCH_FN_MAX 256

/* Returns DLPROF_BATCH_FN if it is well-formed, "module:name" or "module:Class.name"; else NULL. */
const char *config_batch_fn(void);

#define CONFIG_NVTX_MAX 64

/* Returns DLPROF_NVTX if it asks for ranges: "1", or the name of steps' ranges; else NULL. */
const char *config_nvtx(void);

/* Returns true if DLPROF_DISABLE is 1. The constructor of every process calls this. */
bool config_disabled(void);

/* Returns the name of a level of DLPROF_CUDA. */
const char *config_cuda_name(enum config_cuda level);

/* Returns true if DLPROF_CUDA is "off". May be called before `config` is filled. */
bool config_cuda_is_off(void);

/* Fills `config`. A bad value leaves the default in place, and config_note() names it. */
void config_read(void);

/* Notes bad values, unknown variables, the settings of DLPROF_SET, and an unwritable DLPROF_LOG. */
void config_note(void);
