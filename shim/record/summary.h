/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - the one line that the recording root prints when it ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The process begins to record: with the account of the programs that it was before. */
void summary_begin(void);

/*
 * What a thread that trains waited, from the return of its first next() to the end of its last
 * step: the report's account. Only that thread writes it.
 */
struct account {
	uint64_t waited_ns;		    /* in outermost waits, in all */
	uint64_t first_ns, first_waited_ns; /* when its first batch had come; 0: none has */
	uint64_t last_ns, last_waited_ns;   /* when its last step had ended */
	bool stepping;			    /* it has a batch, and no wait has begun since */
};

/* A new one, for a thread that waits for the first time; NULL: there are too many. */
struct account *summary_account(void);

/*
 * The process has a pool whose threads take turns to ask, in the name of the main thread: from now
 * on all threads have one account, which goes on from that of the first which asked.
 */
void summary_pool(const struct account *first);

/* Whether there is one. */
bool summary_has_pool(void);

/* It cannot be known whose waits these are, as a note says. */
void summary_doubt(void);

/* Keeps it for the program that this process may become, if it is the longest. */
void summary_keep(const struct account *account);

/* A wait begins, which ends the step of the last batch: the waits after it count once another step
 * is behind them. */
static inline void summary_wait_begin(struct account *account, uint64_t begin_ns)
{
	if (!account || !account->stepping)
		return;
	account->stepping = false;
	account->last_ns = begin_ns;
	account->last_waited_ns = account->waited_ns;
	summary_keep(account);
}

/* A wait ended with a batch. */
void summary_batch(struct account *account, uint64_t end_ns);

/* A batch whose wait is not known. */
void summary_count(void);

/*
 * Prints the line on stderr, or why nothing was recorded; nothing in other processes. `by_gpu`: the
 * report goes by the GPU's clock, which is not known here.
 */
void summary_print(bool by_gpu);

/*
 * Instead, where nothing began to record: that this package was imported and no loader was seen.
 * NULL: none was, and there is nothing to say.
 */
void summary_print_unseen(const char *package);
