/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - decides which objects are one loader of the program, made again for each epoch.
 *
 * Objects are one loader if made at one place (code and lines of the calls) or, if that was not
 * observed, over one dataset, with the same classes, settings and length. If two exist at once, the
 * first must have been asked before the second was made, and both must have the same dataset.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "batch/consumer.h"
#include "python/interpreter/api.h"

/* Notes a new loader's place in the program. Called below the program's frames. */
void identity_made(PyObject *loader);

bool identity_is_known(PyObject *loader);

/* Sets consumer->loader and ->epoch, from 1. Needs the GIL unless both objects are NULL. */
void identity_number(struct consumer *consumer, PyObject *loader, PyObject *iterator,
		     const struct consumer_facts *facts);

/* Returns where the loader was made, or NULL if that was not observed. */
const char *identity_made_at(PyObject *loader);

/* In its first epoch, returns the loader's place in the program, if known, else NULL. */
const char *identity_place(PyObject *loader);

/* Called when the loader's iterator has ended or will not be asked again. */
void identity_epoch_ended(const struct consumer *consumer);
