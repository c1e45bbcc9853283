/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.c - as much of libnvidia-ml as lists the processes of GPUs: FAKE_NVML is
 * "GPU:PID:MIG INSTANCE ...", where the instance is -1 for a whole GPU; without it, as without a
 * driver, nothing works. Two GPUs are there.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API	      __attribute__((visibility("default")))
#define UNINITIALIZED 1
#define TOO_SMALL     7 /* NVML_ERROR_INSUFFICIENT_SIZE */
#define NO_DRIVER     9

struct process_info {
	unsigned int pid;
	unsigned long long used_bytes;
	unsigned int instance, compute_instance;
};

static int is_up;

API int nvmlInit_v2(void)
{
	is_up = getenv("FAKE_NVML") != NULL;
	return is_up ? 0 : NO_DRIVER;
}

API int nvmlShutdown(void)
{
	is_up = 0;
	return 0;
}

API int nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = 2;
	return is_up ? 0 : UNINITIALIZED;
}

API int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
	*device = (void *)(uintptr_t)(index + 1);
	return is_up ? 0 : UNINITIALIZED;
}

API int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count,
						struct process_info *infos)
{
	const char *text = getenv("FAKE_NVML");
	unsigned int found = 0, room = *count, gpu, pid;
	int instance, length;

	if (!is_up)
		return UNINITIALIZED;
	for (; sscanf(text, " %u:%u:%d%n", &gpu, &pid, &instance, &length) == 3; text += length) {
		if (gpu + 1 != (uintptr_t)device)
			continue;
		if (found < room)
			infos[found] = (struct process_info){pid, 1 << 30, (unsigned int)instance,
							     (unsigned int)instance};
		found++;
	}
	*count = found;
	return found > room ? TOO_SMALL : 0;
}
