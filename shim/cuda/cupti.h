/* SPDX-License-Identifier: Apache-2.0 */
/* cupti.h - finds the libcupti that this process has mapped, else opens one. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "base/text.h"

typedef void cupti_request_function(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_complete_function(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				     size_t valid_size);

#define CUPTI_MAX_LIMIT_REACHED       12
#define CUPTI_NOT_INITIALIZED         15
#define CUPTI_INSUFFICIENT_PRIVILEGES 35
#define CUPTI_MULTIPLE_SUBSCRIBERS    39
#define CUPTI_UNKNOWN                 999

#define CUPTI_THREAD_ID_SYSTEM 1
#define CUPTI_FLUSH_FORCED     1

/* what cuptiGetVersion() returns in the first CUPTI with a certain property */
#define CUPTI_VERSION_LEAST        13     /* CUDA 11.0: the oldest supported */
#define CUPTI_VERSION_SINGLE_CALLS 23     /* CUDA 12.5: can enable single calls */
#define CUPTI_VERSION_GRAPH_TRACE  24     /* CUDA 12.6: times of graphs are right */
#define CUPTI_VERSION_NULL_BUFFER  27     /* CUDA 12.9: a request may get no buffer */
#define CUPTI_VERSION_13_0         130000 /* 13.0: no records of device syncs; Disable may hang */

#define CUPTI_ATTRIBUTE_OWN_BUFFERS 9 /* CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER */

struct cupti {
	void *library;
	uint32_t version;
#define NEED(name, params) int(*name) params;
#define MAY(name, params)  int(*name) params;
#include "cuda/cupti.def"
};

extern HIDDEN struct cupti cupti;

int cupti_find(struct text *why);

void *cupti_driver(const char *function);

/* Returns the handle of the libcupti in this process, or NULL if none is mapped. */
void *cupti_mapped(void);
