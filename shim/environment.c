/* SPDX-License-Identifier: Apache-2.0 */
#include "environment.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "sys.h"

extern char **environ;

/*
 * setenv() may free the array that another thread's getenv() is walking, so a new array goes into
 * place with one store and the old one stays as it is.
 */
int environment_set(const char *name, const char *value)
{
	size_t count = 0, size, length = strlen(name);
	size_t kept = 0;
	char **copy, *entry;

	while (environ && environ[count])
		count++;
	size = (count + 2) * sizeof(char *) + length + strlen(value) + 1;
	copy = sys_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (sys_mmap_failed(copy))
		return -ENOMEM;
	entry = (char *)(copy + count + 2);
	memcpy(entry, name, length);
	strcpy(entry + length, value);
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], name, length) != 0)
			copy[kept++] = environ[i];
	copy[kept++] = entry;
	copy[kept] = NULL;
	__atomic_store_n(&environ, copy, __ATOMIC_RELEASE);
	return 0;
}
