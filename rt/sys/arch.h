// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime needs to know about the processor. arch_x86_64.h and
// arch_aarch64.h define the same names; this file describes them. To support
// another processor, write a third file. The registers that the kernel saves
// for a signal handler are in context.h. At the end, this file defines struct
// mprof_caller with them.
//
// System calls:
//   mprof_syscall_here(nr, a, b, c, d, e, f)
//     makes a system call. Returns the result, or -errno. Is a part of the
//     function that calls it.
//   MPROF_SYSCALL_BYTES, mprof_is_syscall_code(code)
//     length of the instruction for system calls; whether code has it.
//   MPROF_ADDRESS_BITS
//     number of bits of the addresses that programs use.
//
// Clock and pauses:
//   mprof_counter_is_even()  whether the processor has a counter that runs at
//                            the same speed in all power states
//   mprof_counter_ordered()  reads it, after all earlier instructions
//   mprof_counter_about()    reads it, some nanoseconds earlier or later
//   mprof_counter_rate()     its steps per second, or 0 if the processor does
//                            not tell
//   MPROF_TRACE_TICK_DIV     its steps in one tick of the trace
//                            (Go: traceTickDiv)
//   mprof_relax()            tells the processor that the thread spins
//
// Registers and stacks:
//   struct mprof_saved, MPROF_SAVE(s)
//     the registers that a called function must restore, except the frame
//     pointer; saves their present values to *s.
//   mprof_clear_registers()
//     clears the registers that a called function may change.
//   mprof_call_on_stack(f, top)
//     calls f on the stack that ends at `top`.
//   mprof_leave_to_stack(f, arg, top)
//     the same with an argument, for an f that never returns. The new stack has
//     no caller.
//   MPROF_ALIGNS_STACK
//     attribute of a function that aligns the stack pointer, which its caller
//     may have left unaligned.
//   MPROF_RED_ZONE
//     number of bytes below the stack pointer that a function may use.
//
// Unwinding:
//   MPROF_DWARF_BP, MPROF_DWARF_SP, MPROF_DWARF_RA
//     numbers of the frame pointer, the stack pointer and the return address in
//     call frame information.
//   MPROF_RA_IS_PUSHED
//     1: calls push the return address, so it is always just below the frame of
//     the caller. 0: calls put it into a register, and call frame information
//     tells whether and where a function has saved it.
//   MPROF_BP_ALIGNMENT
//     the address of a frame is a multiple of this number. A frame begins with
//     the caller's frame address and the return address.
//   mprof_return_address(word)
//     the address in a word that a function has saved as its return address,
//     without the signature that some processors add to it.
//   mprof_is_return_address(word, pc)
//     whether this address is pc.
//   MPROF_CALL_BYTES_MAX, mprof_follows_call(pc)
//     greatest length of an instruction that calls a function; whether such an
//     instruction is just before pc. The bytes there must be readable.
//   MPROF_LEAVE_BYTES, mprof_leave_words(code)
//     how many words the code, of so many bytes, removes from the stack, the
//     last of which is the return address, if all it does is to return from a
//     frame without a frame pointer; otherwise 0.
//   mprof_skips_cfa(op)
//     whether op is an instruction of call frame information of this processor
//     that has no operand and does not change any rule.
//   mprof_linkage_jump(function)
//     the first instruction of the jump to an address in memory, if the
//     function is an entry of a procedure linkage table; otherwise NULL.
//
// Text for the assembler:
//   MPROF_JUMP_THROUGH(Word)
//     jumps to the address in the word of this name. Keeps all registers that
//     hold arguments.
//   MPROF_LANDING
//     begins a function that may be called through a pointer.
//   MPROF_BIND(Name, Word, Binder), MPROF_BINDER(Binder, Find)
//     see preload/preload.c.
//   MPROF_USDT_ARGS_1, MPROF_USDT_ARGS_3, MPROF_USDT_PLACE_1(Note, A),
//   MPROF_USDT_PLACE_3(Note, A, B, C)
//     see usdt.h.

#ifndef MPROF_RT_SYS_ARCH_H
#define MPROF_RT_SYS_ARCH_H

#if defined(__x86_64__)
#include "sys/arch_x86_64.h"
#elif defined(__aarch64__)
#include "sys/arch_aarch64.h"
#include "sys/base.h"
#else
#error                                                                         \
    "MProf supports x86-64 and arm64: write sys/arch_NAME.h for this processor"
#endif

// struct mprof_saved has the values that the callee-saved registers had when
// the program called the runtime. The search for stuck threads (stuck_scan.c)
// needs them, because a value may be the only pointer to an object.
// Use the macro MPROF_SAVE in the entry, that is, in the runtime's function
// that the program calls. Before the macro runs, the compiler may have moved a
// register's value to the frame of the function that uses the macro. The search
// for stuck threads also scans the entry's frame, but not the frames of
// functions that the entry calls.

// The state of one of the program's threads when the thread called the runtime.
// `frame` is the frame address of the entry, the runtime's function that the
// program called. The program's frames lie above `frame`. `saved` has the
// program's registers.
struct mprof_caller {
  uintptr_t frame;
  struct mprof_saved saved;
};

// Fills *c with the state of the calling thread. Use this macro in the entry,
// the runtime's function that the program calls.
#define MPROF_CALLER(c)                                                        \
  do {                                                                         \
    (c)->frame = (uintptr_t)__builtin_frame_address(0);                        \
    MPROF_SAVE(&(c)->saved);                                                   \
  } while (0)

#endif // MPROF_RT_SYS_ARCH_H
