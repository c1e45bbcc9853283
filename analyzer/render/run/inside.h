/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - shows the parts of a run's loads: transforms, decoders, samples and files. */
#pragma once

#include "render/form/page.h"
#include "store/run/tally.h"

#define INSIDE_MOST_SLOW 8 /* largest number of calls, files, folders or samples shown */

/* Facts about all loads of the run, even if only a part of it is judged. */
struct inside {
	struct tally_loads loads;
	struct tally_list steps, decoders, samples, files, folders;
	struct slow_call *slow;
	size_t slow_count;
	int64_t unlisted_file_ns;	/* no unlisted file took longer than this */
	int64_t unlisted_folder_ns;
};

/* A part of the loads' time: a transform, a decoder (all sizes together), or reading. */
struct inside_part {
	char name[240];
	const char *what;
	int64_t count;
	int64_t ns;
};

struct inside_parts {
	struct inside_part *items; /* longest first; the caller frees the list; NULL: no memory */
	size_t count;
};
struct inside_parts inside_parts(const struct inside *inside);

/* One of the two parts with the most of the loads' time. */
struct inside_largest {
	char name[240];
	int64_t ns;
};
bool inside_find_largest(const struct inside *inside, struct inside_largest ret[2]);
void inside_take_largest(struct inside_largest top[2], const struct inside_largest *part);

/* Returns true if decoding images took at least a fifth of the loads' time. */
bool inside_decodes_images(const struct inside *inside);

/*
 * Appends the largest parts of the loads, if above a fiftieth: "libjpeg 47 %, RandomResizedCrop 27
 * %, asleep 10 %". `facts` says what loads wait for; NULL: not known.
 */
struct load_facts;
void inside_add_words(const struct inside *inside, const struct load_facts *facts, char *text,
		      size_t size);

/* Adds items to the chapter "life", and the chapter "slowest". Empty lists are left out. */
struct outline;
void inside_outline(const struct inside *inside, struct outline *outline);
