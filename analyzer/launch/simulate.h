/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate.h - a training and its loader, without the ML: threads that sleep where they would load
 * and train, and mark with dlprof.h what they do.
 */
#pragma once

#include "launch/scene.h"

/* Trains it to the end. 0, or -errno where threads cannot be made. */
int simulate(const struct scene *scene);
