// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills the slots (one for each thread) with stacks; see thread_stacks.h. Each
// slot is filled in one of these ways:
// 1. If the thread is in a noted wait (its record has the address of the wait),
//    the reader (the thread that collects the stacks) reads the thread's stack.
// 2. Otherwise the reader asks the thread by a signal and waits some time for
//    the answer. The reader does not ask a thread if the signal would make a
//    system call of the thread fail with EINTR.
// 3. If the slot is still empty, the reader stores the data that the kernel
//    shows in /proc.
// Between any two steps, the thread may begin or end a wait, and it may exit.
// (Go: tryRecordGoroutineProfile)

#include "thread_stacks/thread_stacks.h"

#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "options/flags.h"
#include "sys/arch.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/os.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_wait.h"
#include "unwind/unwind.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

// --- reading the stack of a thread in a noted wait ---
//
// The thread may end the wait at any time, and it may then exit.

enum reading {
  READ_DONE,        // the slot is filled, or is being filled
  READ_NOT_WAITING, // the thread is in no noted wait
  READ_GONE,        // the thread has ended
};

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
    return true; // the begin entry of entry_marked.c has returned
  if (!mprof_stack_holds(range, copy->frame))
    return true; // on another stack, whose bounds are not known
  const uintptr_t *frame = (const uintptr_t *)copy->frame;
  return frame[0] == copy->fp && mprof_is_return_address(frame[1], copy->pc);
}

// The reader's copy of a thread's struct mprof_wait, and the length of the
// thread's stack. The addresses of the stack are in `scratch` of struct
// mprof_thread_stacks.
struct read {
  bool is_wait;  // false: no valid wait; only `labels` is set
  bool is_known; // the stack was not unwound (struct mprof_same_stack)
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
  read->is_known = read->is_wait && r->s->same &&
                   r->s->same->in_wait(slot, w, read->wait.start);
  if (read->is_wait && !read->is_known)
    read->len = mprof_unwind_wait(&range, &read->wait, slot->tid, r->s->scratch,
                                  r->s->depth, &read->end);
}

static void keep(struct mprof_reader *r, struct mprof_thread_slot *slot,
                 const struct read *read, uintptr_t w) {
  if (!mprof_slot_claim(r->s, slot, read->len))
    return; // the thread itself has already filled the slot
  memcpy(slot->stack->stack, r->s->scratch, read->len * sizeof(mprof_pc));
  slot->stack->stack_len = (uint32_t)read->len;
  slot->stack->end = (uint8_t)read->end;
  slot->stack->labels = read->labels;
  mprof_slot_note_wait(slot, &read->wait);
  slot->wait = w;
  slot->is_known = read->is_known;
  mprof_slot_satisfy(slot);
}

