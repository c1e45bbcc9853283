/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall.S - syscall(2), whose reads go to C while the process records, and vfork() and clone().
 *
 * `real` begins with pointers to the three real functions. vfork() and clone() must jump there,
 * because they return twice, clone() on a stack without our frame. Before our constructor has run,
 * the _raw functions make the system calls.
 */
#include <asm/unistd.h>

#include "slots/branch.h"

	.hidden activate_cell
	.hidden activate_shares
	.hidden real
	.hidden hook_syscall_read
	.hidden hook_syscall_failed
	.hidden hook_syscall_raw
	.hidden hook_vfork_raw

	.text
#if defined(__x86_64__)

	.globl syscall
	.type syscall, @function
	.p2align 4
syscall:
	.cfi_startproc
	endbr64
	cmpq $__NR_clone, %rdi
	je 3f
	cmpq $__NR_vfork, %rdi
	je 3f
	cmpq $__NR_clone3, %rdi
	je 3f
	movq activate_cell(%rip), %rax
	cmpl $0, (%rax)
	jne 1f
0:	jmp *real(%rip)
1:	cmpq $__NR_read, %rdi
	je 2f
	cmpq $__NR_pread64, %rdi
	je 2f
	cmpq $__NR_readv, %rdi
	je 2f
	cmpq $__NR_preadv, %rdi
	je 2f
	cmpq $__NR_preadv2, %rdi
	jne 0b
2:	jmp hook_syscall_read
3:	movb $1, activate_shares(%rip)
	jmp 0b
	.cfi_endproc
	.size syscall, . - syscall

	/* Sets activate_shares, and jumps to the function at offset `at` of `real`. */
	.macro shares name, at
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	movb $1, activate_shares(%rip)
	jmp *real+\at(%rip)
	.cfi_endproc
	.size \name, . - \name
	.endm

	shares vfork, 8
	shares clone, 16

	.globl hook_syscall_raw
	.type hook_syscall_raw, @function
	.p2align 4
hook_syscall_raw:
	.cfi_startproc
	endbr64
	movq %rdi, %rax
	movq %rsi, %rdi
	movq %rdx, %rsi
	movq %rcx, %rdx
	movq %r8, %r10
	movq %r9, %r8
	movq 8(%rsp), %r9
	syscall
	cmpq $-4095, %rax
	jae 1f
	ret
1:	movq %rax, %rdi
	jmp hook_syscall_failed
	.cfi_endproc
	.size hook_syscall_raw, . - hook_syscall_raw

	/* The child may overwrite the return address on the shared stack. */
	.globl hook_vfork_raw
	.type hook_vfork_raw, @function
	.p2align 4
hook_vfork_raw:
	.cfi_startproc
	endbr64
	popq %rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rdi
	movl $__NR_vfork, %eax
	syscall
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rip, -8
	cmpq $-4095, %rax
	jae 1f
	ret
1:	movq %rax, %rdi
	jmp hook_syscall_failed
	.cfi_endproc
	.size hook_vfork_raw, . - hook_vfork_raw

#elif defined(__aarch64__)

	.globl syscall
	.type syscall, %function
	.p2align 4
syscall:
	.cfi_startproc
	hint #34
	cmp x0, #__NR_clone
	b.eq 3f
	cmp x0, #__NR_clone3
	b.eq 3f
	adrp x16, activate_cell
	ldr x16, [x16, #:lo12:activate_cell]
	ldar w16, [x16]
	cbnz w16, 1f
0:	adrp x16, real
	ldr x16, [x16, #:lo12:real]
	br x16
1:	cmp x0, #__NR_read
	b.eq 2f
	cmp x0, #__NR_pread64
	b.eq 2f
	cmp x0, #__NR_readv
	b.eq 2f
	cmp x0, #__NR_preadv
	b.eq 2f
	cmp x0, #__NR_preadv2
	b.ne 0b
2:	b hook_syscall_read
3:	adrp x16, activate_shares
	mov w17, #1
	strb w17, [x16, #:lo12:activate_shares]
	b 0b
	.cfi_endproc
	.size syscall, . - syscall

	/* Sets activate_shares, and jumps to the function at offset `at` of `real`. */
	.macro shares name, at
	.globl \name
	.type \name, %function
	.p2align 4
\name:
	.cfi_startproc
	hint #34
	adrp x16, activate_shares
	mov w17, #1
	strb w17, [x16, #:lo12:activate_shares]
	adrp x16, real+\at
	ldr x16, [x16, #:lo12:real+\at]
	br x16
	.cfi_endproc
	.size \name, . - \name
	.endm

	shares vfork, 8
	shares clone, 16

	.globl hook_syscall_raw
	.type hook_syscall_raw, %function
	.p2align 4
hook_syscall_raw:
	.cfi_startproc
	hint #34
	mov x8, x0
	mov x0, x1
	mov x1, x2
	mov x2, x3
	mov x3, x4
	mov x4, x5
	mov x5, x6
	svc #0
	cmn x0, #4095
	b.cs hook_syscall_failed
	ret
	.cfi_endproc
	.size hook_syscall_raw, . - hook_syscall_raw

	.globl hook_vfork_raw
	.type hook_vfork_raw, %function
	.p2align 4
hook_vfork_raw:
	.cfi_startproc
	hint #34
	mov x0, #0x4111			/* CLONE_VM | CLONE_VFORK | SIGCHLD */
	mov x1, #0
	mov x8, #__NR_clone
	svc #0
	cmn x0, #4095
	b.cs hook_syscall_failed
	ret
	.cfi_endproc
	.size hook_vfork_raw, . - hook_vfork_raw

#endif

	.section .note.GNU-stack, "", %progbits
