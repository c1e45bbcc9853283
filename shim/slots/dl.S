/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dl.S - where the host's dlsym() enters.
 *
 * glibc answers RTLD_NEXT (-1) and RTLD_DEFAULT (0) by who called: those are jumped to, not called,
 * so the return address is the host's. Other handles mean the same to every caller, and so do the
 * names of CUDA's driver that dl_default() answers. Nothing else than a jump happens in a process
 * that does not record and has no hooks in that driver.
 */
#include "slots/branch.h"

	.hidden	activate_cell
	.hidden	dl_default
	.hidden	dl_lookup
	.hidden	dl_entry
	.hidden	dl_next
	.hidden	dl_resolve
	.hidden	driver_hooks

#if defined(__x86_64__)

/* Around a call, for which the stack is to be aligned. */
.macro keep_arguments
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
.endm

.macro give_arguments
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
.endm

	.text
	.globl	dlsym, dl_entry
	.type	dlsym, @function
	.p2align 4
dlsym:
dl_entry:
	.cfi_startproc
	endbr64
	movq	dl_next(%rip), %rax
	testq	%rax, %rax
	je	.Lresolve_dlsym
	leaq	1(%rdi), %rcx
	cmpq	$1, %rcx
	jbe	.Lspecial
	movq	activate_cell(%rip), %rcx
	movl	(%rcx), %ecx
	orl	driver_hooks(%rip), %ecx
	jnz	.Lours
.Lreal_dlsym:
	jmp	*%rax
.Lours:
	jmp	dl_lookup
.Lspecial:
	testq	%rdi, %rdi
	jne	.Lreal_dlsym
	cmpl	$0, driver_hooks(%rip)
	je	.Lreal_dlsym
	keep_arguments
	movq	%rsi, %rdi
	movq	24(%rsp), %rsi
	call	dl_default
	give_arguments
	testq	%rax, %rax
	je	.Lreal_again
	ret
.Lresolve_dlsym:
	keep_arguments
	call	dl_resolve
	give_arguments
.Lreal_again:
	movq	dl_next(%rip), %rax
	jmp	*%rax
	.cfi_endproc
	.size	dlsym, .-dlsym

#elif defined(__aarch64__)

/* Around a call. */
.macro keep_arguments
	stp	x29, x30, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	stp	x0, x1, [sp, #16]
.endm

.macro give_arguments
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
.endm

	.text
	.globl	dlsym, dl_entry
	.type	dlsym, %function
	.p2align 4
dlsym:
dl_entry:
	.cfi_startproc
	hint	#34			/* bti c */
	adrp	x16, dl_next
	ldr	x16, [x16, :lo12:dl_next]
	cbz	x16, .Lresolve_dlsym
	add	x9, x0, #1
	cmp	x9, #1
	b.ls	.Lspecial
	adrp	x9, activate_cell
	ldr	x9, [x9, :lo12:activate_cell]
	ldar	w9, [x9]
	cbnz	w9, .Lours
	adrp	x9, driver_hooks
	ldr	w9, [x9, :lo12:driver_hooks]
	cbnz	w9, .Lours
.Lreal_dlsym:
	br	x16
.Lours:
	b	dl_lookup
.Lspecial:
	cbnz	x0, .Lreal_dlsym
	adrp	x9, driver_hooks
	ldr	w9, [x9, :lo12:driver_hooks]
	cbz	w9, .Lreal_dlsym
	keep_arguments
	mov	x0, x1
	mov	x1, x30
	bl	dl_default
	mov	x9, x0
	give_arguments
	cbz	x9, .Lreal_again
	mov	x0, x9
	ret
.Lresolve_dlsym:
	keep_arguments
	bl	dl_resolve
	give_arguments
.Lreal_again:
	adrp	x16, dl_next
	ldr	x16, [x16, :lo12:dl_next]
	br	x16
	.cfi_endproc
	.size	dlsym, .-dlsym

#endif

	.section .note.GNU-stack, "", %progbits
