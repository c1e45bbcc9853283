/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfdata.h - batches that a graph of TensorFlow's fetches, as Keras' fit() does, past Python.
 *
 * TensorFlow counts for its own statistics how long each of its iterators was asked for an element.
 * It does so by two calls from one of its libraries into another, on the thread that waited, and
 * just then: first the microseconds, then the bytes, 0 if there was no element any more.
 */
#ifndef TFDATA_H
#define TFDATA_H

#include <stdint.h>

/* An iterator over `dataset` was made: begin to record. With the GIL. */
void tfdata_made(const void *dataset);

/* A loader that is followed in Python is asked, or was: what it asks for in turn is its own affair.
 */
void tfdata_hold(void);
void tfdata_release(void);

/* The two calls. */
void tfdata_waited(uint64_t wait_us);
void tfdata_fetched(int64_t bytes);

#endif
