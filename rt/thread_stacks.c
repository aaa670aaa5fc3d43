// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader of a round of stacks; see thread_stacks.h. A round has these
// steps:
// 1. Every thread gets a slot.
// 2. Threads that wait are read where they stand.
// 3. The other threads are asked by a signal, unless the signal would end a
//    system call, and have some time to answer.
// 4. For the rest the kernel tells what it knows.
// A thread that is created during the round has no slot, unless all threads are
// stopped.
// (Go: goroutineProfileWithLabelsConcurrent, tryRecordGoroutineProfile)

#include "thread_stacks.h"

#include "clock.h"
#include "flags.h"
#include "lock_names.h"
#include "thread_wait.h"
#include "writer.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

enum {
  // The reader gives up when no answer has come for QUIET_MS. For threads that
  // are runnable but have no processor it waits for PATIENCE_MS.
  QUIET_MS = 100,
  PATIENCE_MS = 3000,
  SPARE_SLOTS = 64,
  // Maximum number of looks, a millisecond apart, at a thread that runs but
  // cannot be asked yet.
  TRIES = 5,
  // Maximum number of looks for threads that were created before all stood
  // still.
  LOOKS = 10,
};

static struct {
  struct mprof_lock lock; // stacks_lock: only one round at a time
  unsigned rounds;        // number of the last round; guarded by lock
} rounds = {.lock = MPROF_LOCK_INIT(MPROF_RANK_STACKS)};

// A round, as the calling thread takes it.
struct reader {
  struct mprof_thread_stacks *s;
  unsigned round;
  unsigned lost; // threads that were asked and have ended since
  void (*inspect)(struct mprof_thread_stacks *s, void *arg); // NULL: none
  void *inspect_arg;
};

atomic_int mprof_own_thread;

static bool is_runtimes_own(int tid) {
  return tid == atomic_load_explicit(&mprof_own_thread, memory_order_relaxed);
}

void mprof_stacks_lock(void) { mprof_lock_acquire(&rounds.lock); }
void mprof_stacks_unlock(void) { mprof_lock_release(&rounds.lock); }

// --- slots ---

static size_t place_of(const struct mprof_thread_stacks *s, int tid) {
  return (uint32_t)tid * 2654435761u & (s->index_size - 1);
}

struct mprof_thread_slot *mprof_slot_of(const struct mprof_thread_stacks *s,
                                        int tid) {
  size_t i = place_of(s, tid);
  for (; s->index[i] != 0; i = (i + 1) & (s->index_size - 1)) {
    struct mprof_thread_slot *slot = mprof_slot_at(s, s->index[i] - 1);
    if (slot->tid == tid)
      return slot;
  }
  return NULL;
}

// Returns the new slot of a thread, or NULL if there is no room.
static struct mprof_thread_slot *add_slot(struct mprof_thread_stacks *s,
                                          int tid) {
  if (s->slots_len == s->slots_cap)
    return NULL;
  struct mprof_thread_slot *slot = mprof_slot_at(s, s->slots_len);
  slot->tid = tid;
  size_t i = place_of(s, tid);
  while (s->index[i] != 0)
    i = (i + 1) & (s->index_size - 1);
  s->index[i] = (uint32_t)++s->slots_len;
  return slot;
}

struct tids {
  int *v;
  size_t len, mapped_bytes;
};

static void free_tids(struct tids *t) {
  if (t->v)
    mprof_os_unmap(t->v, t->mapped_bytes);
  t->v = NULL;
}

static int list_threads(struct tids *t) {
  size_t cap = 1024;
  for (;;) {
    *t = (struct tids){.mapped_bytes = cap * sizeof(int)};
    t->v = mprof_os_map(t->mapped_bytes);
    if (!t->v)
      return ENOMEM;
    long n = mprof_proc_threads(t->v, cap);
    if (n >= 0 && (size_t)n <= cap) {
      for (size_t i = 0; i < (size_t)n; i++)
        if (!is_runtimes_own(t->v[i]))
          t->v[t->len++] = t->v[i];
      return 0;
    }
    free_tids(t);
    if (n < 0)
      return (int)-n;
    cap = (size_t)n + n / 8 + 64; // more threads may be created meanwhile
  }
}

