/* SPDX-License-Identifier: Apache-2.0 */
/* written.h - how notes on the files of a trial begin, which `dlprof tune` looks for. */
#pragma once

#define DLPROF_WROTE   "before it was ended, the program wrote "
#define DLPROF_RESUMED                                                                             \
	"the program read, and writes again, what an earlier run of dlprof tune wrote: "
