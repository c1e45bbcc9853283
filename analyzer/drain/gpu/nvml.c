/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.c - calls NVML through dlsym(), with structs and functions of NVIDIA's NVML API Reference.
 * nvmlDeviceGetComputeRunningProcesses version 3 has the same arguments as version 2.
 * nvmlDeviceGetProcessUtilization names processes that used a GPU in the driver's samples.
 */
#include "drain/gpu/nvml.h"

#include <dlfcn.h>
#include <limits.h>

#define SUCCESS	  0
#define WHOLE_GPU UINT_MAX /* gpuInstanceId of a process that is not on a MIG instance */
#define MOST_HERE 64       /* most processes that are read for one GPU */
#define SAMPLES   256      /* samples read for one GPU; if there are more, NVML gives none */

struct process_info {
	unsigned int pid;
	unsigned long long used_bytes;
	unsigned int instance, compute_instance;
};

struct sample {
	unsigned int pid;
	unsigned long long time_us;
	unsigned int sm_percent, memory_percent, encoder_percent, decoder_percent;
};

struct nvml {
	int (*init)(void);
	int (*shutdown)(void);
	int (*get_count)(unsigned int *count);
	int (*get_handle)(unsigned int index, void **device);
	int (*get_users)(void *device, unsigned int *count, struct process_info *infos);
	int (*get_use)(void *device, struct sample *samples, unsigned int *count,
		       unsigned long long since_us);
};

static void find_functions(void *library, struct nvml *ret)
{
	*(void **)&ret->init = dlsym(library, "nvmlInit_v2");
	*(void **)&ret->shutdown = dlsym(library, "nvmlShutdown");
	*(void **)&ret->get_count = dlsym(library, "nvmlDeviceGetCount_v2");
	*(void **)&ret->get_handle = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
	*(void **)&ret->get_users = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
	if (!ret->get_users)
		*(void **)&ret->get_users =
			dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v2");
	*(void **)&ret->get_use = dlsym(library, "nvmlDeviceGetProcessUtilization");
}

static void read_use(const struct nvml *nvml, void *device, uint64_t since_us,
		     struct nvml_user *users, size_t count)
{
	struct sample samples[SAMPLES];
	unsigned int found = SAMPLES;

	if (!nvml->get_use || nvml->get_use(device, samples, &found, since_us) != SUCCESS)
		return;
	for (unsigned int k = 0; k < found && k < SAMPLES; k++)
		for (size_t i = 0; i < count; i++)
			if (users[i].pid == samples[k].pid && samples[k].time_us > since_us &&
			    samples[k].sm_percent <= 100 &&
			    samples[k].sm_percent > users[i].percent)
				users[i].percent = samples[k].sm_percent;
}

static size_t read_users(const struct nvml *nvml, struct nvml_user *ret, size_t most,
			 uint64_t since_us)
{
	struct process_info infos[MOST_HERE];
	unsigned int gpus = 0;
	size_t count = 0;

	if (nvml->get_count(&gpus) != SUCCESS)
		return 0;
	for (unsigned int gpu = 0; gpu < gpus; gpu++) {
		const size_t before = count;
		unsigned int here = MOST_HERE;
		void *device;

		if (nvml->get_handle(gpu, &device) != SUCCESS ||
		    nvml->get_users(device, &here, infos) != SUCCESS)
			continue;
		for (unsigned int i = 0; i < here && i < MOST_HERE && count < most; i++)
			if (infos[i].instance == WHOLE_GPU)
				ret[count++] = (struct nvml_user){gpu, infos[i].pid, 0};
		read_use(nvml, device, since_us, ret + before, count - before);
	}
	return count;
}

size_t nvml_users(struct nvml_user *ret, size_t most, uint64_t since_us)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	struct nvml nvml;
	size_t count = 0;

	if (!library)
		return 0;
	find_functions(library, &nvml);
	if (nvml.init && nvml.shutdown && nvml.get_count && nvml.get_handle && nvml.get_users &&
	    nvml.init() == SUCCESS) {
		count = read_users(&nvml, ret, most, since_us);
		nvml.shutdown();
	}
	dlclose(library);
	return count;
}
