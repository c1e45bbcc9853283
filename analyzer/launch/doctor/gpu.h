/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - finds GPUs that dlprof does not record, which are all but those of NVIDIA. */
#pragma once

/* Returns the vendor of such a GPU, or NULL. `root` is put before /dev and /sys. */
const char *gpu_unfollowed(const char *root);