static int make_slots(struct mprof_thread_stacks *s, size_t threads) {
  s->slots_cap = threads + mprof_threads_list(NULL, 0) + SPARE_SLOTS;
  s->depth = (uint32_t)mprof_flags.stack_depth;
  s->stride =
      (sizeof(struct mprof_thread_slot) + s->depth * sizeof(mprof_pc) + 63) &
      ~(size_t)63;
  s->index_size = 64;
  while (s->index_size < 2 * s->slots_cap)
    s->index_size *= 2;
  const size_t slots_bytes = s->slots_cap * s->stride;
  const size_t pointers_bytes = s->slots_cap * sizeof(*s->v);
  const size_t scratch_bytes = s->depth * sizeof(mprof_pc);
  s->mapped_bytes = slots_bytes + pointers_bytes + scratch_bytes +
                    s->index_size * sizeof(*s->index);
  s->slots = mprof_os_map(s->mapped_bytes);
  if (!s->slots)
    return ENOMEM;
  char *p = s->slots + slots_bytes;
  s->v = (struct mprof_thread_slot **)p;
  s->scratch = (mprof_pc *)(p + pointers_bytes);
  s->index = (uint32_t *)(p + pointers_bytes + scratch_bytes);
  return 0;
}

void mprof_thread_stacks_free(struct mprof_thread_stacks *s) {
  if (s->slots)
    mprof_os_unmap(s->slots, s->mapped_bytes);
  *s = (struct mprof_thread_stacks){0};
}

// --- threads and their records ---

// Takes the registry's lock, unless all threads are to stand still: then the
// reader holds the lock for the whole round, since a thread could be stopped
// inside the runtime while it holds the lock.
static void lock_registry(const struct reader *r) {
  if (!r->s->stops)
    mprof_lock_acquire(&mprof_registry_lock);
}
static void unlock_registry(const struct reader *r) {
  if (!r->s->stops)
    mprof_lock_release(&mprof_registry_lock);
}

// Puts a registered thread into the round. The kernel's list may lack a thread
// if another one ends meanwhile, so every thread that has a record is added. A
// thread is therefore never in the round without the thread that created it.
static void join_locked(struct mprof_thread *t, void *arg) {
  const struct reader *r = arg;
  struct mprof_thread_slot *slot = mprof_slot_of(r->s, t->tid);
  if (!slot)
    slot = add_slot(r->s, t->tid);
  if (!slot || slot->thread)
    return;
  slot->thread = t;
  slot->sees_exit = t->countdown != NULL;
  slot->created = t->created;
  atomic_store(&t->slot, mprof_slot_number(r->s, slot));
  atomic_store(&t->round, r->round);
}

// Returns whether the slot's record still belongs to the slot's thread. The
// thread may have ended, and its record may belong to another thread by now.
static bool is_its_own(const struct reader *r,
                       const struct mprof_thread_slot *slot) {
  const struct mprof_thread *t = slot->thread;
  return atomic_load(&t->round) == r->round &&
         atomic_load(&t->slot) == mprof_slot_number(r->s, slot);
}

// --- reading a thread that waits ---

// Returns whether the reader must hold the thread while it reads the stack. A
// thread need not be held if the stack from the wait on is known to be the
// thread's own: that stack stays until the thread ends, and the end waits for
// readers. If all threads are to stand still, every thread is held.
static bool may_vanish(const struct reader *r,
                       const struct mprof_thread_slot *slot, uintptr_t w,
                       const struct mprof_stack_range *range) {
  return r->s->stops || !slot->sees_exit || w < range->lo || w >= range->hi;
}

// Copies a wait. Returns false if the thread has left the wait by a jump, so
// that its memory holds something else.
static bool read_note(struct mprof_wait *copy, uintptr_t w) {
  *copy = *(const struct mprof_wait *)w;
  return copy->fp - w < MPROF_MAX_FRAME_BYTES &&
         copy->frame + MPROF_MAX_FRAME_BYTES - w < 2 * MPROF_MAX_FRAME_BYTES;
}

