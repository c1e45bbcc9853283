/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - decides which objects are one loader of the program, made again for each epoch.
 *
 * Two objects are one loader if they were made at the same place (code and lines of the calls) or,
 * if that is not known, over one dataset, with the same classes, settings and length. If both exist
 * at once, they must have one dataset, and the first was asked before the second was made.
 */
#pragma once

#include <stdbool.h>

#include "batch/consumer.h"
#include "python/interpreter/api.h"

/* Notes where the program makes this loader. Called while the program's frames are on the stack. */
void identity_made(PyObject *loader);

/*
 * Notes where the program iterates this dataset. If the dataset that it iterated there before is
 * gone, or was iterated by Keras, this one continues the loader of that one. Needs the GIL.
 */
void identity_iterated(PyObject *dataset);

bool identity_is_known(PyObject *loader);

/* Sets consumer->loader and ->epoch, from 1. Needs the GIL unless both objects are NULL. */
void identity_number(struct consumer *consumer, PyObject *loader, PyObject *iterator,
		     const struct consumer_facts *facts);

/* Returns where the loader was made, or NULL if that was not observed. */
const char *identity_made_at(PyObject *loader);

/* Returns the loader's place in the program, but only in its first epoch; else NULL. */
const char *identity_place(PyObject *loader);

/* Notes that the loader's iterator has ended or will not be asked again. */
void identity_epoch_ended(const struct consumer *consumer);
