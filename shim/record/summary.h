/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - the one line that the run's first process prints when it ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins the sums of waits, with those of this process's earlier programs. */
void summary_begin(void);

/*
 * How long a training thread waited, from the return of its first next() to the end of its last
 * step, as in the report's account. Only that thread writes its account.
 */
struct account {
	uint64_t waited_ns;		    /* sum of its outermost waits */
	/* when its first batch came (0: none), and its waits by then */
	uint64_t first_ns, first_waited_ns;
	uint64_t last_ns, last_waited_ns;   /* end of its last step, and its waits by then */
	bool stepping;			    /* it has a batch, and no wait has begun since */
};

/* Returns an account for a thread that waits for the first time; NULL: there are too many. */
struct account *summary_account(void);

/*
 * Gives all threads one account, which continues `first`: the process has a pool whose threads take
 * turns to ask for the main thread.
 */
void summary_pool(const struct account *first);

/* Whether all threads share one account: see summary_pool(). */
bool summary_has_pool(void);

/* Notes that the waits may be another thread's, as a note says. */
void summary_doubt(void);

/* Stores the account for this process's next program, if it is the longest. */
void summary_keep(const struct account *account);

/*
 * Notes that a wait begins, which ends the last batch's step. Later waits count when another step
 * has ended.
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

/* Counts a batch whose wait is not known. */
void summary_count(void);

/*
 * Prints the line on stderr, or why nothing was recorded; in other processes, nothing. `by_gpu`:
 * the report goes by the GPU's clock, which is not known here.
 */
void summary_print(bool by_gpu);

/*
 * Prints, if nothing began to record, that this package was imported and no loader was seen. Prints
 * nothing if `package` is NULL.
 */
void summary_print_unseen(const char *package);
