/* SPDX-License-Identifier: Apache-2.0 */
#include "render/form/verdict.h"

#include <math.h>
#include <stdio.h>

#include "dlprof/units.h"
#include "render/form/units.h"

static const struct verdict VERDICTS[] = {
	[STALL_VERDICT_INCOMPLETE] = {"INCOMPLETE", "?", "?", PAGE_BOLD},
	[STALL_VERDICT_NOT] = {"NOT INPUT-BOUND", "not", "✓", PAGE_GREEN},
	[STALL_VERDICT_MODERATELY] = {"MODERATELY INPUT-BOUND", "moderately", "▲", PAGE_YELLOW},
	[STALL_VERDICT_HIGHLY] = {"HIGHLY INPUT-BOUND", "highly", "■", PAGE_RED},
	[STALL_VERDICT_IN_DOUBT] = {"IN DOUBT", "in doubt", "?", PAGE_BOLD},
};

const struct verdict_gap verdict_gaps[STALL_GAP_MAX] = {
	[STALL_GAP_NONE] = {"", ""},
	[STALL_GAP_NO_BATCHES] =
		{"no batch was seen",
		 "The program made no iterator of a loader that dlprof knows, or "
		 "ended before its first batch. `dlprof doctor` says what would "
		 "be seen; DLPROF_BATCH_FN or dlprof.h name a loader of your own."},
	[STALL_GAP_WAIT] = {"only how long the steps took is known, not how much of it was waiting",
			    "Record the training with dlprof, or log the waits too."},
	[STALL_GAP_COMPUTE] = {"the time between batches was not observed",
			       "Record the training with dlprof, or log the steps too."},
	[STALL_GAP_FEW_BATCHES] = {"too few batches", "Let it run longer."},
	[STALL_GAP_LOSS] = {"too many of the run's records were lost to judge by the rest",
			    "DLPROF_DETAIL=batches records less, and loses less."},
	[STALL_GAP_ASYNCHRONOUS] =
		{"the training does not wait for its GPU, whose idle time was not observed",
		 "Its waits need not mean that the GPU is idle. Record with CUPTI: `dlprof doctor` "
		 "says what is missing."},
};

const struct verdict *verdict_of(enum stall_verdict verdict)
{
	return &VERDICTS[verdict];
}

const struct verdict_clock_words verdict_clocks[] = {
	[false] = {"the host's clock", "the host's clock: what the main process waited"},
	[true] = {"the GPU's clock", "the GPU's clock: waits while it was idle"},
};

/* Writes the ratio in percent. Rounds down a ratio that would round up to the next verdict. */
static const char *share_of(char *buffer, size_t size, double ratio)
{
	static const double least[] = {STALL_MODERATE, STALL_HIGH};

	for (size_t i = 0; i < ARRAY_COUNT(least); i++) {
		if (ratio >= least[i] || ratio < least[i] - 0.005)
			continue;
		snprintf(buffer, size, "%.1f %%", floor(ratio * 1000) / 10);
		return buffer;
	}
	return units_share(buffer, ratio);
}

const char *verdict_sentence(char *buffer, enum verdict_clock clock, double ratio)
{
	static const struct {
		const char *before, *after;
	} words[] = {
		[VERDICT_HOST] = {"", " of the time is spent waiting for data"},
		[VERDICT_LOADER] = {"", " of this loader's own loop is spent waiting for data"},
		[VERDICT_GPU] = {"the GPU is idle ", " of the time, waiting for data"},
		[VERDICT_JOB] = {"", " of the job's time is lost to waiting for data"},
		[VERDICT_JOB_MOST] = {"up to ", " of the job's time is lost to waiting for data"},
		[VERDICT_GROUP] = {"up to ", " of a rank's time is lost to waiting for data"},
	};

	snprintf(buffer, VERDICT_SENTENCE, "%s%s%s", words[clock].before,
		 share_of((char[UNITS_MAX]){0}, UNITS_MAX, ratio), words[clock].after);
	return buffer;
}
