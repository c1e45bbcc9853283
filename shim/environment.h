/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - what children inherit, changed without disturbing who reads it meanwhile. */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

/* Sets NAME=value, whatever it was; `name` with the '='. 0, or -ENOMEM. */
int environment_set(const char *name, const char *value);

#endif
