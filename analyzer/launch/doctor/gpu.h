/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - GPUs whose time nobody records here: all but NVIDIA's. */
#pragma once

/* "AMD", "Intel", or NULL: none. `root`: before /dev and /sys. */
const char *gpu_unfollowed(const char *root);
