// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinds by call frame information (rules.h), and by frame pointers through
// code that has none. The unwind rules are cached (rules.h), but recognizing a
// known stack (unwind.h) is faster. The functions take no lock and may run in
// signal handlers.

#ifndef MPROF_RT_UNWIND_UNWIND_H
#define MPROF_RT_UNWIND_UNWIND_H

#include "process/modules.h"
#include "sys/arch.h"
#include "sys/base.h"
#include "unwind/rules.h"

// --- the readable part of a stack, and its root ---

// Attribute of functions that read a stack. Sanitizers must not check the
// reads, because these functions read words in the frames of other functions.
#define MPROF_NO_SANITIZER                                                     \
  __attribute__((no_sanitize("address", "thread", "memory")))

// The part of a thread's own stack that is known to be readable. This part
// stays readable as long as the thread exists. The thread may also run on
// foreign stacks, such as those of coroutines or an alternate signal stack. The
// range of a foreign stack is determined anew each time, because the stack may
// be unmapped at any time.
struct mprof_stack_range {
  // [lo, hi) is readable. hi is the end of the stack. lo is moved down when
  // more of the stack is found to be readable.
  uintptr_t lo, hi;
  bool is_main; // true: stack of the process's first thread
};
// Returns the initial, empty range for the stack of the calling thread.
// is_main: the calling thread is the process's first thread.
struct mprof_stack_range mprof_stack_range_of_thread(bool is_main);

// --- readable memory ---

// Returns whether the frame at fp lies in *range.
static inline bool mprof_stack_holds(const struct mprof_stack_range *range,
                                     uintptr_t fp) {
  return fp >= range->lo && fp <= range->hi - 16;
}

// The part of mprof_stack_enter for the case that fp lies outside *range. Do
// not call this function; call mprof_stack_enter.
struct mprof_stack_range *
mprof_stack_enter_outside(struct mprof_stack_range *range,
                          struct mprof_stack_range *foreign, uintptr_t fp);
// Returns the readable range of the stack that contains the frame at fp. If fp
// lies on the thread's own stack, returns `range`. If fp lies on another stack,
// stores the readable range of that stack in *foreign and returns `foreign`.
// Returns NULL if not even the frame at fp is readable.
static inline struct mprof_stack_range *
mprof_stack_enter(struct mprof_stack_range *range,
                  struct mprof_stack_range *foreign, uintptr_t fp) {
  return mprof_likely(fp >= range->lo && fp + 16 <= range->hi)
             ? range
             : mprof_stack_enter_outside(range, foreign, fp);
}

// Extends *r, the known readable part of a foreign stack, upwards to include
// [addr, addr + 16). Returns false if [addr, addr + 16) is not readable.
bool mprof_stack_extend(struct mprof_stack_range *r, uintptr_t addr);
// Returns whether [addr, addr + 16) is readable. addr must lie above all
// addresses of the stack that were read before. is_foreign: *range belongs to a
// foreign stack, so the function extends *range upwards if needed.
static inline bool mprof_stack_reaches(struct mprof_stack_range *range,
                                       bool is_foreign, uintptr_t addr) {
  return mprof_likely(addr + 16 <= range->hi) ||
         (is_foreign && mprof_stack_extend(range, addr));
}

// Reads the word at addr in any frame of a stack.
MPROF_NO_SANITIZER static inline uintptr_t mprof_stack_word(uintptr_t addr) {
  return *(const uintptr_t *)addr;
}

// Reads the return address that a function has saved at addr.
MPROF_NO_SANITIZER static inline mprof_pc mprof_stack_return(uintptr_t addr) {
  return mprof_return_address(*(const uintptr_t *)addr);
}

// --- roots ---

// Finds the address range of libc's code. Called when the runtime starts.
void mprof_unwind_init(void);
// Finds the return address at the root of the stacks that makecontext prepares.
// Called before the first stack is unwound. This function is not called at
// start, so that a program without events does not spend the time.
void mprof_unwind_learn_roots(void);

