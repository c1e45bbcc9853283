/* SPDX-License-Identifier: Apache-2.0 */
/* remedy_format.c - says how to read and decode less, by the format of what is read and decoded. */
#include "render/run/remedy.h"

#include <string.h>

#include "analysis/cause/grounds.h"

/*
 * What to say if a decoder of this format takes most of the decoding: `less` is how to read less,
 * `line` and `how` how to decode less, or `again` and `fewer` if most pixels are unused.
 */
struct medium {
	const char *format, *less, *line, *how, *again, *fewer;
};

#define PART_OF_AUDIO                                                                              \
	"soundfile.read(..., start=, frames=), torchaudio.load(..., frame_offset=, num_frames=)"

static const struct medium media[] = {
	{"audio", "Read only the part that is used: " PART_OF_AUDIO ".",
	 "Decode less audio, or store it in a format that needs no decoding.",
	 "Where a part is used, read only that: " PART_OF_AUDIO "; or store WAV, or arrays (.npy).",
	 NULL, NULL},
	{"video", NULL, NULL,
	 "Store videos at the size and frame rate that are used, or decode on the GPU (NVDEC, "
	 "DALI).",
	 "Decode fewer frames: only those that are used.",
	 "Of single frames from all over a video, seek to each and store more key frames (ffmpeg "
	 "-g 10); of a clip, seek once and read on; of clips that overlap, keep the frames that "
	 "they share."},
};

/* How to read less of some files, by the ends of their names. */
static const struct {
	const char *end;
	bool is_inflated;
	const char *less;
} formats[] = {
#define DATABASE                                                                                   \
	"Ask by primary key or index, not by OFFSET or an unindexed column: EXPLAIN QUERY PLAN "   \
	"must not say SCAN."
	{".sqlite", false, DATABASE},
	{".sqlite3", false, DATABASE},
	{".db3", false, DATABASE},
#define ARRAY                                                                                      \
	"Store smaller types (int16, uint8, float16) and pieces near the size that is used; map "  \
	"a large file (mmap_mode='r') and index only what is used."
	{".npy", false, ARRAY},
	{".pt", false, ARRAY},
	{".bin", false, ARRAY},
	{".raw", false, ARRAY},
#define STREAM                                                                                     \
	"A compressed file is read from its start: unpack the files once, or keep what a sample "  \
	"needs in a file of its own."
	{".gz", true, STREAM},
	{".xz", true, STREAM},
	{".bz2", true, STREAM},
};

/* Returns what to say of the format that takes most of the decoding; NULL: nothing special. */
static const struct medium *medium_of(const struct inside *inside)
{
	const struct tally *most = NULL;

	for (size_t i = 0; i < inside->decoders.count; i++)
		if (!most || inside->decoders.items[i].ns > most->ns)
			most = &inside->decoders.items[i];
	for (size_t i = 0; most && i < ARRAY_COUNT(media); i++)
		if (strcmp(media[i].format, most->detail) == 0)
			return &media[i];
	return NULL;
}

/* Returns how to read less of the file that takes most time; NULL: unknown for its format. */
static const char *less_of_format(const struct inside *inside, bool is_inflated)
{
	const struct tally *file = inside->files.count ? &inside->files.items[0] : NULL;
	const char *end = file ? strrchr(file->name, '.') : NULL;

	for (size_t i = 0; end && i < ARRAY_COUNT(formats); i++)
		if (formats[i].is_inflated == is_inflated && strcmp(formats[i].end, end) == 0)
			return formats[i].less;
	return NULL;
}

void remedy_read_less(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const struct load_facts *facts = report->diagnosis.grounds.facts;
	const struct medium *medium = medium_of(&report->inside);
	const struct grounds *r = &report->diagnosis.grounds;
	const bool is_received = grounds_is_received(r);
	const bool is_inflated = facts->inflated_per_byte > facts->read_per_byte;
	const char *how = medium && medium->less ? medium->less
						 : less_of_format(&report->inside, is_inflated);

	if (is_received)
		how = "Ask the server for the bytes of a sample alone, and read less ahead "
		      "(fsspec: a small block_size, or cache_type=\"none\").";
	else if (!how)
		how = ret->how;
	remedy_how(ret, "%s bytes are %s for each byte of a batch. %s", UNITS_RATE(r->read_again),
		   is_received   ? "received" : is_inflated ? "inflated" : "read", how);
}

void remedy_decoding(const struct report *report, const struct advice *advice, struct remedy *ret)
{
	const struct medium *medium = medium_of(&report->inside);
	const struct grounds *r = &report->diagnosis.grounds;
	const bool is_again = r->decoded_again >= GROUNDS_READ_AGAIN;
	const bool has_images = inside_decodes_images(&report->inside);
	const char *how = NULL;

	if (is_again && medium && medium->again) {
		ret->line = medium->again;
		how = medium->fewer;
	} else if (medium) {
		ret->line = medium->line ? medium->line : ret->line;
		how = medium->how;
	} else if (is_again) {
		how = "Store images, or pieces to crop from, near the size that is used; if they "
		      "are resized, decode them smaller (Pillow's draft()).";
	} else if (!has_images) {
		how = "Use a faster codec (LZ4, zstd), larger pieces, or keep the data as it is.";
	}
	if (!medium && !has_images)
		ret->line = "Decompress less, or with a faster codec.";
	if (is_again && medium && medium->again && r->facts->images_per_sample >= 2)
		remedy_how(ret, "%s frames are decoded for each sample. ",
			   UNITS_RATE(r->facts->images_per_sample));
	else if (is_again)
		remedy_how(ret, "%s bytes of pixels are decoded for each byte of a batch. ",
			   UNITS_RATE(r->decoded_again));
	if (how)
		remedy_how(ret, "%s", how);
}
