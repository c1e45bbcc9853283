/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - the one line that the run's first process prints when it ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins this process's accounts, with the sums of its earlier programs. */
void summary_begin(void);

/*
 * How long a training thread waited, counted from the return of its first next() to the end of its
 * last step, as the report does. Only that thread writes its account.
 */
struct account {
	uint64_t waited_ns;		    /* sum of the thread's outermost waits */
	/* when its first batch came (0: none), and its waits before that */
	uint64_t first_ns, first_waited_ns;
	uint64_t last_ns, last_waited_ns;   /* end of its last step, and its waits before that */
	bool stepping;			    /* the thread has a batch and does not wait */
};

/* Returns an account for a thread that waits for the first time, or NULL if there are too many. */
struct account *summary_account(void);

/*
 * Gives all threads one account, which continues `first`: the main thread lets a pool ask for
 * batches, and its threads take turns.
 */
void summary_pool(const struct account *first);

/* Returns true if all threads share one account: see summary_pool(). */
bool summary_has_pool(void);

/* Notes that the waits may not be the training's; the caller adds a note that says why. */
void summary_doubt(void);

/* Stores the account for the program that exec() puts in our place, if none stored is longer. */
void summary_keep(const struct account *account);

/*
 * Notes that a wait begins, which ends the last batch's step. The account takes over waits only at
 * the end of a step.
 */
static inline void summary_wait_begin(struct account *account, uint64_t begin_ns)
{
	if (!account || !account->stepping)
		return;
	account->stepping = false;
	account->last_ns = begin_ns;
	account->last_waited_ns = account->waited_ns;
	summary_keep(account);
}

/* Notes that a wait ended with a batch. */
void summary_batch(struct account *account, uint64_t end_ns);

/* Counts a batch for which no wait was observed. */
void summary_count(void);

/*
 * Prints the line on stderr, or why nothing was recorded; only the run's first process prints.
 * `by_gpu`: the report will use the GPU's clock, which is not known here.
 */
void summary_print(bool by_gpu);

/* If nothing was recorded, prints that `package` (NULL: none) was imported, but no loader seen. */
void summary_print_unseen(const char *package);
