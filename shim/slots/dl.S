/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dl.S - the host's dlsym(). In a process that does not record, it only jumps to the real dlsym().
 *
 * It jumps there for RTLD_NEXT and RTLD_DEFAULT, too, because glibc looks at the return address.
 */
#include "slots/branch.h"

	.hidden	activate_cell
	.hidden	dl_lookup
	.hidden	dl_entry
	.hidden	lookup_next
	.hidden	lookup_resolve

#if defined(__x86_64__)

	.text
	.globl	dlsym, dl_entry
	.type	dlsym, @function
	.p2align 4
dlsym:
dl_entry:
	.cfi_startproc
	endbr64
	movq	lookup_next(%rip), %rax
	testq	%rax, %rax
	je	.Lresolve_dlsym
	leaq	1(%rdi), %rcx
	cmpq	$1, %rcx
	jbe	.Lreal_dlsym
	movq	activate_cell(%rip), %rcx
	cmpl	$0, (%rcx)
	jne	.Lours
.Lreal_dlsym:
	jmp	*%rax
.Lours:
	jmp	dl_lookup
.Lresolve_dlsym:
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	lookup_resolve
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	movq	lookup_next(%rip), %rax
	jmp	*%rax
	.cfi_endproc
	.size	dlsym, .-dlsym

#elif defined(__aarch64__)

	.text
	.globl	dlsym, dl_entry
	.type	dlsym, %function
	.p2align 4
dlsym:
dl_entry:
	.cfi_startproc
	hint	#34			/* bti c */
	adrp	x16, lookup_next
	ldr	x16, [x16, :lo12:lookup_next]
	cbz	x16, .Lresolve_dlsym
	add	x9, x0, #1
	cmp	x9, #1
	b.ls	.Lreal_dlsym
	adrp	x9, activate_cell
	ldr	x9, [x9, :lo12:activate_cell]
	ldar	w9, [x9]
	cbnz	w9, .Lours
.Lreal_dlsym:
	br	x16
.Lours:
	b	dl_lookup
.Lresolve_dlsym:
	stp	x29, x30, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	stp	x0, x1, [sp, #16]
	bl	lookup_resolve
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
	adrp	x16, lookup_next
	ldr	x16, [x16, :lo12:lookup_next]
	br	x16
	.cfi_endproc
	.size	dlsym, .-dlsym

#endif

	.section .note.GNU-stack, "", %progbits
