/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/python/reason.h"

#include <errno.h>

static const char *const texts[] = {
#define X(id, text) text,
	REASONS(X)
#undef X
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
