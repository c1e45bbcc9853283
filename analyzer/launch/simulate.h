/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate.h - a training and its loader, without the ML: processes and pipes that speak as
 * PyTorch's DataLoader does, with sleeps where it would load and train.
 */
#ifndef SIMULATE_H
#define SIMULATE_H

#include "launch/scene.h"

/* Trains it to the end. 0, or -errno where processes or pipes cannot be made. */
int simulate(const struct scene *scene);

#endif
