/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>

void doctor_say(struct doctor *doctor, enum doctor_status status, const char *id, const char *fix,
		const char *format, ...)
{
	struct doctor_check *check = &doctor->list[doctor->count];
	va_list args;

	if (doctor->count == DOCTOR_MOST)
		return;
	doctor->count++;
	check->status = status;
	check->id = id;
	check->fix = status == DOCTOR_OK ? "" : fix;
	va_start(args, format);
	vsnprintf(check->text, sizeof(check->text), format, args);
	va_end(args);
}
