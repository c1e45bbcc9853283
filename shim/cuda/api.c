/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/api.h"

#include "cuda/cupti.h"
#include "cuda/record.h"

static const struct call {
	uint16_t domain; /* kind of CUPTI's record for the call */
	uint16_t number;
} calls[] = {
#define CALL(domain, class, name, number) {CUPTI_KIND_##domain, number},
#include "cuda/api.def"
#undef CALL
};

static _Atomic bool theirs[sizeof(calls) / sizeof(calls[0])];

bool api_is_possible(void)
{
	return cupti.version >= CUPTI_VERSION_SINGLE_CALLS && cupti.ActivityEnableRuntimeApi &&
	       cupti.ActivityEnableDriverApi;
}

uint32_t api_enable(bool on, uint64_t keep)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct call *call = &calls[i];

		if (keep & UINT64_C(1) << call->domain || (!on && theirs[i]))
			continue;
		count += 0 == (call->domain == CUPTI_KIND_RUNTIME
				       ? cupti.ActivityEnableRuntimeApi(call->number, on)
				       : cupti.ActivityEnableDriverApi(call->number, on));
	}
	return count;
}

void api_note_theirs(uint32_t record_kind, uint32_t number, bool wanted)
{
	for (uint32_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].domain == record_kind && calls[i].number == number)
			theirs[i] = wanted;
}

enum dlprof_gpu_kind api_kind(uint32_t record_kind, uint32_t number)
{
#define CASE(domain, number) ((uint32_t)CUPTI_KIND_##domain << 16 | (number))
	switch (record_kind << 16 | (number & 0xffff)) {
#define CALL(domain, class, name, number)                                                          \
	case CASE(domain, number):                                                                 \
		return DLPROF_GPU_API_##class;
#include "cuda/api.def"
#undef CALL
	default:
		return DLPROF_GPU_NONE;
	}
#undef CASE
}
