/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - the one line that the run's first process prints when it ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins the accounts, with the sums of the programs that this process ran before execve(). */
void summary_begin(void);

/* A training thread's time from its first next() to the end of its last step. */
struct account {
	uint64_t waited_ns;
	/* when the first batch came (0: none), and the time waited until then */
	uint64_t first_ns, first_waited_ns;
	uint64_t last_ns, last_waited_ns;   /* end of the last step, and the waits before it */
	bool stepping;			    /* the thread has a batch and does not wait */
};

/* Returns a new account for a thread, or the pool's common account. NULL: there are too many. */
struct account *summary_account(void);

/* Gives all threads one account, which goes on from `first`: they are a pool, and train in turn. */
void summary_pool(const struct account *first);

bool summary_has_pool(void);

/* Notes that the waits are perhaps not those of the training. The caller notes the reason. */
void summary_doubt(void);

/* Keeps the account for a program that execve() may start, if no other account is longer. */
void summary_keep(const struct account *account);

/* Ends the last step. Its waits for other loaders are all in the account by now. */
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

/* Counts a batch for which no wait was observed. */
void summary_count(void);

/* Prints the line. `by_gpu`: the report will use the GPU's times, which this process lacks. */
void summary_print(bool by_gpu);

/* Prints that `package` was imported, but none of its loaders was seen. NULL: prints nothing. */
void summary_print_unseen(const char *package);
