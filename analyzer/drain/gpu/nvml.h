/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h - asks NVIDIA's management library which processes compute on which GPU. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct nvml_user {
	unsigned int gpu; /* the GPU's number, as in nvidia-smi */
	unsigned int pid;
	unsigned int percent; /* largest share of a sample in which its kernels ran; 0: unknown */
};

/*
 * Lists at most `most` processes that compute on whole GPUs, and returns how many. The result is 0
 * without a driver, or if the driver names no processes, as in many containers. Processes on MIG
 * instances are left out, since instances share no cores. Percentages come from samples that the
 * driver took after `since_us`, by CLOCK_REALTIME.
 */
size_t nvml_users(struct nvml_user *ret, size_t most, uint64_t since_us);
