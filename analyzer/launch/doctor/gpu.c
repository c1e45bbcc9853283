/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/doctor/gpu.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "dlprof/units.h"

#define RENDER_FIRST 128
#define RENDER_MOST  64

static unsigned int vendor_of(const char *root, int number)
{
	char path[PATH_MAX];
	unsigned int vendor = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/dev/dri/renderD%d", root, number);
	if (access(path, F_OK) < 0)
		return 0;
	snprintf(path, sizeof(path), "%s/sys/class/drm/renderD%d/device/vendor", root, number);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%x", &vendor) != 1)
		vendor = 0;
	fclose(file);
	return vendor;
}

const char *gpu_unfollowed(const char *root)
{
	static const struct {
		unsigned int id;
		const char *name;
	} vendors[] = {{0x1002, "AMD"}, {0x8086, "Intel"}};
	char path[PATH_MAX];

	/* A container may have only /dev/kfd: ROCm needs nothing else. */
	snprintf(path, sizeof(path), "%s/dev/kfd", root);
	if (access(path, F_OK) == 0)
		return "AMD";
	for (size_t i = 0; i < ARRAY_COUNT(vendors); i++)
		for (int k = 0; k < RENDER_MOST; k++)
			if (vendor_of(root, RENDER_FIRST + k) == vendors[i].id)
				return vendors[i].name;
	return NULL;
}
