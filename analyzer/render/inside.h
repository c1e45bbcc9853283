/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - what the loads of a run consist of, by name: steps, decoders, samples and files. */
#ifndef INSIDE_H
#define INSIDE_H

#include "render/jsonw.h"
#include "render/page.h"
#include "store/tally.h"

/* Of the whole run, whatever was judged of it. */
struct inside {
	struct tally_loads loads;
	struct tally_list steps, decoders, samples, files, folders;
	struct slow_call *slow;
	size_t slow_count;
	int64_t unlisted_file_ns;	/* a file that is not listed took no more */
	int64_t unlisted_folder_ns;
};

/* One line of where the time went: a step, a decoder with all its sizes, or reading. */
struct inside_part {
	char name[240];
	const char *what;
	int64_t count;
	int64_t ns;
};

struct inside_parts {
	struct inside_part *items; /* the longest first; NULL: no memory */
	size_t count;
};

/* Everything that was timed by itself in the loads; `items` is to be freed. */
struct inside_parts inside_parts(const struct inside *inside);

/* "JPEG, libjpeg". */
void inside_decoder_name(const struct tally *decoder, char *name, size_t size);

/* Sections of the report; what there is nothing of leaves no trace. */
void inside_text(const struct inside *inside, const struct page *page);

/*
 * Members "steps", "decoders", "samples", "slow", "files", "folders" of the open object. The true
 * time of a file lies between time_s - error_s and time_s + files_unlisted_s; likewise of a folder.
 */
void inside_json(const struct inside *inside, struct jsonw *json);

#endif
