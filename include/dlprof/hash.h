/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - hash functions for words and bytes. Use the high bits: only these are well mixed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	for (const unsigned char *at = bytes; size; size--)
		hash = hash_word(hash, *at++);
	return hash;
}
