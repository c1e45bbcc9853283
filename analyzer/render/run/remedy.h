/* SPDX-License-Identifier: Apache-2.0 */
/* remedy.h - the words of remedies for which the run knows more than remedies.def. */
#pragma once

#include "render/run/parts.h"

#define REMEDY_MOST      0.5 /* the least share of the loads' time that is "most of it" */
#define REMEDY_FEW_FILES 0.1 /* files that take a smaller share of loads do not make them long */

/*
 * Each function writes what to do (`line`) and how to do it (`how`): it sets the pointer to a text,
 * or fills the buffer, which then has precedence. What a function leaves alone is said as in
 * remedies.def.
 */

/* remedy_loader.c: the loader's settings, and what it hands over */
void remedy_workers(const struct report *, const struct advice *, struct remedy *);
void remedy_no_workers(const struct report *, const struct advice *, struct remedy *);
void remedy_marks(const struct report *, const struct advice *, struct remedy *);
void remedy_ahead(const struct report *, const struct advice *, struct remedy *);
void remedy_starts(const struct report *, const struct advice *, struct remedy *);
void remedy_delivery(const struct report *, const struct advice *, struct remedy *);
void remedy_return_tensors(const struct report *, const struct advice *, struct remedy *);
void remedy_send_less(const struct report *, const struct advice *, struct remedy *);
void remedy_shrink(const struct report *, const struct advice *, struct remedy *);
void remedy_own_cores(const struct report *, const struct advice *, struct remedy *);
void remedy_slow_worker(const struct report *, const struct advice *, struct remedy *);

/* remedy_loads.c: what loads do */
void remedy_cpu(const struct report *, const struct advice *, struct remedy *);
void remedy_growth(const struct report *, const struct advice *, struct remedy *);
void remedy_lock(const struct report *, const struct advice *, struct remedy *);
void remedy_inspect_loads(const struct report *, const struct advice *, struct remedy *);
void remedy_decoding(const struct report *, const struct advice *, struct remedy *);
void remedy_decode_fewer(const struct report *, const struct advice *, struct remedy *);
void remedy_index(const struct report *, const struct advice *, struct remedy *);
void remedy_samples(const struct report *, const struct advice *, struct remedy *);

/* remedy_files.c: files and servers from which loads have their data */
void remedy_keep_open(const struct report *, const struct advice *, struct remedy *);
void remedy_read_less(const struct report *, const struct advice *, struct remedy *);
void remedy_split(const struct report *, const struct advice *, struct remedy *);
void remedy_shards(const struct report *, const struct advice *, struct remedy *);
void remedy_event(const struct report *, const struct advice *, struct remedy *);
void remedy_requests(const struct report *, const struct advice *, struct remedy *);
void remedy_helper(const struct report *, const struct advice *, struct remedy *);

/* remedy_training.c: what the training's own thread does */
void remedy_sampler(const struct report *, const struct advice *, struct remedy *);
void remedy_receiving(const struct report *, const struct advice *, struct remedy *);
void remedy_pauses(const struct report *, const struct advice *, struct remedy *);
void remedy_other_thread(const struct report *, const struct advice *, struct remedy *);
void remedy_step(const struct report *, const struct advice *, struct remedy *);
