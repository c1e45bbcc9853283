/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - holds a copy of the top of a thread's stack, made at the end of a slow operation.
 *
 * The drain unwinds the stack while the process lives. The thread makes `state` TAKEN, then FULL,
 * and the drain makes it FREE.
 */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define DLPROF_STACK_COUNT 4
#define DLPROF_STACK_BYTES (16384 - 128)

enum dlprof_stack_state {
	DLPROF_STACK_FREE,
	DLPROF_STACK_TAKEN,
	DLPROF_STACK_FULL,
};

/* x86-64: the instruction pointer, and the registers that a called function must preserve. */
enum dlprof_stack_register {
	DLPROF_STACK_RIP,
	DLPROF_STACK_RSP,	/* the address of bytes[0] */
	DLPROF_STACK_RBP,
	DLPROF_STACK_RBX,
	DLPROF_STACK_R12,
	DLPROF_STACK_R13,
	DLPROF_STACK_R14,
	DLPROF_STACK_R15,
	DLPROF_STACK_REGISTER_MAX
};

struct dlprof_stack {
	_Atomic uint32_t state;
	uint32_t tid;
	uint64_t begin_ns; /* when the operation began; with tid, identifies the row */
	uint32_t size;
	uint32_t unused[11];
	uint64_t registers[DLPROF_STACK_REGISTER_MAX];
	uint8_t bytes[DLPROF_STACK_BYTES];
};

static_assert(sizeof(struct dlprof_stack) == 16384, "whole pages");
