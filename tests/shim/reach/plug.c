/* SPDX-License-Identifier: Apache-2.0 */
/* plug.c - loads a library that only its own RUNPATH leads to. */
#include <dlfcn.h>

int plug(void);
int plug(void)
{
	void *handle = dlopen("libonly.so", RTLD_NOW);
	int (*copy)(void) = handle ? (int (*)(void))dlsym(handle, "fake_copy") : 0;

	return copy ? copy() : -1;
}
