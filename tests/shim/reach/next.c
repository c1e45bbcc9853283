/* SPDX-License-Identifier: Apache-2.0 */
/* next.c - replaces a libc function and finds libc's by RTLD_NEXT, which depends on the caller. */
#include <dlfcn.h>
#include <unistd.h>

pid_t getppid(void)
{
	pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "getppid");

	return next == getppid ? -1 : -next();
}