// Maximum number of known roots, that is, addresses in libc to which main or
// the start functions of threads return. glibc has three roots, because main,
// start functions of POSIX threads and start functions of C11 threads return to
// different addresses.
#define MPROF_ROOTS 4

struct mprof_stack_roots {
  // Address to which a function started by makecontext returns; 0: unknown.
  // Written once. A frame with this return address is the root of a coroutine's
  // stack. Unwinding must end at this frame, because the caller's frame address
  // in the frame is an arbitrary value.
  mprof_pc context;
  // The modules of libc: the module with threads, and the module with main's
  // caller. They are the same since glibc 2.34. Before, they were libpthread.so
  // and libc.so. Empty if libc is linked statically. Written once at start. If
  // a frame of libc is the root of a stack, the frame is dropped, because it is
  // not a frame of the program.
  struct mprof_module libc[2];
  // Addresses in libc to which main and the start functions of threads return;
  // 0: unused. Each element is written once.
  _Atomic(mprof_pc) known[MPROF_ROOTS];
};
extern MPROF_HIDDEN struct mprof_stack_roots mprof_stack_roots;

// Returns whether the address lies in a module of libc.
static inline bool mprof_is_in_libc(uintptr_t at) {
  for (int i = 0; i < 2; i++) {
    const struct mprof_module *libc = &mprof_stack_roots.libc[i];
    if (at - libc->start < libc->end - libc->start)
      return true;
  }
  return false;
}

// Returns whether a frame without call frame information, with the code address
// pc and the frame pointer bp, is the root of a stack. A new thread starts with
// frame pointer 0. make_fcontext of Boost.Context stores the address that ends
// a fiber also as the frame pointer of the fiber's first function.
static inline bool mprof_is_made_root(mprof_pc pc, uintptr_t bp) {
  return bp == 0 || bp == pc;
}

// Returns whether pc is the return address at the root of a stack of
// makecontext.
static inline bool mprof_is_context_root(mprof_pc pc) {
  return pc == mprof_stack_roots.context;
}
// Remembers pc as an address to which main or the start functions of threads
// return. Does nothing if MPROF_ROOTS such addresses are already known, or if
// pc does not lie in libc.
void mprof_learn_root(mprof_pc pc);
// Returns whether main or the start functions of threads return to pc. A frame
// with this return address is the root of a stack. Returns false if
// mprof_learn_root was not called for pc.
static inline bool mprof_is_root(mprof_pc pc) {
  for (int i = 0; i < MPROF_ROOTS; i++)
    if (pc ==
        atomic_load_explicit(&mprof_stack_roots.known[i], memory_order_relaxed))
      return true;
  return false;
}
// Returns how many of the n frames at pcs the caller must keep. Call this
// function for a complete stack. The stack's last frame may be libc's caller of
// main or of a thread's start function; this frame is dropped. before: number
// of the stack's return addresses that precede pcs.
static inline size_t mprof_without_root(const mprof_pc *pcs, size_t n,
                                        size_t before) {
  return before + n > 1 && mprof_is_in_libc(pcs[n - 1]) ? n - 1 : n;
}

// Returns how many of the n frames at pcs the caller must keep. Call this
// function for a complete stack. Drops the frames of libc at the root of the
// stack; there may be several. In the first thread, the outermost frame is the
// program's startup code, which calls libc. This outermost frame is dropped,
// too.
size_t mprof_without_roots(const mprof_pc *pcs, size_t n);

// Why an unwound stack ends. In profiles, a truncated stack ends with a pseudo
// frame that shows the reason.
enum mprof_stack_end {
  MPROF_STACK_COMPLETE = 0,
  // Cut at a broken chain of frame pointers, or at code without frame pointers
  // and call frame information.
  MPROF_STACK_CUT_CHAIN = 1,
  MPROF_STACK_CUT_DEPTH = 2, // cut at the limit of stack_depth frames
};

// Maximum size of a frame in bytes. Unwinding ends if the caller's frame is
// farther away.
#define MPROF_MAX_FRAME_BYTES (4u << 20)

// --- unwinding ---

