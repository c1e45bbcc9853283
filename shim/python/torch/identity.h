/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - decides which objects are one loader of the program, made anew for each epoch.
 *
 * One loader's objects were made at the same place (code and lines of the calls), with the same
 * classes, settings and length. Of two that exist at one time, the second was made after the first
 * was asked, and has its dataset. If the constructor was not seen, the dataset's address replaces
 * the place.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "batch/consumer.h"
#include "python/interpreter/api.h"

/* Called from the loader's constructor, below the program's frames. */
void identity_made(PyObject *loader);

bool identity_is_known(PyObject *loader);

/* Sets the numbers of loader and epoch, from 1. Needs the GIL unless both objects are NULL. */
void identity_number(struct consumer *consumer, PyObject *loader, PyObject *iterator,
		     const struct consumer_facts *facts);

/* Returns NULL if the constructor's call was not seen. */
const char *identity_made_at(PyObject *loader);

/* Returns NULL if the place is unknown, or the loader's number is past its first epoch. */
const char *identity_place(PyObject *loader);

/* Notes that the loader's iterator has ended, or is not asked any more. */
void identity_epoch_ended(const struct consumer *consumer);
