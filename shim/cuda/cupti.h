/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti.h - finds the libcupti of this process at run time; we are never linked with it.
 *
 * A library that is already mapped is preferred: a copy of our choice would be a second CUPTI
 * beside the one that the host's frameworks use.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "base/text.h"

typedef void cupti_request_function(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_complete_function(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				     size_t valid_size);

#define CUPTI_NOT_INITIALIZED         15
#define CUPTI_INSUFFICIENT_PRIVILEGES 35
#define CUPTI_MULTIPLE_SUBSCRIBERS    39
#define CUPTI_UNKNOWN                 999

#define CUPTI_THREAD_ID_SYSTEM 1
#define CUPTI_FLUSH_FORCED     1

/* Results of cuptiGetVersion() from which on something holds: */
#define CUPTI_VERSION_LEAST        13     /* CUDA 11.0: the oldest with known records */
#define CUPTI_VERSION_SINGLE_CALLS 23     /* CUDA 12.5: calls can be enabled one by one */
#define CUPTI_VERSION_GRAPH_TRACE  24     /* CUDA 12.6: times of whole graphs are right */
#define CUPTI_VERSION_NULL_BUFFER  27     /* CUDA 12.9: a request may get no buffer */
#define CUPTI_VERSION_13_0         130000 /* no records of device syncs; Disable may hang */

#define CUPTI_ATTRIBUTE_OWN_BUFFERS 9 /* attribute: each thread has its own buffers */

struct cupti {
	void *library;
	uint32_t version;
#define NEED(name, params) int(*name) params;
#define MAY(name, params)  int(*name) params;
#include "cuda/cupti.def"
#undef NEED
#undef MAY
};

extern HIDDEN struct cupti cupti;

/* Finds libcupti and fills `cupti`. Returns 0, or -errno with the reason in `why`. */
int cupti_find(struct text *why);

/* Returns a function of the mapped driver, or NULL if there is none. */
void *cupti_driver(const char *function);

/* Returns the mapped libcupti, whoever mapped it, or NULL if none is. */
void *cupti_mapped(void);