// A wait and the stack that were read; the stack is in the round's scratch.
struct read {
  bool is_wait; // false: the other fields are not set
  struct mprof_wait wait;
  size_t len; // addresses in scratch
  enum mprof_stack_end end;
  uint16_t labels;
};

// Reads the wait at w and its stack, after w has been claimed. The thread does
// not notice.
static void read_claimed(struct reader *r, struct read *read,
                         const struct mprof_thread_slot *slot, uintptr_t w,
                         struct mprof_stack_range range) {
  read->is_wait = read_note(&read->wait, w);
  read->labels = atomic_load(&atomic_load(&slot->thread)->labels);
  if (read->is_wait)
    read->len = mprof_unwind_wait(&range, &read->wait, r->s->scratch,
                                  r->s->depth, &read->end);
}

static void keep(struct reader *r, struct mprof_thread_slot *slot,
                 const struct read *read) {
  if (!mprof_slot_claim(slot))
    return; // the thread has filled its slot first
  memcpy(slot->stack.stack, r->s->scratch, read->len * sizeof(mprof_pc));
  slot->stack.stack_len = (uint32_t)read->len;
  slot->stack.end = (uint8_t)read->end;
  slot->stack.labels = read->labels;
  mprof_slot_note_wait(slot, &read->wait);
  mprof_slot_satisfy(slot);
}

enum reading { READ, NOT_WAITING, GONE };

static enum reading read_waiting(struct reader *r,
                                 struct mprof_thread_slot *slot) {
  struct mprof_thread *t = slot->thread;
  const struct mprof_stack_range range = t->range;
  uintptr_t w = atomic_load(&t->wait);
  if (!is_its_own(r, slot))
    return GONE;
  if (w == 0 || w == MPROF_WAIT_ASKED)
    return NOT_WAITING;
  const uintptr_t bit =
      may_vanish(r, slot, w, &range) ? MPROF_WAIT_HELD : MPROF_WAIT_READ;
  uintptr_t claimed = w | bit;
  // Stored before the claim: if the claim does not hold the thread, the
  // thread's end sees this and waits for the reader.
  atomic_store(&mprof_round.reading, t);
  if (!atomic_compare_exchange_strong(&t->wait, &w, claimed)) {
    atomic_store(&mprof_round.reading, NULL);
    return NOT_WAITING;
  }
  struct read read = {.is_wait = false};
  const bool is_own = is_its_own(r, slot);
  if (is_own)
    read_claimed(r, &read, slot, w, range);
  bool is_valid;
  if (r->s->stops && is_own) { // released together with all others
    slot->held = w;
    is_valid = true;
  } else {
    is_valid = atomic_compare_exchange_strong(&t->wait, &claimed, w);
  }
  atomic_store(&mprof_round.reading, NULL);
  if (!is_own)
    return GONE;
  if (is_valid && read.is_wait)
    keep(r, slot, &read);
  return is_valid ? READ : NOT_WAITING;
}

// --- asking a thread that runs ---

