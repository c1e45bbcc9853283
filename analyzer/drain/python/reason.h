/* SPDX-License-Identifier: Apache-2.0 */
/* reason.h - why a process's lines of code are not observed: a name and a text for each reason. */
#pragma once

/* X(identifier, text after "lines of code are not observed: ") */
#define REASONS(X)                                                                                 \
	X(OBSERVED, "they are observed")                                                           \
	X(GONE, "the process has ended")                                                           \
	X(DENIED, "the kernel does not permit reading the memory of the process")                  \
	X(NO_CALL, "this system has no process_vm_readv()")                                        \
	X(NO_FILE, "the file of the interpreter cannot be read")                                   \
	X(NO_PYTHON, "the program is not CPython")                                                 \
	X(32_BIT, "the program is a 32-bit one")                                                   \
	X(VERSION, "this version of CPython is not known")                                         \
	X(PROCESSOR, "this version of CPython is known on x86-64 only")                            \
	X(FREE_THREADED, "this CPython is a free-threaded build")                                  \
	X(NOT_READY, "the interpreter has not started yet, or has ended")                          \
	X(STRANGE, "the memory of the interpreter is not that of a plain CPython")                 \
	X(NO_MEMORY, "out of memory")

enum reason {
#define X(id, text) REASON_##id,
	REASONS(X)
#undef X
	REASON_COUNT
};

/* Returns the text that follows "lines of code are not observed: ". */
const char *reason_text(enum reason reason);

enum reason reason_of(int error);