// The registers of a frame. pc is the return address of a call. For code that a
// signal has interrupted, pc is the address of the interrupted instruction plus
// 1, because the unwinder looks up pc - 1.
struct mprof_registers {
  uintptr_t pc, sp, bp;
#if !MPROF_RA_IS_PUSHED
  // The register with the return address of a function that calls no other
  // function; 0: unknown.
  uintptr_t link;
#endif
};
// Returns the registers of the code that a signal has interrupted. context: the
// ucontext_t of the signal.
struct mprof_registers mprof_context_frame(const void *context);

// Unwinds the stack from fp, the frame address of the runtime's function that
// the program has called. So the first return address lies in the function that
// contains the call site. Writes at most `depth` return addresses to pcs and
// returns their number. Sets *end to the reason why the stack ends. Reads only
// memory inside *range, so reading cannot fault. If the kernel confirms that
// more memory is readable, extends *range.
size_t mprof_unwind_cfi(struct mprof_stack_range *range, uintptr_t fp,
                        mprof_pc *pcs, size_t depth, enum mprof_stack_end *end);
// What mprof_unwind_checked finds out about a stack.
struct mprof_unwound {
  enum mprof_stack_end end;
  // Number of addresses at pcs that prove the whole stack: a later stack that
  // begins with the same addresses has the same frames and the same end. These
  // addresses are the frames and, if the stack is complete, the frames of libc
  // at the root, which are no frames of the program. 0: no number of addresses
  // proves where the stack ends, or the stack passes an entry of the runtime,
  // which pcs does not show.
  size_t proof_len;
};
// Unwinds a stack as mprof_unwind_cfi does, and stores facts about the stack in
// *facts.
size_t mprof_unwind_checked(struct mprof_stack_range *range, uintptr_t fp,
                            mprof_pc *pcs, size_t depth,
                            struct mprof_unwound *facts);
// Unwinds the stack of the thread tid whose first frame has the registers
// *from. from->pc becomes the first address in pcs.
size_t mprof_unwind_registers(struct mprof_stack_range *range,
                              const struct mprof_registers *from, int tid,
                              mprof_pc *pcs, size_t depth,
                              enum mprof_stack_end *end);
// Replaces the runtime's own functions in a stack of len addresses, leaf first.
// If the leaf is one of them, `mprof_itself` becomes the leaf. The others are
// left out: they only lead to functions of libc or of the program. Does nothing
// with the option own=1. Returns the new length. Signal safe.
size_t mprof_hide_own_code(mprof_pc *pcs, size_t len);
// Searches the stack above the frame at fp for a signal handler. Returns the
// ucontext_t of the handler's signal. If several handlers are nested, returns
// the ucontext_t of the last signal. Returns NULL if no handler is on the
// stack.
const void *mprof_interrupted_context(struct mprof_stack_range *range,
                                      uintptr_t fp);
// Returns whether `frame` is the address of an active frame whose return
// address is pc. fp is the address of an inner frame on the same stack. The
// function with the frame `frame` must keep a frame pointer. The functions
// between the two frames need not keep frame pointers.
bool mprof_stack_has_frame(struct mprof_stack_range *range, uintptr_t fp,
                           uintptr_t frame, mprof_pc pc);
// Returns the frame address of the runtime's entry that has called the function
// with the frame fp, directly or through other functions. An entry is a
// function that the program calls in place of a hooked function. Returns 0 if
// no entry has called the function.
uintptr_t mprof_entry_frame(struct mprof_stack_range *range, uintptr_t fp);

// Where the frame of a function of the runtime ends. There the stack pointer of
// its caller was at the call. The unwinder needs it to begin a stack whose
// first function has no frame pointer.
#if MPROF_RA_IS_PUSHED
static inline uintptr_t mprof_frame_end(uintptr_t fp) { return fp + 16; }
#else
// Returns the end of the frame at fp. The frame must belong to a function of
// the runtime that has called this function, directly or through others. The
// frame address and the return address may be anywhere in the frame. So the
// function looks for the code that runs in the frame, and reads the code's call
// frame information. If there is none, it returns the address behind both
// words.
uintptr_t mprof_frame_end(uintptr_t fp);
#endif