// Fills the slot of a thread that is in a noted wait. Call in the active round.
// slot->thread must not be NULL.
static enum reading read_waiting(struct mprof_reader *r,
                                 struct mprof_thread_slot *slot) {
  struct mprof_thread *t = slot->thread;
  const struct mprof_stack_range range = t->range;
  uintptr_t w = atomic_load(&t->wait);
  if (!mprof_is_own_record(r, slot))
    return READ_GONE;
  if (w == 0 || w == MPROF_WAIT_ASKED)
    return READ_NOT_WAITING;
  const uintptr_t bit =
      may_vanish(r, slot, w, &range) ? MPROF_WAIT_HELD : MPROF_WAIT_READ;
  uintptr_t claimed = w | bit;
  // This store must precede the claim (the setting of the bit below). If the
  // bit is MPROF_WAIT_READ, the thread may go on and end. Before a thread ends,
  // it checks `reading` and waits until the reader has finished.
  atomic_store(&mprof_round.reading, t);
  if (!atomic_compare_exchange_strong(&t->wait, &w, claimed)) {
    atomic_store(&mprof_round.reading, NULL);
    return READ_NOT_WAITING;
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
    return READ_GONE;
  if (is_valid && read.is_wait)
    keep(r, slot, &read, w);
  return is_valid ? READ_DONE : READ_NOT_WAITING;
}

static const struct mprof_thread *thread_at(const struct mprof_thread_stacks *s,
                                            size_t i) {
  return i < s->slots_len ? atomic_load_explicit(&mprof_slot_at(s, i)->thread,
                                                 memory_order_relaxed)
                          : NULL;
}

// Prefetches the first frames of a thread that comes soon, and the record of a
// later thread, to read their stacks faster. Call before the thread of slot
// number i is read.
static void read_prefetch(const struct mprof_thread_stacks *s, size_t i) {
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

enum {
  // The reader (the thread that collects the stacks) stops waiting for answers
  // after QUIET_MS without a new answer. But if an asked thread is runnable, or
  // still in the handler of an earlier round, it may only lack a processor. In
  // this case the reader waits on, until PATIENCE_MS have passed.
  QUIET_MS = 100,
  PATIENCE_MS = 3000,
  // The reader examines a running thread that it cannot ask yet again, after a
  // millisecond. It gives up after five times, or after 100 times if the thread
  // lacks a processor and has not run in between.
  TRIES = 100,
  TRY_OF_RUN = 20,
};

// --- asking a thread that runs ---

// Returns whether a signal is harmless for the system call in which a thread is
// blocked. A signal is harmless if the kernel restarts the call after the
// signal, or if the call completes before the signal is handled.
static bool survives_signal(const struct mprof_proc_thread *p) {
  const uint64_t command = p->args[1] & FUTEX_CMD_MASK;
  switch (p->syscall) {
  case MPROF_SYSCALL_NONE: // blocked in a page fault
  case SYS_mmap:
  case SYS_munmap:
  case SYS_mprotect:
  case SYS_madvise:
  case SYS_brk:
  case SYS_wait4:
  case SYS_waitid:
  case SYS_flock:
    return true;
  // The kernel restarts a futex call without a timeout (args[3] is 0).
  case SYS_futex:
    return p->args[3] == 0 &&
           (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET ||
            command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2);
  default:
    return false;
  }
}

static bool blocks_signal(const struct mprof_proc_thread *p) {
  return p->blocked >> (mprof_ask_signal() - 1) & 1;
}

static bool may_be_asked(const struct mprof_thread_slot *slot,
                         const struct mprof_proc_thread *p) {
  const struct mprof_thread *t = slot->thread;
  // Such a thread blocks all signals. It will answer when it leaves the signal
  // handler, for which it may have to wait for a processor.
  if (t && atomic_load(&t->is_in_handler))
    return true;
  return !blocks_signal(p) &&
         (p->state == 'R' || ((p->state == 'S' || p->state == 'D') &&
                              (survives_signal(p) ||
                               (t && (t->inside || t->may_be_interrupted)))));
}

// Marks the slot's thread as asked by a signal, if `is_asked`.
static void set_asked(struct mprof_reader *r, struct mprof_thread_slot *slot,
                      bool is_asked) {
  if (is_asked && !slot->is_listed) {
    slot->is_listed = true;
    slot->next_asked = r->last_asked;
    r->last_asked = slot;
  }
  slot->is_asked = is_asked;
}

static void ask_unregistered(struct mprof_reader *r,
                             struct mprof_thread_slot *slot) {
  // is_asked is set under registry_lock, so that a thread that enters the
  // registry later sees that it was asked.
  mprof_reader_lock_registry(r);
  set_asked(r, slot, slot->thread == NULL);
  mprof_reader_unlock_registry(r);
  if (slot->is_asked &&
      mprof_ask(slot->tid, r->round, mprof_slot_number(r->s, slot)) != 0)
    slot->is_asked = false;
}

// Asks a registered thread for its stack by a signal. Returns false if the
// thread is in a noted wait now (t->wait is the address of the wait). In this
// case the reader must read the thread's stack.
static bool ask_registered(struct mprof_reader *r,
                           struct mprof_thread_slot *slot) {
  struct mprof_thread *t = slot->thread;
  uintptr_t none = 0;
  if (!atomic_compare_exchange_strong(&t->wait, &none, MPROF_WAIT_ASKED))
    return none == MPROF_WAIT_ASKED;
  set_asked(r, slot,
            mprof_is_own_record(r, slot) &&
                mprof_ask(slot->tid, r->round, mprof_slot_number(r->s, slot)) ==
                    0);
  uintptr_t asked = MPROF_WAIT_ASKED;
  if (!slot->is_asked)
    atomic_compare_exchange_strong(&t->wait, &asked, 0);
  return true;
}

// Asks the threads again that have answered before answers led to a pause, so
// that these threads pause, too (thread_stacks.h). Does not ask a thread that
// may be in a system call.
static void pause_early(struct mprof_reader *r) {
  struct mprof_proc_thread p;
  struct mprof_thread_slot *slot = r->last_asked;
  for (; slot; slot = slot->next_asked) {
    if (slot->is_asked && slot->thread && !mprof_slot_is_absent(slot) &&
        mprof_proc_thread_asleep(slot->tid, &p) && p.state == 'R' &&
        may_be_asked(slot, &p))
      ask_registered(r, slot);
  }
}

// Fills the slot of a thread that has not run since an earlier round, and could
// not be asked then. Returns whether it has.
static bool keep_asleep(struct mprof_reader *r,
                        struct mprof_thread_slot *slot) {
  if (!r->s->same || !r->s->same->asleep(slot) ||
      !mprof_slot_claim(r->s, slot, 0))
    return false;
  slot->source = MPROF_STACK_UNREAD;
  slot->is_known = true;
  mprof_slot_satisfy(slot);
  return true;
}

static void ask(struct mprof_reader *r, struct mprof_thread_slot *slot) {
  struct mprof_proc_thread p;
  for (int tries = 0; tries < 100 && mprof_slot_is_absent(slot); tries++) {
    if (slot->thread) {
      const enum reading reading = read_waiting(r, slot);
      slot->is_gone = reading == READ_GONE;
      if (reading != READ_NOT_WAITING)
        continue;
    }
    const bool was_in_handler =
        slot->thread && atomic_load(&slot->thread->is_in_handler);
    if (keep_asleep(r, slot))
      return;
    if (!mprof_proc_thread_asleep(slot->tid, &p)) {
      slot->is_gone = true;
      return;
    }
    if (!may_be_asked(slot, &p)) {
      // The thread has left the signal handler, so p no longer describes it.
      if (was_in_handler)
        continue;
      // If slot->thread->wait is not 0, the thread has just begun a wait. (A
      // thread sets this variable before the system call of the wait.) In this
      // case the loop reads the thread's stack next.
      if (slot->thread && atomic_load(&slot->thread->wait) != 0)
        continue;
      // The thread may be in a signal handler, or about to enter one, or in a
      // short system call. So the reader examines the thread again later.
      const bool has_run =
          p.state != 'R' || p.ran_ns == 0 || p.ran_ns != slot->tried_ns;
      slot->may_later = p.state == 'R' || p.state == 'D';
      slot->tries += has_run ? TRY_OF_RUN : 1;
      slot->tried_ns = p.ran_ns;
      return;
    }
    if ((p.state == 'R' || p.syscall == MPROF_SYSCALL_NONE) &&
        !mprof_is_past_unnoted(slot, &p)) {
      slot->may_later = true;
      return;
    }
    slot->kernel_state = p.state;
    slot->syscall = p.syscall;
    if (p.syscall == SYS_futex)
      mprof_unnoted_find(&p, &slot->unnoted);
    if (!slot->thread)
      ask_unregistered(r, slot);
    const bool is_done =
        slot->is_asked || (slot->thread && ask_registered(r, slot));
    if (slot->is_asked && p.state == 'R' &&
        mprof_pause_asked(&r->asked, slot->tid))
      pause_early(r);
    if (is_done)
      return;
  }
}

// --- waiting for answers ---

static bool is_pending(const struct mprof_thread_slot *slot) {
  return slot->is_asked && !slot->is_gone &&
         atomic_load_explicit(&slot->state, memory_order_acquire) !=
             MPROF_SLOT_SATISFIED;
}

static size_t count_pending(struct mprof_reader *r, bool looks) {
  size_t n = 0;
  struct mprof_thread_slot *slot = r->last_asked;
  for (; slot; slot = slot->next_asked) {
    if (!is_pending(slot))
      continue;
    if (looks && !mprof_sys_thread_alive(slot->tid)) {
      slot->is_gone = true;
      r->lost++;
      continue;
    }
    n++;
  }
  return n;
}

// Returns whether any thread that was asked and has not answered is runnable,
// or is in the signal handler of an earlier round. Such a thread may still
// answer when it gets a processor, or ends its pause.
static bool has_runnable(const struct mprof_reader *r) {
  struct mprof_proc_thread p;
  const struct mprof_thread_slot *slot = r->last_asked;
  for (; slot; slot = slot->next_asked) {
    const struct mprof_thread *t = atomic_load(&slot->thread);
    if (is_pending(slot) && mprof_proc_thread_asleep(slot->tid, &p) &&
        (p.state == 'R' || (t && atomic_load(&t->is_in_handler))))
      return true;
  }
  return false;
}

static uint64_t ms_since(uint64_t ticks) {
  return mprof_clock_ns(mprof_clock_now() - ticks) / 1000000;
}

static void await_answers(struct mprof_reader *r) {
  const uint64_t begin = mprof_clock_now();
  uint64_t last = begin; // time of the last new answer
  size_t before = 0;
  // Most threads answer within microseconds. The number of short sleeps is
  // limited, because each of them costs processor time. If the reader has used
  // more time than the threads that compute, the kernel lets it run less often.
  // A sampler is to cost little, and its threads can wait for its end.
  int dozes_left = r->s->same ? 10 : 100;
  for (;;) {
    for (int i = 0; i < 20 && dozes_left > 0 && count_pending(r, false) > 0;
         i++, dozes_left--)
      mprof_sys_doze();
    const size_t pending = count_pending(r, true);
    if (pending == 0)
      return;
    if (pending != before)
      last = mprof_clock_now();
    before = pending;
    if (ms_since(last) >= QUIET_MS) {
      if (ms_since(begin) >= PATIENCE_MS || !has_runnable(r))
        return;
      last = mprof_clock_now();
    }
    mprof_sys_sleep_ms(1);
  }
}

// --- threads that were not asked or have not answered ---

// Fills the slot of a thread that could not be asked or has not answered. The
// slot gets the data that the kernel shows in /proc. If this data shows the
// hooked function in which the thread waits, the slot gets this function and
// its caller.
static void look(struct mprof_thread_stacks *s,
                 struct mprof_thread_slot *slot) {
  struct mprof_proc_thread p;
  const bool is_there = mprof_proc_thread(slot->tid, &p);
  if (!mprof_slot_claim(s, slot, 2))
    return;
  slot->is_gone = !is_there;
  slot->source = MPROF_STACK_UNREAD;
  slot->kernel_state = p.state;
  slot->syscall = p.syscall;
  slot->tried_ns = p.ran_ns;
  slot->fd = (int)p.args[0];
  if (slot->thread)
    slot->stack->labels = atomic_load(&atomic_load(&slot->thread)->labels);
  slot->stack->end = MPROF_STACK_CUT_CHAIN;
  if (is_there && p.syscall >= 0)
    mprof_unnoted_find(&p, &slot->unnoted);
  const struct mprof_unnoted *u = &slot->unnoted;
  const uint32_t known = p.pc == 0 ? 0 : u->op != 0 && u->caller != 0 ? 2 : 1;
  const mprof_pc pcs[] = {u->op != 0 ? mprof_op_pc(u->op) : p.pc + 1,
                          u->caller};
  slot->stack->stack_len = known < mprof_flags.stack_depth
                               ? known
                               : (uint32_t)mprof_flags.stack_depth;
  memcpy(slot->stack->stack, pcs, slot->stack->stack_len * sizeof(pcs[0]));
  mprof_slot_satisfy(slot);
}

static void withdraw(struct mprof_thread_slot *slot) {
  uintptr_t asked = MPROF_WAIT_ASKED;
  if (slot->is_asked && slot->thread)
    atomic_compare_exchange_strong(&slot->thread->wait, &asked, 0);
}

// --- all slots ---

// Returns whether the thread seems to be in a noted wait. The wait may begin or
// end at any time.
static bool seems_to_wait(const struct mprof_thread_slot *slot) {
  const struct mprof_thread *t = atomic_load(&slot->thread);
  return t && atomic_load_explicit(&t->wait, memory_order_relaxed) != 0;
}

// Reads the stacks of the waiting threads of the slots from number `from` on,
// and asks the running threads. Returns whether some threads should be examined
// again.
// only_running: leaves out the threads that seem to wait
// again: only the threads that could not be asked at the last time; otherwise
//   only the threads that were not examined before
static bool ask_all(struct mprof_reader *r, size_t from, bool only_running,
                    bool again) {
  bool is_again = false;
  for (size_t i = from; i < r->s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(r->s, i);
    if (!only_running)
      read_prefetch(r->s, i);
    if (!mprof_slot_is_absent(slot) ||
        (again ? !slot->may_later : slot->is_examined) ||
        (only_running && seems_to_wait(slot)))
      continue;
    slot->is_examined = true;
    slot->may_later = false;
    ask(r, slot);
    slot->may_later &= slot->tries < TRIES;
    is_again |= slot->may_later;
  }
  return is_again;
}

// Asks the running threads first, and reads the stacks of the waiting threads
// while the asked threads answer. If more threads run than there are
// processors, the reader shares its processor with some of them. When the
// reader has used up its time slice, each of these threads that was not asked
// gets a slice before the reader gets the next one. A thread that was asked
// only answers and then pauses (thread_stacks.h).
void mprof_collect_slots(struct mprof_reader *r, size_t from) {
  const uint64_t begin = mprof_clock_now();
  bool is_again = ask_all(r, from, true, false);
  mprof_slots_populate(r->s);
  is_again |= ask_all(r, from, false, false);
  await_answers(r);
  while (is_again && ms_since(begin) < PATIENCE_MS) {
    mprof_sys_sleep_ms(1);
    is_again = ask_all(r, from, false, true);
    await_answers(r);
  }
}

void mprof_collect_rest(struct mprof_reader *r) {
  for (size_t i = 0; i < r->s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(r->s, i);
    withdraw(slot);
    if (mprof_slot_is_absent(slot))
      look(r->s, slot);
  }
}
