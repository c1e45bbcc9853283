/* SPDX-License-Identifier: Apache-2.0 */
/* Finds GPUs that dlprof does not follow, in made-up files below a folder. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "launch/doctor/gpu.h"

static char root[] = "/tmp/dlprof-gpu-XXXXXX";

static void shell(const char *format, ...)
{
	char command[400];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	cr_assert_eq(system(command), 0);
}

static void plant(const char *vendor)
{
	shell("cd %s && mkdir -p dev/dri sys/class/drm/renderD129/device && touch "
	      "dev/dri/renderD129 &&"
	      " echo %s > sys/class/drm/renderD129/device/vendor",
	      root, vendor);
}

static void set_up(void)
{
	cr_assert(mkdtemp(root));
}

static void tear_down(void)
{
	shell("rm -rf %s", root);
}

TestSuite(launch_gpu, .init = set_up, .fini = tear_down);

Test(launch_gpu, none_and_nvidias_are_none_of_these)
{
	cr_expect_null(gpu_unfollowed(root));
	plant("0x10de");
	cr_expect_null(gpu_unfollowed(root));
}

Test(launch_gpu, amds_by_its_compute_device_or_its_vendor)
{
	plant("0x1002");
	cr_expect_str_eq(gpu_unfollowed(root), "AMD");
	shell("rm -r %s/sys && touch %s/dev/kfd", root, root);
	cr_expect_str_eq(gpu_unfollowed(root), "AMD");
}

Test(launch_gpu, intels_by_its_vendor)
{
	plant("0x8086");
	cr_expect_str_eq(gpu_unfollowed(root), "Intel");
}
