/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.c - those functions of libnvidia-ml that list the processes of GPUs; there are two GPUs.
 * FAKE_NVML is "GPU:PID:MIG INSTANCE:PERCENT ...". The instance is -1 for a whole GPU. The
 * percentage, which may be left out, is the share of time in which the process's kernels run.
 * Without FAKE_NVML, all functions fail as they do without a driver.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API	      __attribute__((visibility("default")))
#define UNINITIALIZED 1
#define NOT_FOUND     6
#define TOO_SMALL     7 /* NVML_ERROR_INSUFFICIENT_SIZE */
#define NO_DRIVER     9

struct process_info {
	unsigned int pid;
	unsigned long long used_bytes;
	unsigned int instance, compute_instance;
};

struct sample {
	unsigned int pid;
	unsigned long long time_us;
	unsigned int sm, memory, encoder, decoder;
};

static int is_up;

/* Reads the next process on this device from FAKE_NVML. Returns the rest of the text, or NULL. */
static const char *next(const char *text, void *device, unsigned int *pid, int *instance,
			int *percent)
{
	unsigned int gpu;
	int length;

	while (sscanf(text, " %u:%u:%d%n", &gpu, pid, instance, &length) == 3) {
		text += length;
		*percent = 0;
		if (sscanf(text, ":%d%n", percent, &length) == 1)
			text += length;
		if (gpu + 1 == (uintptr_t)device)
			return text;
	}
	return NULL;
}

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
	unsigned int found = 0, room = *count, pid;
	int instance, percent;

	if (!is_up)
		return UNINITIALIZED;
	while ((text = next(text, device, &pid, &instance, &percent))) {
		if (found < room)
			infos[found] = (struct process_info){pid, 1 << 30, (unsigned int)instance,
							     (unsigned int)instance};
		found++;
	}
	*count = found;
	return found > room ? TOO_SMALL : 0;
}

/* FAKE_NVML_OLD=1: samples are from before the run. FAKE_NVML_HANG=1: this never returns. */
API int nvmlDeviceGetProcessUtilization(void *device, struct sample *samples, unsigned int *count,
					unsigned long long since_us)
{
	const char *text = getenv("FAKE_NVML");
	unsigned int found = 0, room = *count, pid;
	int instance, percent;

	while (getenv("FAKE_NVML_HANG"))
		nanosleep(&(struct timespec){3600, 0}, NULL);
	while ((text = next(text, device, &pid, &instance, &percent)))
		if (percent && found < room)
			samples[found++] = (struct sample){
				pid, getenv("FAKE_NVML_OLD") ? since_us - 1 : since_us + 1,
				(unsigned int)percent, 0, 0, 0};
	*count = found;
	return found ? 0 : NOT_FOUND;
}
