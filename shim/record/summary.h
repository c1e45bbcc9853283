/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - the one line that the run's first process prints when it ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins the accounts, with the sums of this process's earlier programs. */
void summary_begin(void);

/* A training thread's time from its first next() to the end of its last step. */
struct account {
	uint64_t waited_ns;
	/* when the first batch came (0: none), and the time waited until then */
	uint64_t first_ns, first_waited_ns;
	uint64_t last_ns, last_waited_ns;   /* end of the last step, and the waits before it */
	bool stepping;			    /* the thread has a batch and does not wait */
};

/* Returns a thread's new account, or a pool's common one; NULL if there are too many. */
struct account *summary_account(void);

/* Gives all threads one account, which goes on from `first`, as threads of a pool take turns. */
void summary_pool(const struct account *first);

bool summary_has_pool(void);

/* Notes that these waits may not be waits of the training; the caller says why. */
void summary_doubt(void);

/* Keeps the account, if it is the longest one, for the program that execve() may start. */
void summary_keep(const struct account *account);

/* Ends the last batch's step. Only now are the waits within that step in the account. */
static inline void summary_wait_begin(struct account *account, uint64_t begin_ns)
{
	if (!account || !account->stepping)
		return;
	account->stepping = false;
	account->last_ns = begin_ns;
	account->last_waited_ns = account->waited_ns;
	summary_keep(account);
}

void summary_batch(struct account *account, uint64_t end_ns);

/* Counts a batch whose wait was not observed. */
void summary_count(void);

/* Prints the line. `by_gpu`: the report will use the GPU's clock, which is not known here. */
void summary_print(bool by_gpu);

/* Prints that `package`, which has loaders, was imported, but none was seen. NULL: no line. */
void summary_print_unseen(const char *package);
