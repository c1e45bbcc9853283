/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - finds GPUs that dlprof does not record: all but NVIDIA's. */
#pragma once

/* Returns the vendor of a GPU not by NVIDIA; NULL: none. `root` precedes /dev and /sys. */
const char *gpu_unfollowed(const char *root);
