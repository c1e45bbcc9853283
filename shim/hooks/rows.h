/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - which of an image's rows to time: of libjpeg's 8 or 16 calls all but one only hand out
 * what that one decoded, take as long in every image of this size, and are shorter than the clock.
 *
 * Once all calls from one long row to the next were timed, and their caller was seen to come back
 * at once, the short ones but the last two of each such period pass untimed. They get the time
 * between the timed ones before and after them, less what the caller takes, in the ratio that was
 * measured.
 *
 * Where the next long row is not where it should be, all are timed again until a period is known;
 * so they are when the passed ones took twice as long as they should. Then somebody else had the
 * processor, which strikes decoder and caller alike, or the caller worked, as far as such times
 * have been seen lately: that is not the decoder's.
 */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "thread.h"

/* Another call for a row of the image: true: not to be timed. */
static inline bool rows_pass(struct thread_rows *rows)
{
	if (!rows->left)
		return false;
	rows->left--;
	return true;
}

/* A call that is timed begins now; ticks that are the decoder's, of those that passed. */
uint64_t rows_begin(struct thread_rows *rows, uint64_t now_ticks);

/* It is over and took so long. */
void rows_end(struct thread_rows *rows, uint64_t now_ticks, uint64_t ticks);

/* What comes next is no row of this image, as far as is known; as rows_begin(). */
uint64_t rows_leave(struct thread_rows *rows);

#endif
