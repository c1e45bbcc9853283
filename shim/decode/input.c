/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/input.h"

#include <errno.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/sys.h"

/* Reads the host's memory by a system call, as it may be unmapped by now. */
static bool peek(const void *from, void *value, size_t size)
{
	struct iovec to = {value, size}, where = {(void *)from, size};

	return sys_call6(SYS_process_vm_readv, sys_getpid(), (long)&to, 1, (long)&where, 1, 0) ==
	       (long)size;
}

static bool is_read_request(const char *request)
{
	const int16_t read_one = 0, read_many = 7;
	int16_t opcode;

	return request && peek(request + 16, &opcode, sizeof(opcode)) &&
	       (opcode == read_one || opcode == read_many);
}

/* Times the submission of reads: cached data, and files without O_DIRECT, are read in it. */
void input_submit_end(struct unit *unit, const void *requests, int count)
{
	const void *first;

	if (count > 0 && peek(requests, &first, sizeof(first)) && is_read_request(first))
		unit_end(unit, (struct unit_result){0});
	else
		span_cancel(&unit->span);
}

void input_aio_end(struct unit *unit, const void *events, int count)
{
	struct unit_result result = {.failed = count < 0 && count != -EINTR};
	bool reads = false;

	for (int i = 0; i < count; i++) {
		const char *event = (const char *)events + 32 * i;
		int64_t size = FIELD(int64_t, event, 16);

		if (!is_read_request(FIELD(const void *, event, 8)))
			continue;
		reads = true;
		result.bytes += size > 0 ? (uint64_t)size : 0;
	}
	result.counted = reads;
	if (reads || count <= 0)
		unit_end(unit, result);
	else
		span_cancel(&unit->span);
}

/* Counts the bytes of all requests if cuFile accepts the batch. */
void input_cufile_end(struct unit *unit, const void *requests, unsigned int count, bool done)
{
	struct unit_result result = {.counted = done, .failed = !done};
	bool reads = false;

	for (unsigned int i = 0; i < count; i++) {
		const char *request = (const char *)requests + 64 * (size_t)i;

		if (FIELD(uint32_t, request, 48) != 0)
			continue;
		reads = true;
		result.bytes += done ? FIELD(size_t, request, 32) : 0;
	}
	if (reads)
		unit_end(unit, result);
	else
		span_cancel(&unit->span);
}

/* Counts no bytes, which only the caller's ring knows. */
void input_uring_end(struct unit *unit, int status)
{
	bool in_vain = status == -EAGAIN || status == -ETIME || status == -EINTR;

	unit_end(unit,
		 (struct unit_result){.counted = status >= 0, .failed = status < 0 && !in_vain});
}
