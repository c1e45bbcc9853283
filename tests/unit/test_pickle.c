/* SPDX-License-Identifier: Apache-2.0 */
/* The first bytes of messages, as pickle.dumps() of CPython 3.7 and 3.11 made them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "python/pipes.h"

/* At the end of a page, so that a byte too many is a fault. */
static enum pipes_message parse(const char *bytes, size_t size, uint32_t *number)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	enum pipes_message message;

	cr_assert_neq(map, MAP_FAILED);
	cr_assert_eq(mprotect(map + page, page, PROT_NONE), 0);
	memcpy(map + page - size, bytes, size);
	*number = 4711;
	message = pipes_parse(map + page - size, size, number);
	munmap(map, 2 * page);
	return message;
}

#define EXPECT(bytes, message, expected)                                                           \
	do {                                                                                       \
		uint32_t number;                                                                   \
		cr_expect_eq(parse(bytes, sizeof(bytes) - 1, &number), message, "%s", #bytes);     \
		cr_expect_eq(number, expected, "%s: %u", #bytes, number);                          \
	} while (0)

#define FRAME "\x80\x04\x95\x0b\0\0\0\0\0\0\0"

Test(pickle, knows_what_a_loader_asks_for)
{
	EXPECT(FRAME "K\x07]\x94(K\x07K\x08" "e\x86\x94.", PIPES_INDEX, 7);
	EXPECT(FRAME "M\x2c\x01]\x94K\x09" "a\x86\x94.", PIPES_INDEX, 300);
	EXPECT(FRAME "J\x70\x11\x01\0]\x94K\x09" "a\x86\x94.", PIPES_INDEX, 70000);
	EXPECT(FRAME "K\x02K\x05\x86\x94.", PIPES_INDEX, 2);
	EXPECT("\x80\x03K\x02]q\0(K\x05K\x06" "e\x86q\x01.", PIPES_INDEX, 2);
	EXPECT("\x80\x05\x95\x0b\0\0\0\0\0\0\0K\x02]\x94", PIPES_INDEX, 2);
}

Test(pickle, knows_a_result_and_an_end)
{
	EXPECT(FRAME "K\x07}\x94\x8c\x05", PIPES_NUMBER, 7);
	EXPECT(FRAME "K\x07\x8c#torch.utils.data._utils.worker\x94\x8c\x1d"
		     "_IterableDatasetStopIteration\x94", PIPES_PASSED, 7);
	EXPECT("\x80\x04N.", PIPES_NONE, 4711);
	EXPECT("\x80\x03N.", PIPES_NONE, 4711);
}

Test(pickle, takes_nothing_else_for_one)
{
	EXPECT("", PIPES_OTHER, 4711);
	EXPECT("\x80\x04K", PIPES_OTHER, 4711);
	EXPECT("\x80\x04K\x07", PIPES_OTHER, 7);
	EXPECT("\x80\x01K\x07]q\0", PIPES_OTHER, 4711);
	EXPECT("\x80\x04J\xff\xff\xff\xff]\x94", PIPES_OTHER, 4711);	/* -1 */
	EXPECT(FRAME "\x8c\x04word\x94.", PIPES_OTHER, 4711);
	EXPECT(FRAME "(K\x01K\x02K\0t\x94.", PIPES_OTHER, 4711);	/* a Pool's task */
	EXPECT("GET / HTTP/1.1", PIPES_OTHER, 4711);
}

Test(pickle, reads_no_byte_too_many)
{
	static const char whole[] = FRAME "J\x70\x11\x01\0]\x94K\x09" "a\x86\x94.";
	uint32_t number;

	for (size_t size = 0; size < sizeof(whole); size++)
		parse(whole, size, &number);
	for (size_t size = 0; size < 8; size++)
		parse("\x80\x03K\x02K\x05\x86q", size, &number);
	for (size_t size = 0; size < 8; size++)
		parse("\x80\x04\x95\x01\0\0\0\0\0\0", size, &number);
}
