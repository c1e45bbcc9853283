/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - start the drain: a grandchild in its own session, without the host noticing.
 *
 * Not fork(): the host's atfork handlers stay out of it and no page table is copied. Not SIGCHLD
 * either: the host's handlers and wait() calls see nothing of the child in between.
 */
#ifndef SPAWN_H
#define SPAWN_H

/* Who knows the library's own path: as ld.so has it, or NULL. To read /proc for it takes a
 * millisecond and more. */
void spawn_ready(const char *(*own_path)(void));

/* 0, or -errno where dlprof-drain was not found or could not be run. */
int spawn_drain(const char *folder, const char *database);

#endif
