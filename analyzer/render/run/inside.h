/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - the parts of a run's loads by name: transforms, decoders, samples and files. */
#pragma once

#include "render/form/page.h"
#include "store/run/tally.h"

#define INSIDE_MOST_SLOW 8 /* most calls, files, folders or samples that are shown */

/* Facts about the loads of the whole run, whatever part of it is judged. */
struct inside {
	struct tally_loads loads;
	struct tally_list steps, decoders, samples, files, folders;
	struct slow_call *slow;
	size_t slow_count;
	int64_t unlisted_file_ns;	/* most time that an unlisted file may have taken */
	int64_t unlisted_folder_ns;
};

/* A part of the loads' time: a transform, a decoder with all sizes, or reading. */
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

/* The two parts that took most of the loads' time, longest first. */
struct inside_largest {
	char name[240];
	int64_t ns;
};
bool inside_find_largest(const struct inside *inside, struct inside_largest ret[2]);
void inside_take_largest(struct inside_largest top[2], const struct inside_largest *part);

/* Returns true if decoding images took a fifth of the loads' time or more. */
bool inside_decodes_images(const struct inside *inside);

/*
 * Appends the largest parts of the loads, down to a fiftieth: "libjpeg 47 %, RandomResizedCrop 27
 * %, asleep 10 %". `facts` has what loads wait for; NULL: not known.
 */
struct load_facts;
void inside_add_words(const struct inside *inside, const struct load_facts *facts, char *text,
		      size_t size);

/* Adds the rest of the chapter "life", and the chapter "slowest". Empty lists are left out. */
struct outline;
void inside_outline(const struct inside *inside, struct outline *outline);
