/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - GPUs whose time dlprof does not record: all but NVIDIA's. */
#pragma once

/* "AMD", "Intel", or NULL: none. `root` is put before /dev and /sys. */
const char *gpu_unfollowed(const char *root);
