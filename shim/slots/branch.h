/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch.h - marks an assembly file as one with marked branch targets (endbr64, bti c).
 *
 * One file without the mark removes this protection from the whole library.
 */
#pragma once

#if defined(__CET__)
#include <cet.h>
#elif defined(__ARM_FEATURE_BTI_DEFAULT)
	.pushsection .note.gnu.property, "a"
	.balign 8
	.long 4
	.long 16
	.long 5			/* NT_GNU_PROPERTY_TYPE_0 */
	.asciz "GNU"
	.long 0xc0000000	/* GNU_PROPERTY_AARCH64_FEATURE_1_AND */
	.long 4
	.long 1			/* BTI */
	.long 0
	.popsection
#endif
