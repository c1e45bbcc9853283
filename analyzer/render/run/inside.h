/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - what the loads of a run consist of, by name: steps, decoders, samples and files. */
#pragma once

#include "render/form/jsonw.h"
#include "render/form/page.h"
#include "store/run/tally.h"

/* Of the whole run, whatever was judged of it. */
struct inside {
	struct tally_loads loads;
	struct tally_list steps, decoders, samples, files, folders;
	struct slow_call *slow;
	size_t slow_count;
	int64_t unlisted_file_ns;	/* a file that is not listed took no more */
	int64_t unlisted_folder_ns;
};

/* Names of the two parts that took most of the loads' time, the longest first. */
struct inside_largest {
	char name[240];
	int64_t ns;
};
bool inside_find_largest(const struct inside *inside, struct inside_largest ret[2]);
void inside_take_largest(struct inside_largest top[2], const struct inside_largest *part);

/* Whether a fifth of the loads' time or more went to decoding images. */
bool inside_decodes_images(const struct inside *inside);

/*
 * "libjpeg 47 %, RandomResizedCrop 27 %, asleep 10 %": the largest parts of the loads, as far as
 * they are a fiftieth. `facts`: what they wait for, or NULL.
 */
struct load_facts;
void inside_add_words(const struct inside *inside, const struct load_facts *facts, char *text,
		      size_t size);

/* "parts", with their shares, and "samples", the slowest, of the open object `load`. */
void inside_json_load(const struct inside *inside, struct jsonw *json);

/* The rest of the chapter "life", and "slowest". What there is nothing of leaves no trace. */
struct outline;
void inside_outline(const struct inside *inside, struct outline *outline);

/*
 * Members "steps", "decoders", "samples", "slow", "files", "folders" of the open object. The true
 * time of a file lies between time_s - error_s and time_s + files_unlisted_s; likewise of a folder.
 */
void inside_json(const struct inside *inside, struct jsonw *json);
