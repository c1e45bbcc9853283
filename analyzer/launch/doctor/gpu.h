/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - finds GPUs that dlprof does not record: all but NVIDIA's. */
#pragma once

/* Returns the vendor of such a GPU; NULL: there is none. `root` precedes /dev and /sys. */
const char *gpu_unfollowed(const char *root);
