/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - what the driver says of a GPU: its name, and where it is. */
#pragma once

#include <stdint.h>

/*
 * Into the meta table, once for each. Its place is what tells the devices of several processes
 * apart. For devices that were seen to work: cuInit() is over by then.
 */
void device_note(uint32_t device);
