/* SPDX-License-Identifier: Apache-2.0 */
/* Tests kernels' names, as the libraries NCCL 2.32, DALI 2.4, nvJPEG 12.4 and PyTorch have them.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cuda/kernel.h"
#include "cuda/outbox.h"
#include "record/tally.h"

static struct dlprof_event events[256];
static size_t count;

void outbox_push(const struct dlprof_event *event)
{
	events[count++ % 256] = *event;
}

uint64_t tally_id(const char *name)
{
	uint64_t id = 7;

	for (; *name; name++)
		id = id * 1099511628211u + (uint8_t)*name;
	return id | 1;
}

static void expect(enum dlprof_gpu_kind kind, const char *const *names)
{
	for (; *names; names++)
		cr_expect_eq(kernel_find(*names).kind, kind, "%s", *names);
}

Test(kernel, collectives_of_nccl_by_all_their_names)
{
	expect(DLPROF_GPU_NCCL,
	       (const char *const[]){
		       "_Z21ncclDevKernel_Generic24ncclDevKernelArgsStorageILm4096EE",
		       "_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE",
		       "_Z28ncclDevKernel_AllGather_RING24ncclDevKernelArgsStorageILm4096EE",
		       "_Z30ncclSymkDevKernel_AllGather_LL21ncclSymkDevWorkArgs4K",
		       "_Z32ncclSymkDevKernel_AllGather_LLMC21ncclSymkDevWorkArgs4K",
		       /* names before NCCL 2.18 and 2.8, and a demangled one */
		       "_Z38ncclKernel_AllReduce_RING_LL_Sum_floatP11ncclDevCommmP8ncclWork",
		       "_Z33ncclAllReduceRingLLKernel_sum_f328ncclColl",
		       "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		       NULL});
}

Test(kernel, gpu_loaders_by_their_namespaces)
{
	expect(DLPROF_GPU_LOADER,
	       (const char *const[]){
		       "_ZN6nvjpeg15DecodeSingleGPU23dcPrefixSumReadUpKernel"
		       "E8NppiSizemS1_PKsPsS4_j",
		       "_ZN6culj9215metadata_kernelEPNS_9ImageInfoEPmPKPKhm",
		       "_ZN46_GLOBAL__N__57fb7e34_13_OpHQResize_cu_1d23d4c110resampl"
		       "ing25SeparableResamplingKernelILi1ELi1EN6cvcuda4priv9hq_resi"
		       "ze13batch_wrapper7dynamic16DynamicBatchWrapIfLi4EiEES8_Li3EE"
		       "EvPKNS0_10SampleDescIXT3_EEET1_T2_NS0_16GridHelperDeviceIXT3"
		       "_EEE",
		       "_ZN10nvimgcodec13ConvertKernelIaaNS_20RGB_to_BGR_ConverterIaaEEEEvNS_"
		       "7SurfaceILi2ET_EENS3_ILi2ET0_EE",
		       "_ZN4dali7kernels10resampling30BatchedSeparableResample"
		       "KernelILi2EfhEEviPKNS1_"
		       "10SampleDescIXT_EEEPKNS0_9BlockDescIXT_EEE",
		       NULL});
}

Test(kernel, others_are_neither)
{
	expect(DLPROF_GPU_KERNEL,
	       (const char *const[]){"", "_Z14pad_ncclone_opPKf",
				     "_Z22diagP2pInitSlotsKernelP15ncclDiagP2pSlotPKiii",
				     "_Z20launch_ncclDevKernel", "_ZN8dalinean7forwardEPf",
				     "_ZN2at6native29vectorized_elementwise_kernelILi4EEviT0_T1_",
				     NULL});
}

/* Returns the name that the parts in `events` make. */
static const char *told(void)
{
	static char text[DLPROF_KERNEL_BYTES + 1];

	memset(text, 0, sizeof(text));
	for (size_t i = 0; i < count; i++) {
		cr_assert_eq(events[i].kind, DLPROF_EVENT_KERNEL);
		cr_assert_eq(events[i].task, i);
		memcpy(text + i * DLPROF_MARK_BYTES, events[i].mark, DLPROF_MARK_BYTES);
	}
	/* The last part is not full, by which the reader knows that it is the last. */
	cr_expect_eq(events[count - 1].mark[DLPROF_MARK_BYTES - 1], '\0');
	return text;
}

Test(kernel, each_name_is_told_once_and_whole)
{
	static char name[DLPROF_KERNEL_BYTES + 500];

	for (size_t length = 1; length < 400; length += 29) {
		count = 0;
		memset(name, 'k', length);
		kernel_find(name);
		cr_expect_str_eq(told(), name);
		count = 0;
		kernel_find(name);
		cr_expect_eq(count, 0);
	}
	count = 0;
	memset(name, 'k', 2 * DLPROF_MARK_BYTES);
	name[2 * DLPROF_MARK_BYTES] = '\0';
	kernel_find(name);
	cr_expect_str_eq(told(), name);
	count = 0;
	memset(name, 'k', sizeof(name) - 1);
	kernel_find(name);
	cr_expect_eq(strlen(told()), DLPROF_KERNEL_BYTES - 1);
}

Test(kernel, more_names_than_there_is_room_for_are_known_and_not_told)
{
	char name[16];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "nccl%dKernel_", i);
		cr_expect_eq(kernel_find(name).kind, DLPROF_GPU_KERNEL);
	}
	cr_expect_lt(count, 2048);
	cr_expect_eq(kernel_find("ncclDevKernel_x").kind, DLPROF_GPU_NCCL);
}
