/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - finds out which loader of the program a loader object is.
 *
 * A program that makes a new DataLoader for each epoch means one loader. Two objects are one loader
 * if they are made at the same place in the program (code and lines of the calls that lead there)
 * with the same classes, settings and length, one after the other. If the program holds both at one
 * time, they differ if the second was made before the first was asked, or if their datasets differ.
 * If the constructor was not seen, the dataset's address replaces the place.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "batch/consumer.h"
#include "python/interpreter/api.h"

/* Notes where a loader is made. Called from its constructor, with the program's frames above. */
void identity_made(PyObject *loader);

/* Returns true if this very object has a number. */
bool identity_is_known(PyObject *loader);

/*
 * Sets `consumer`'s numbers of the loader, from 1, and of the epoch. Needs the GIL only for the two
 * objects, which may be NULL.
 */
void identity_number(struct consumer *consumer, PyObject *loader, PyObject *iterator,
		     const struct consumer_facts *facts);

/* Returns where the loader's constructor was called, or NULL if it was not seen. */
const char *identity_made_at(PyObject *loader);

/* Returns where a loader was made; NULL if that is unknown, or its number is in a later epoch. */
const char *identity_place(PyObject *loader);

/* Notes that the loader's iterator has ended, or is not asked any more. */
void identity_epoch_ended(const struct consumer *consumer);
