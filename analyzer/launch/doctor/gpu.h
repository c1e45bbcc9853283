/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - finds GPUs that dlprof does not record: all except NVIDIA's. */
#pragma once

/* Returns NULL if none was found. `root` is put before /dev and /sys. */
const char *gpu_unfollowed(const char *root);