// Returns whether the system call that a thread is blocked in survives a
// signal: the kernel restarts the call, or the call does not end before it is
// done.
static bool survives_signal(const struct mprof_proc_thread *p) {
  const uint64_t command = p->args[1] & FUTEX_CMD_MASK;
  switch (p->syscall) {
  case MPROF_SYSCALL_NONE: // a page fault
  case SYS_mmap:
  case SYS_munmap:
  case SYS_mprotect:
  case SYS_madvise:
  case SYS_brk:
  case SYS_wait4:
  case SYS_waitid:
  case SYS_flock:
    return true;
  case SYS_futex: // without a timeout, or of the runtime's own locks
    return (p->args[3] == 0 || p->args[3] == (uintptr_t)&mprof_lock_patience) &&
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
  return !blocks_signal(p) &&
         (p->state == 'R' || ((p->state == 'S' || p->state == 'D') &&
                              (survives_signal(p) ||
                               (t && (t->inside || t->may_be_interrupted)))));
}

static void ask_unregistered(struct reader *r, struct mprof_thread_slot *slot) {
  // A thread that enters the registry from now on sees that it is asked.
  lock_registry(r);
  const bool is_registered = slot->thread != NULL;
  slot->is_asked = !is_registered;
  unlock_registry(r);
  if (slot->is_asked &&
      mprof_ask(slot->tid, r->round, mprof_slot_number(r->s, slot)) != 0)
    slot->is_asked = false;
}

// Returns false if the thread waits now.
static bool ask_registered(struct reader *r, struct mprof_thread_slot *slot) {
  struct mprof_thread *t = slot->thread;
  uintptr_t none = 0;
  if (!atomic_compare_exchange_strong(&t->wait, &none, MPROF_WAIT_ASKED))
    return none == MPROF_WAIT_ASKED;
  slot->is_asked =
      is_its_own(r, slot) &&
      mprof_ask(slot->tid, r->round, mprof_slot_number(r->s, slot)) == 0;
  uintptr_t asked = MPROF_WAIT_ASKED;
  if (!slot->is_asked)
    atomic_compare_exchange_strong(&t->wait, &asked, 0);
  return true;
}

static bool is_absent(const struct mprof_thread_slot *slot) {
  return !slot->is_gone &&
         atomic_load_explicit(&slot->state, memory_order_acquire) ==
             MPROF_SLOT_ABSENT;
}

static void ask(struct reader *r, struct mprof_thread_slot *slot) {
  struct mprof_proc_thread p;
  for (int tries = 0; tries < 100 && is_absent(slot); tries++) {
    if (slot->thread) {
      const enum reading reading = read_waiting(r, slot);
      slot->is_gone = reading == GONE;
      if (reading != NOT_WAITING)
        continue;
    }
    if (!mprof_proc_thread(slot->tid, &p)) {
      slot->is_gone = true;
      return;
    }
    if (!may_be_asked(slot, &p)) {
      // The thread may just have begun a wait, which is noted before its call.
      if (slot->thread && atomic_load(&slot->thread->wait) != 0)
        continue;
      // The thread may be in a signal handler, or about to enter one, or in a
      // short system call. It is looked at again later.
      slot->may_later = p.state == 'R' || p.state == 'D';
      slot->tries++;
      return;
    }
    if ((p.state == 'R' || p.syscall == MPROF_SYSCALL_NONE) &&
        !mprof_is_past_unnoted(slot, &p)) {
      slot->may_later = true;
      return;
    }
    if (!slot->thread)
      ask_unregistered(r, slot);
    if (slot->is_asked || (slot->thread && ask_registered(r, slot)))
      return;
  }
}

// --- waiting for answers ---

static bool is_pending(const struct mprof_thread_slot *slot) {
  return slot->is_asked && !slot->is_gone &&
         atomic_load_explicit(&slot->state, memory_order_acquire) !=
             MPROF_SLOT_SATISFIED;
}

static size_t count_pending(struct reader *r, bool looks) {
  size_t n = 0;
  for (size_t i = 0; i < r->s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(r->s, i);
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

// Returns whether a thread that has not answered is runnable, and so may still
// answer when it gets a processor.
static bool has_runnable(const struct reader *r) {
  struct mprof_proc_thread p;
  for (size_t i = 0; i < r->s->slots_len; i++) {
    const struct mprof_thread_slot *slot = mprof_slot_at(r->s, i);
    if (is_pending(slot) && mprof_proc_thread(slot->tid, &p) && p.state == 'R')
      return true;
  }
  return false;
}

static uint64_t ms_since(uint64_t ticks) {
  return mprof_clock_ns(mprof_clock_now() - ticks) / 1000000;
}

static void await_answers(struct reader *r) {
  const uint64_t begin = mprof_clock_now();
  uint64_t last = begin; // time of the last answer
  size_t before = 0;
  for (;;) {
    // Most answers come within microseconds.
    for (int i = 0; i < 20 && count_pending(r, false) > 0; i++)
      mprof_sys_yield();
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

// Fills the slot of a thread that could not be asked or did not answer with
// what the kernel tells.
static void look(struct mprof_thread_slot *slot) {
  struct mprof_proc_thread p;
  const bool is_there = mprof_proc_thread(slot->tid, &p);
  if (!mprof_slot_claim(slot))
    return;
  slot->is_gone = !is_there;
  slot->source = MPROF_STACK_UNREAD;
  slot->kernel_state = p.state;
  slot->syscall = p.syscall;
  if (slot->thread)
    slot->stack.labels = atomic_load(&atomic_load(&slot->thread)->labels);
  slot->stack.end = MPROF_STACK_CUT_CHAIN;
  if (p.pc != 0 && mprof_flags.stack_depth > 0) {
    slot->stack.stack[0] = p.pc + 1;
    slot->stack.stack_len = 1;
  }
  mprof_slot_satisfy(slot);
}

static void withdraw(struct mprof_thread_slot *slot) {
  uintptr_t asked = MPROF_WAIT_ASKED;
  if (slot->is_asked && slot->thread)
    atomic_compare_exchange_strong(&slot->thread->wait, &asked, 0);
}

// --- the round ---

static void collect(struct reader *r, size_t from) {
  struct mprof_thread_stacks *s = r->s;
  const uint64_t begin = mprof_clock_now();
  bool is_first = true, is_again = true;
  for (; is_again && ms_since(begin) < PATIENCE_MS; is_first = false) {
    if (!is_first)
      mprof_sys_sleep_ms(1);
    is_again = false;
    for (size_t i = from; i < s->slots_len; i++) {
      struct mprof_thread_slot *slot = mprof_slot_at(s, i);
      if (!is_absent(slot) || (!is_first && !slot->may_later))
        continue;
      slot->may_later = false;
      ask(r, slot);
      slot->may_later &= slot->tries < TRIES;
      is_again |= slot->may_later;
    }
    await_answers(r);
  }
}

// Reads and asks threads that were created meanwhile, until no thread is left
// that could create another.
static void stop_the_rest(struct reader *r) {
  struct mprof_thread_stacks *s = r->s;
  for (int looks = 0; looks < LOOKS; looks++) {
    const size_t known = s->slots_len;
    struct tids tids;
    if (list_threads(&tids) != 0)
      return;
    for (size_t i = 0; i < tids.len; i++)
      if (!mprof_slot_of(s, tids.v[i]) && !add_slot(s, tids.v[i]))
        break;
    free_tids(&tids);
    if (s->slots_len == known)
      return;
    mprof_threads_each(join_locked, r);
    collect(r, known);
  }
}

static void let_go(struct mprof_thread_stacks *s) {
  for (size_t i = 0; i < s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(s, i);
    uintptr_t held = slot->held | MPROF_WAIT_HELD;
    if (slot->held != 0)
      atomic_compare_exchange_strong(&slot->thread->wait, &held, slot->held);
  }
  atomic_store(&mprof_round.stopped, 0);
  mprof_sys_futex_wake_all(&mprof_round.stopped);
}

// Fills the calling thread's slot.
static void fill_own(struct mprof_thread_stacks *s, uintptr_t frame) {
  if (is_runtimes_own(mprof_sys_gettid()))
    return;
  struct mprof_thread_slot *slot = mprof_slot_of(s, mprof_sys_gettid());
  struct mprof_thread *t = mprof_thread_self(false);
  struct mprof_stack_range range =
      t ? t->range
        : mprof_stack_range_of_thread(mprof_sys_gettid() == mprof_sys_getpid());
  enum mprof_stack_end end;
  if (!slot) // the kernel's list may lack the thread; see join_locked
    slot = add_slot(s, mprof_sys_gettid());
  if (!slot || !mprof_slot_claim(slot))
    return;
  const struct mprof_wait *w = mprof_tls.interrupted;
  slot->stack.stack_len =
      (uint32_t)(w ? mprof_unwind_wait(&range, w, slot->stack.stack, s->depth,
                                       &end)
                   : mprof_unwind_cfi(&range, frame, slot->stack.stack,
                                      s->depth, &end));
  slot->stack.end = (uint8_t)end;
  slot->stack.labels = mprof_tls.labels;
  if (w)
    mprof_slot_note_wait(slot, w);
  mprof_slot_satisfy(slot);
  s->v[s->len++] = slot;
}

static void run(struct reader *r, uintptr_t frame) {
  struct mprof_thread_stacks *s = r->s;
  fill_own(s, frame);
  mprof_ask_begin();
  mprof_lock_acquire(&mprof_registry_lock);
  mprof_threads_each(join_locked, r);
  atomic_store(&mprof_round.stopped, s->stops);
  mprof_round.stacks = s;
  atomic_store(&mprof_round.active, r->round);
  if (!s->stops)
    mprof_lock_release(&mprof_registry_lock);
  collect(r, 0);
  if (s->stops)
    stop_the_rest(r);
  for (size_t i = 0; i < s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(s, i);
    withdraw(slot);
    if (is_absent(slot))
      look(slot);
  }
  if (r->inspect)
    r->inspect(s, r->inspect_arg);
  atomic_store(&mprof_round.active, 0);
  let_go(s);
  if (s->stops)
    mprof_lock_release(&mprof_registry_lock);
  while (atomic_load(&mprof_round.users) != 0)
    mprof_sys_yield();
  mprof_ask_end(r->lost);
}

static void list_results(struct mprof_thread_stacks *s) {
  const struct mprof_thread_slot *own = s->len > 0 ? s->v[0] : NULL;
  for (size_t i = 0; i < s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(s, i);
    slot->count = 1;
    if (slot != own && !slot->is_gone &&
        atomic_load(&slot->state) == MPROF_SLOT_SATISFIED)
      s->v[s->len++] = slot;
  }
  s->threads = s->len;
}

static int take(struct reader *r, struct mprof_thread_stacks *s,
                uintptr_t frame, size_t limit, bool stops) {
  *s = (struct mprof_thread_stacks){.time_ns = mprof_sys_realtime_ns(),
                                    .stops = stops};
  struct tids tids;
  // The next round can read more threads without a signal.
  mprof_contention_note_waits();
  mprof_unwind_learn_roots();
  mprof_thread_self(false); // enters the calling thread in the registry
  mprof_lock_acquire(&rounds.lock);
  int error = list_threads(&tids);
  if (error != ENOMEM) // without /proc, the registry is the list
    error = 0;
  if (error == 0 && tids.len > limit) {
    s->threads = tids.len;
    error = ERANGE;
  }
  if (error == 0 && (error = make_slots(s, tids.len)) == 0) {
    // A signal handler that takes long would keep the other threads waiting.
    const uint64_t mask = mprof_sys_set_signal_mask(UINT64_MAX);
    r->s = s;
    if (++rounds.rounds == 0)
      rounds.rounds = 1;
    r->round = rounds.rounds;
    for (size_t i = 0; i < tids.len; i++)
      add_slot(s, tids.v[i]);
    run(r, frame);
    mprof_sys_set_signal_mask(mask);
    list_results(s);
  }
  free_tids(&tids);
  mprof_lock_release(&rounds.lock);
  return error;
}

int mprof_thread_stacks_take(struct mprof_thread_stacks *s, uintptr_t frame,
                             size_t limit, bool stops) {
  struct reader r = {.inspect = NULL};
  return take(&r, s, frame, limit, stops);
}

int mprof_thread_stacks_inspect(struct mprof_thread_stacks *s, uintptr_t frame,
                                void (*inspect)(struct mprof_thread_stacks *s,
                                                void *arg),
                                void *arg) {
  struct reader r = {.inspect = inspect, .inspect_arg = arg};
  return take(&r, s, frame, SIZE_MAX, true);
}

void mprof_thread_stacks_reset(void) {
  atomic_store(&mprof_own_thread, 0);
  mprof_lock_reset(&rounds.lock);
  atomic_store(&mprof_round.active, 0);
  atomic_store(&mprof_round.users, 0);
  atomic_store(&mprof_round.stopped, 0);
  atomic_store(&mprof_round.reading, NULL);
  mprof_ask_reset();
}
