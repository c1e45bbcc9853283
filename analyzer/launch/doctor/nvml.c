/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.c - calls NVML through dlsym(), by NVIDIA's NVML API Reference: nvmlProcessInfo_t and
 * nvmlDeviceGetComputeRunningProcesses since its version 2. Version 3 takes the same arguments.
 */
#include "launch/doctor/nvml.h"

#include <dlfcn.h>
#include <limits.h>

#define SUCCESS	  0
#define WHOLE_GPU UINT_MAX /* gpuInstanceId of a process that is on no MIG instance */
#define MOST_HERE 64       /* most processes that are read for one GPU */

struct process_info {
	unsigned int pid;
	unsigned long long used_bytes;
	unsigned int instance, compute_instance;
};

struct nvml {
	int (*init)(void);
	int (*shutdown)(void);
	int (*get_count)(unsigned int *count);
	int (*get_handle)(unsigned int index, void **device);
	int (*get_users)(void *device, unsigned int *count, struct process_info *infos);
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
}

static size_t read_users(const struct nvml *nvml, struct nvml_user *ret, size_t most)
{
	struct process_info infos[MOST_HERE];
	unsigned int gpus = 0;
	size_t count = 0;

	if (nvml->get_count(&gpus) != SUCCESS)
		return 0;
	for (unsigned int gpu = 0; gpu < gpus; gpu++) {
		unsigned int here = MOST_HERE;
		void *device;

		if (nvml->get_handle(gpu, &device) != SUCCESS ||
		    nvml->get_users(device, &here, infos) != SUCCESS)
			continue;
		for (unsigned int i = 0; i < here && i < MOST_HERE && count < most; i++)
			if (infos[i].instance == WHOLE_GPU)
				ret[count++] = (struct nvml_user){gpu, infos[i].pid};
	}
	return count;
}

size_t nvml_users(struct nvml_user *ret, size_t most)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	struct nvml nvml;
	size_t count = 0;

	if (!library)
		return 0;
	find_functions(library, &nvml);
	if (nvml.init && nvml.shutdown && nvml.get_count && nvml.get_handle && nvml.get_users &&
	    nvml.init() == SUCCESS) {
		count = read_users(&nvml, ret, most);
		nvml.shutdown();
	}
	dlclose(library);
	return count;
}