// --- coroutines ---
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
// resume function of a coroutine. bp is the frame pointer. The words in [lo,
// bp), which must be readable, include those of the frame.
void mprof_coroutine_note(struct mprof_running_coroutines *running, size_t at,
                          mprof_pc pc, uintptr_t lo, uintptr_t bp);

// Inserts the awaiting coroutines of *running in the n return addresses at pcs.
// Returns the new number of addresses, at most depth. Sets *is_cut if addresses
// did not fit.
size_t mprof_coroutines_insert(const struct mprof_running_coroutines *running,
                               mprof_pc *pcs, size_t n, size_t depth,
                               bool *is_cut);

// --- slots of return addresses (slots.c) ---
//
// Recognizes a known stack by its return addresses, without unwinding it again.
// The stack may have code without frame pointers.
//
// A slot is the word of a stack that holds a return address. The unwind rule
// for a return address tells where the slot of the next one is. So if a thread
// has the same return address in its first slot as a known stack, its second
// slot is where the known stack has its second slot, relative to the first. If
// the second return address is the same as well, so is the place of the third
// slot, and so on. Therefore no rule has to be looked up: if all slots hold the
// known return addresses, the stacks are the same. This is no heuristic.
//
// Codes tell the places of the slots. A code has 16 bits, and 1 or 2 codes lead
// from one slot to the next:
//   0NNN            The next slot is NNN words higher. The rule of the frame is
//                   "stack pointer plus a constant".
//   8000            The same as 8001, 1. This is the code of a function with a
//                   frame pointer that calls another such function.
//   8000+KKK, NNN   The word that lies KKK words below the slot is the frame
//                   pointer that belongs to the frame. The next slot is NNN
//                   words (signed) above the address in the frame pointer.

#define MPROF_SLOT_BY_BP 0x8000u

// Writes the codes that lead to the n slots of the stack that begins at the
// frame fp, on the thread's own stack. pcs has the return addresses in the
// slots, as mprof_unwind_checked has found them. Returns the number of codes,
// or 0 if codes cannot express the places, or if there are more than cap codes.
size_t mprof_slots_record(const struct mprof_stack_range *range, uintptr_t fp,
                          const mprof_pc *pcs, size_t n, uint16_t *codes,
                          size_t cap);

// Returns whether the slots of the stack that begins at the frame fp hold the n
// return addresses at pcs. mprof_slots_record has written the codes for a stack
// with these return addresses. fp must lie on the thread's own stack, in the
// part that is known to be readable. Reads only memory in this part, even if
// the codes belong to another stack. n must not be 0.
MPROF_NO_SANITIZER static inline bool
mprof_slots_match(const struct mprof_stack_range *range, uintptr_t fp,
                  const mprof_pc *pcs, size_t n, const uint16_t *codes) {
  const uintptr_t last = range->hi - 16;
  uintptr_t at = fp + 8;
  for (const mprof_pc *end = pcs + n;;) {
    if (!mprof_is_return_address(*(const uintptr_t *)at, *pcs))
      return false;
    if (++pcs == end)
      return true;
    const uintptr_t code = *codes++;
    if (mprof_likely(code < MPROF_SLOT_BY_BP)) {
      at += code * 8;
    } else {
      uintptr_t next;
      if (mprof_likely(code == MPROF_SLOT_BY_BP)) {
        next = *(const uintptr_t *)(at - 8) + 8;
      } else {
        const uintptr_t saved = at - (code - MPROF_SLOT_BY_BP) * 8;
        if (saved < fp)
          return false;
        next = *(const uintptr_t *)saved +
               (uintptr_t)(intptr_t)(int16_t)*codes++ * 8;
      }
      if (next <= at || (next & 7) != 0)
        return false;
      at = next;
    }
    if (at > last)
      return false;
  }
}

#endif // MPROF_RT_UNWIND_UNWIND_H
