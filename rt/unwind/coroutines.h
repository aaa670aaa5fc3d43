// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the C++20 coroutines that await a running coroutine, and inserts them
// in its stack (option coroutines). The awaiting coroutines are suspended, so
// they have no frame on the stack:
//
//     stack of the thread          with awaiting coroutines
//       malloc's caller              malloc's caller
//       leaf.resume                  leaf.resume
//                                    middle, where it awaits leaf
//                                    root, where it awaits middle
//       event loop                   event loop
//       main                         main
//
// A running coroutine has a struct mprof_coroutine_record on the stack, which
// has the address of the coroutine's frame. The promise in this frame has the
// handle of the awaiting coroutine, which is the address of the next frame. The
// code of each coroutine tells by a struct mprof_coroutine_layout where in the
// frame this handle is (pass/Coroutines.cpp).
//
// A handle may be invalid, for example if the awaiting coroutine was destroyed.
// So frames are read by a system call, which fails if the frame is not mapped.
// The functions take no lock and may run in signal handlers.

#ifndef MPROF_RT_UNWIND_COROUTINES_H
#define MPROF_RT_UNWIND_COROUTINES_H

#include "sys/base.h"

// The instrumented resume functions have this struct in their stack frame.
struct mprof_coroutine_record {
  uint64_t magic;  // MPROF_COROUTINE_RECORD
  uintptr_t bp;    // frame pointer of the resume function
  uintptr_t frame; // address of the coroutine's frame
};
#define MPROF_COROUTINE_RECORD UINT64_C(0x93a1e5c76d70726f)

// The bytes before the code of a coroutine function. The offsets are relative
// to the coroutine's frame.
struct mprof_coroutine_layout {
  uint32_t magic; // MPROF_COROUTINE_LAYOUT
  uint32_t name;  // hash of the coroutine's name
  // Offset of the awaiting coroutine's handle, or UINT32_MAX if it is unknown.
  uint32_t continuation;
  // Offset of the word with the code address of the last suspension.
  uint32_t site;
};
#define MPROF_COROUTINE_LAYOUT 0x6d70636fu

// The running coroutines of a stack, from the leaf to the root.
#define MPROF_RUNNING_MAX 16
struct mprof_running_coroutines {
  size_t len;
  struct {
    size_t at; // index of the resume function's return address in the stack
    uintptr_t function; // first address of the resume function
    uintptr_t frame;    // address of the coroutine's frame
  } of[MPROF_RUNNING_MAX];
};

// Appends to *running the coroutine of the stack frame with the code address
// pc, which has the index `at` in the stack. Does nothing if pc is not in the
// resume function of a coroutine. bp is the frame pointer. The words in
// [lo, bp), which must be readable, include those of the frame.
void mprof_coroutine_note(struct mprof_running_coroutines *running, size_t at,
                          mprof_pc pc, uintptr_t lo, uintptr_t bp);

// Inserts the awaiting coroutines of *running in the n return addresses at pcs.
// Returns the new number of addresses, at most depth. Sets *is_cut if addresses
// did not fit.
size_t mprof_coroutines_insert(const struct mprof_running_coroutines *running,
                               mprof_pc *pcs, size_t n, size_t depth,
                               bool *is_cut);

#endif // MPROF_RT_UNWIND_COROUTINES_H
