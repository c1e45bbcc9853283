/* SPDX-License-Identifier: Apache-2.0 */
#include "record/activate.h"

#include <sys/mman.h>

static const volatile uint32_t cell_off;
const volatile uint32_t *activate_cell HOT_DATA = &cell_off;

bool activate_unwiped HOT_DATA = false;
volatile bool activate_shares HOT_DATA = false;

static volatile uint32_t *cell_page;
static int cell_pid;

int activate_prepare(void)
{
	void *page;

	if (cell_page)
		return 0;
	page = sys_mmap(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (sys_mmap_failed(page))
		return (int)(long)page;
	activate_unwiped = sys_call3(SYS_madvise, page, 4096, MADV_WIPEONFORK) < 0;
	cell_page = page;
	return 0;
}

/* Stops the recording in a child of fork(). libc calls this, but not in a vfork child. */
void activate_forked(void)
{
	activate_shares = false;
	if (activate_unwiped)
		*cell_page = 0;
}

bool activate_is_own(void)
{
	return cell_pid == sys_getpid();
}

void activate_set(uint32_t life)
{
	cell_pid = sys_getpid();
	__atomic_store_n(cell_page, life, __ATOMIC_RELEASE);
	__atomic_store_n(&activate_cell, cell_page, __ATOMIC_RELEASE);
}
