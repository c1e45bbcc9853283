/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - the top of a thread's stack at the end of a slow operation.
 *
 * The host only copies bytes: no unwinder is loaded into it, no lock taken, no descriptor opened.
 * The drain unwinds and names the frames, while the process lives and its modules can be found.
 * `state` goes FREE -> TAKEN (by the thread) -> FULL -> FREE (by the drain); without a free place
 * an operation has no stack, which limits their number.
 */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define DLPROF_STACK_COUNT 4	/* number of stacks in a segment */
#define DLPROF_STACK_BYTES (16384 - 128)

enum dlprof_stack_state {
	DLPROF_STACK_FREE,
	DLPROF_STACK_TAKEN,
	DLPROF_STACK_FULL,
};

/* For x86-64: registers that a callee must preserve, and its address. */
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
	_Atomic uint32_t state;		/* enum dlprof_stack_state */
	uint32_t tid;
	uint64_t begin_ns; /* begin of the operation: with tid, it identifies the operation's row */
	uint32_t size;			/* bytes that are filled */
	uint32_t unused[11];
	uint64_t registers[DLPROF_STACK_REGISTER_MAX];
	uint8_t bytes[DLPROF_STACK_BYTES];
};

static_assert(sizeof(struct dlprof_stack) == 16384, "whole pages");
