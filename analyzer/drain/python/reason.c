/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/python/reason.h"

#include <errno.h>

static const char *const texts[] = {
	[REASON_OBSERVED] = "they are observed",
	[REASON_GONE] = "the process has ended",
	[REASON_DENIED] = "the kernel does not permit reading the memory of the process",
	[REASON_NO_CALL] = "this system has no process_vm_readv()",
	[REASON_NO_FILE] = "the file of the interpreter cannot be read",
	[REASON_NO_PYTHON] = "the program is not CPython",
	[REASON_32_BIT] = "the program is a 32-bit one",
	[REASON_VERSION] = "this version of CPython is not known",
	[REASON_PROCESSOR] = "this version of CPython is known on x86-64 only",
	[REASON_FREE_THREADED] = "this CPython is a free-threaded build",
	[REASON_NOT_READY] = "the interpreter has not started yet, or has ended",
	[REASON_STRANGE] = "the memory of the interpreter is not that of a plain CPython",
	[REASON_NO_MEMORY] = "out of memory",
};

const char *reason_text(enum reason reason)
{
	return texts[reason];
}

enum reason reason_of(int error)
{
	switch (error) {
	case 0:
		return REASON_OBSERVED;
	case -EPERM:
	case -EACCES:
		return REASON_DENIED;
	case -ENOSYS:
		return REASON_NO_CALL;
	case -ENOMEM:
		return REASON_NO_MEMORY;
	case -ESRCH:
	case -ENOENT:
		return REASON_GONE;
	default:
		return REASON_NOT_READY;
	}
}
