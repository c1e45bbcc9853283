/* SPDX-License-Identifier: Apache-2.0 */
/* torch_threads.h - the setting "threads": how many threads the libraries of a worker may use. */
#pragma once

#include <stdint.h>

/*
 * Gives this number of threads to PyTorch, OpenCV, and each loaded OpenBLAS, MKL and OpenMP, for
 * what the calling thread does. Returns the largest number that one of them had before.
 */
int32_t torch_threads_set(int32_t wanted);
