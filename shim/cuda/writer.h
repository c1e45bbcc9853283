/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - the only thread of ours in the host, once CUPTI works: it fetches CUPTI's records,
 * sends them to the drain, and takes CUPTI back when another user is done with it.
 */
#pragma once

/* Starts the thread. Returns 0, or the error of pthread_create(). */
int writer_start(void);

/* Fetches what CUPTI still has, for two seconds at most, when the process ends. */
void writer_finish(void);
