/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - GPUs whose time nobody records here: all but NVIDIA's. */
#ifndef LAUNCH_GPU_H
#define LAUNCH_GPU_H

/* "AMD", "Intel", or NULL: none. `root`: before /dev and /sys. */
const char *gpu_unfollowed(const char *root);

#endif
