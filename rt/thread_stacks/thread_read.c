// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the stack of a thread in a noted wait, that is, of a thread whose
// record has the address of its struct mprof_wait (thread_wait.h). The thread
// may end the wait at any time, and it may then exit; see thread_read.h.

#include "thread_stacks/thread_read.h"

#include "lock_wait/contention.h"
#include "sys/arch.h"
#include "thread/threads.h"
#include "thread_stacks/thread_collect.h"
#include "thread_stacks/thread_slots.h"
#include "thread_stacks/thread_wait.h"
#include "unwind/stack_end.h"

#include <string.h>

// Returns whether the reader must prevent the thread from ending its wait while
// the reader reads the stack. w: address of the thread's struct mprof_wait. The
// thread may end the wait if w is on the thread's own stack and the runtime
// sees the end of the thread. This stack exists until the thread ends, and the
// runtime delays this end while the reader reads. In a round that stops all
// threads, always returns true.
static bool may_vanish(const struct mprof_reader *r,
                       const struct mprof_thread_slot *slot, uintptr_t w,
                       const struct mprof_stack_range *range) {
  return r->s->stops || !slot->sees_exit || w < range->lo || w >= range->hi;
}

// Copies the struct mprof_wait at address w. Returns false if the thread has
// left the wait by a longjmp and the memory was reused. In this case the copy
// does not agree with the frame of the entry that it names.
static bool read_note(struct mprof_wait *copy, uintptr_t w,
                      const struct mprof_stack_range *range) {
  *copy = *(const struct mprof_wait *)w;
  if (copy->frame + MPROF_MAX_FRAME_BYTES - w >= 2 * MPROF_MAX_FRAME_BYTES)
    return false;
  if (copy->frame < w &&
      (copy->kind == MPROF_KIND_user || copy->kind == MPROF_KIND_call))
    return true; // the begin entry of entry_user.c has returned
  if (!mprof_stack_holds(range, copy->frame))
    return true; // on another stack, whose bounds are not known
  const uintptr_t *frame = (const uintptr_t *)copy->frame;
  return frame[0] == copy->fp && mprof_is_return_address(frame[1], copy->pc);
}

// The reader's copy of a thread's struct mprof_wait, and the length of the
// thread's stack. The addresses of the stack are in `scratch` of struct
// mprof_thread_stacks.
struct read {
  bool is_wait; // false: no valid wait; only `labels` is set
  struct mprof_wait wait;
  size_t len; // number of addresses in scratch
  enum mprof_stack_end end;
  uint16_t labels;
};

// Copies the struct mprof_wait at address w to *read, and unwinds the stack of
// the waiting thread. The reader must have claimed the wait (set a bit of
// MPROF_WAIT_BITS in the thread's wait word). range: bounds of the thread's
// stack.
static void read_claimed(struct mprof_reader *r, struct read *read,
                         const struct mprof_thread_slot *slot, uintptr_t w,
                         struct mprof_stack_range range) {
  read->is_wait = read_note(&read->wait, w, &range);
  read->labels = atomic_load(&atomic_load(&slot->thread)->labels);
  if (read->is_wait)
    read->len = mprof_unwind_wait(&range, &read->wait, r->s->scratch,
                                  r->s->depth, &read->end);
}

static void keep(struct mprof_reader *r, struct mprof_thread_slot *slot,
                 const struct read *read) {
  if (!mprof_slot_claim(r->s, slot, read->len))
    return; // the thread itself has already filled the slot
  memcpy(slot->stack->stack, r->s->scratch, read->len * sizeof(mprof_pc));
  slot->stack->stack_len = (uint32_t)read->len;
  slot->stack->end = (uint8_t)read->end;
  slot->stack->labels = read->labels;
  mprof_slot_note_wait(slot, &read->wait);
  mprof_slot_satisfy(slot);
}

enum mprof_reading mprof_read_waiting(struct mprof_reader *r,
                                      struct mprof_thread_slot *slot) {
  struct mprof_thread *t = slot->thread;
  const struct mprof_stack_range range = t->range;
  uintptr_t w = atomic_load(&t->wait);
  if (!mprof_is_own_record(r, slot))
    return MPROF_READ_GONE;
  if (w == 0 || w == MPROF_WAIT_ASKED)
    return MPROF_READ_NOT_WAITING;
  const uintptr_t bit =
      may_vanish(r, slot, w, &range) ? MPROF_WAIT_HELD : MPROF_WAIT_READ;
  uintptr_t claimed = w | bit;
  // This store must precede the claim (the setting of the bit below). If the
  // bit is MPROF_WAIT_READ, the thread may go on and end. Before a thread ends,
  // it checks `reading` and waits until the reader has finished.
  atomic_store(&mprof_round.reading, t);
  if (!atomic_compare_exchange_strong(&t->wait, &w, claimed)) {
    atomic_store(&mprof_round.reading, NULL);
    return MPROF_READ_NOT_WAITING;
  }
  struct read read = {.is_wait = false};
  const bool is_own = mprof_is_own_record(r, slot);
  if (is_own)
    read_claimed(r, &read, slot, w, range);
  bool is_valid;
  if (r->s->stops && is_own) { // let_go() clears the bit
    slot->held = w;
    is_valid = true;
  } else {
    is_valid = atomic_compare_exchange_strong(&t->wait, &claimed, w);
  }
  atomic_store(&mprof_round.reading, NULL);
  if (!is_own)
    return MPROF_READ_GONE;
  if (is_valid && read.is_wait)
    keep(r, slot, &read);
  return is_valid ? MPROF_READ_DONE : MPROF_READ_NOT_WAITING;
}

static const struct mprof_thread *thread_at(const struct mprof_thread_stacks *s,
                                            size_t i) {
  return i < s->slots_len ? atomic_load_explicit(&mprof_slot_at(s, i)->thread,
                                                 memory_order_relaxed)
                          : NULL;
}

// Prefetches the first frames of a thread that comes soon, and the record of a
// later thread.
void mprof_read_prefetch(const struct mprof_thread_stacks *s, size_t i) {
  enum { SOON = 3, LATER = 8, LINE = 64, FRAMES_BYTES = 512 };
  const struct mprof_thread *soon = thread_at(s, i + SOON);
  const struct mprof_thread *later = thread_at(s, i + LATER);
  if (later) {
    __builtin_prefetch(&later->range);
    __builtin_prefetch((const void *)&later->wait, 1);
    __builtin_prefetch((const void *)&later->labels);
  }
  if (soon) {
    const char *frames =
        (const char *)atomic_load_explicit(&soon->wait, memory_order_relaxed);
    for (int at = 0; at < FRAMES_BYTES; at += LINE)
      __builtin_prefetch(frames + at);
  }
}
