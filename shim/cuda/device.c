/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/device.h"

#include <dlfcn.h>
#include <string.h>

#include "base/text.h"
#include "cuda/state.h"
#include "slots/lookup.h"

/* What the driver says of a device, or "". */
static void ask_driver(const char *function, char *text, size_t size, uint32_t device)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	int (*get)(char *text, int size, int device) =
		driver ? (int (*)(char *, int, int))lookup_real(driver, function) : NULL;

	memset(text, 0, size);
	if (get && get(text, (int)size - 1, (int)device) != 0)
		text[0] = '\0';
}

void device_note(uint32_t device)
{
	static uint32_t noted; /* bits */
	char name[128], place[32];
	TEXT(key, 16);
	TEXT(both, 200);

	if (device >= 32 || noted & 1u << device)
		return;
	ask_driver("cuDeviceGetName", name, sizeof(name), device);
	ask_driver("cuDeviceGetPCIBusId", place, sizeof(place), device);
	/* The first one is also the run's. */
	if (name[0] && !noted)
		state_note("gpu", name);
	noted |= 1u << device;
	text_add(&key, "gpu.");
	text_add_number(&key, device);
	text_add(&both, name);
	if (place[0]) {
		text_add(&both, name[0] ? " at " : "at ");
		text_add(&both, place);
	}
	if (both.buffer[0])
		state_note(key.buffer, both.buffer);
}
