/* SPDX-License-Identifier: Apache-2.0 */
/* torch_threads.h - the setting "threads": how many threads a worker's libraries may use. */
#pragma once

#include <stdint.h>

/* Sets it. Returns the largest number that a changed library had; `wanted`: none was changed. */
int32_t torch_threads_set(int32_t wanted);
