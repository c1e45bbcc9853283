/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - the parts of a run's loads by name: steps, decoders, samples and files. */
#pragma once

#include "render/form/page.h"
#include "store/run/tally.h"

#define INSIDE_MOST_SLOW 8 /* of a kind, that are shown */

/* Facts about the whole run, whatever part was judged. */
struct inside {
	struct tally_loads loads;
	struct tally_list steps, decoders, samples, files, folders;
	struct slow_call *slow;
	size_t slow_count;
	int64_t unlisted_file_ns;	/* the most that an unlisted file took */
	int64_t unlisted_folder_ns;
};

/* A line for a part of the loads' time: a step, a decoder with all sizes, or reading. */
struct inside_part {
	char name[240];
	const char *what;
	int64_t count;
	int64_t ns;
};

struct inside_parts {
	struct inside_part *items; /* longest first; to be freed; NULL: no memory */
	size_t count;
};
struct inside_parts inside_parts(const struct inside *inside);

/* Names of the two parts that took most of the loads' time, longest first. */
struct inside_largest {
	char name[240];
	int64_t ns;
};
bool inside_find_largest(const struct inside *inside, struct inside_largest ret[2]);
void inside_take_largest(struct inside_largest top[2], const struct inside_largest *part);

/* Whether decoding images took a fifth of the loads' time or more. */
bool inside_decodes_images(const struct inside *inside);

/*
 * Appends "libjpeg 47 %, RandomResizedCrop 27 %, asleep 10 %": the largest parts of the loads, down
 * to a fiftieth. `facts`: what they wait for, or NULL.
 */
struct load_facts;
void inside_add_words(const struct inside *inside, const struct load_facts *facts, char *text,
		      size_t size);

/* Adds the rest of the chapter "life", and "slowest". Empty lists are left out. */
struct outline;
void inside_outline(const struct inside *inside, struct outline *outline);
