/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch.h - for assembly files: marks the object as one whose indirect branches have marked
 * targets (endbr64, bti c), as the compiler does for C. A single file without the mark would remove
 * the protection from the whole library; where shadow stacks are enforced, the library would not
 * load.
 */
#pragma once

#if defined(__CET__)
#include <cet.h>
#elif defined(__ARM_FEATURE_BTI_DEFAULT)
	.pushsection .note.gnu.property, "a"
	.balign 8
	.long 4			/* bytes of the name */
	.long 16		/* bytes of what follows the name */
	.long 5			/* NT_GNU_PROPERTY_TYPE_0 */
	.asciz "GNU"
	.long 0xc0000000	/* GNU_PROPERTY_AARCH64_FEATURE_1_AND */
	.long 4
	.long 1			/* BTI */
	.long 0
	.popsection
#endif
