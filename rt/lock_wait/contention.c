// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records waits and releases for the block profile and the mutex profile; see
// contention.h. When a thread is about to wait for a lock, its stack is unwound
// and the bucket is looked up before the thread sleeps. This costs little,
// because the thread has to wait anyway. After the wait, the thread may hold
// the lock, so it only adds to two counters. An unlock is charged with the time
// that the waiters have waited. This charge is computed before the unlock and
// recorded after it. (Go: blockevent, mutexevent, saveBlockEventStack)

#include "lock_wait/contention.h"

#include "bucket/bucket.h"
#include "lock_wait/holds.h"
#include "lock_wait/hooked.h"
#include "lock_wait/lock_order.h"
#include "lock_wait/waiters.h"
#include "options/flags.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/scale.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "sys/usdt.h"
#include "thread/threads.h"
#include "thread_stacks/thread_wait.h"
#include "trace/trace_events.h"
#include "unwind/unwind.h"

#include <string.h>

struct mprof_contention mprof_contention;

// Kinds of waits that the mutex profile needs. Unlocks of mutexes, rwlocks,
// spin locks, the program's own locks and locks by futex calls are charged with
// waits of these kinds. The kind cond is needed, too, because a wait for a
// condition unlocks a mutex.
#define MUTEX_KINDS                                                            \
  (MPROF_KIND_BIT(mutex) | MPROF_KIND_BIT(rwlock) | MPROF_KIND_BIT(spin) |     \
   MPROF_KIND_BIT(cond) | MPROF_KIND_BIT(user) | MPROF_KIND_BIT(futex))

// Kinds of waits whose whole time is in the profile `locks`. A wait for a futex
// need not be one for a lock.
#define LOCK_KINDS                                                             \
  (MPROF_KIND_BIT(mutex) | MPROF_KIND_BIT(rwlock) | MPROF_KIND_BIT(spin) |     \
   MPROF_KIND_BIT(user))

// --- sampling and counters ---

// (Go: blocksampled)
bool mprof_block_sampled(uint64_t cycles, uint64_t rate) {
  return rate != 0 &&
         (rate <= cycles || mprof_thread_random() % rate <= cycles);
}

// Returns true with probability 1 / fraction. Returns false if fraction is 0.
// If fraction is 1, draws no random number.
static bool is_one_in(uint64_t fraction) {
  return fraction == 1 ||
         (fraction != 0 && mprof_thread_random() % fraction == 0);
}

// Adds a sampled wait to the counters of b. A wait with cycles < rate is
// sampled with probability cycles / rate. So the sample stands for rate /
// cycles waits, which take rate cycles in total. (Go: CL 299991)
void mprof_block_add(struct mprof_bucket *b, uint64_t cycles, uint64_t rate) {
  uint64_t count = MPROF_COUNT_ONE;
  if (cycles < rate) {
    const uint64_t most = UINT64_C(1) << 62;
    count = mprof_mul_div(rate, MPROF_COUNT_ONE, cycles, 0);
    count = count < most ? count : most;
    cycles = rate;
  }
  atomic_fetch_add_explicit(&b->wait.count, count, memory_order_relaxed);
  atomic_fetch_add_explicit(&b->wait.cycles, cycles, memory_order_relaxed);
}

void mprof_mutex_add(struct mprof_bucket *b, uint64_t cycles,
                     uint64_t fraction) {
  atomic_fetch_add_explicit(&b->wait.count, fraction * MPROF_COUNT_ONE,
                            memory_order_relaxed);
  atomic_fetch_add_explicit(&b->wait.cycles, fraction * cycles,
                            memory_order_relaxed);
}

static uint64_t load(const _Atomic uint64_t *v) {
  return atomic_load_explicit(v, memory_order_relaxed);
}

// Returns the bucket of the stack at frame, with the hooked function op as the
// leaf. Returns NULL if the option for the stack depth is 0, or if there is no
// memory.
static struct mprof_bucket *bucket_of(enum mprof_bucket_type type,
                                      enum mprof_kind kind, uintptr_t op,
                                      uintptr_t frame, uintptr_t object) {
  // As in Go, stack depth 0 means that no events are recorded. (Go:
  // profstackdepth)
  if (mprof_flags.stack_depth == 0)
    return NULL;
  struct mprof_thread *t = mprof_thread_self(true);
  if (!t)
    return NULL;
  struct mprof_bucket_key key = {.type = (uint8_t)type,
                                 .kind = (uint8_t)kind,
                                 .labels = mprof_tls.labels,
                                 .object = object};
  return mprof_bucket_at(t, &key, op + 1, frame);
}

// --- waits ---

static bool wants_block(enum mprof_kind kind) {
  return load(&mprof_contention.block_rate) != 0 &&
         (mprof_contention.block_kinds >> kind & 1);
}

// Returns whether the frame is inside a call of a function that the program
// marks with mprof_lock, mprof_unlock or mprof_blocking. The call of a marked
// function is recorded as one event, so waits inside it are not recorded.
static bool is_inside_user(uintptr_t frame) {
  if (mprof_likely(mprof_tls.user_frame == 0))
    return false;
  if (frame < mprof_tls.user_frame)
    return true;
  mprof_tls.user_frame = 0;
  return false;
}

// Counts a wait that is not recorded because the guard is set. Counts nothing
// if no profile and no trace would show the wait, because no event is lost in
// this case.
static void count_lost_wait(enum mprof_kind kind) {
  if (wants_block(kind) || mprof_trace_is_on() ||
      (load(&mprof_contention.mutex_fraction) != 0 &&
       (MUTEX_KINDS >> kind & 1)))
    mprof_stat_add(MPROF_STAT_reentrant, 1);
}

// Sets all fields of w except saved; start is 0. On success, sets the guard and
// returns true. Returns false if the wait must not be recorded. Inlined,
// because the guard belongs to the caller's frame.
__attribute__((always_inline)) static inline bool
begin(struct mprof_wait *w, enum mprof_kind kind, uintptr_t op, uintptr_t frame,
      uintptr_t object) {
  memset(w, 0, offsetof(struct mprof_wait, saved)); // the caller sets `saved`
  w->op = op;
  w->frame = frame;
  w->object = object;
  w->kind = (uint8_t)kind;
  if (!mprof_process_ready())
    return false;
  if (!mprof_guard_enter()) {
    count_lost_wait(kind);
    return false;
  }
  w->epoch = mprof_process_epoch();
  return true;
}

// Returns whether the block profile, the mutex profile or the trace is on. Only
// these need the charges of releases, that is, the times that waiters have
// waited.
static bool has_charges(void) {
  return load(&mprof_contention.block_rate) != 0 ||
         load(&mprof_contention.mutex_fraction) != 0 || mprof_trace_is_on();
}

// Returns whether threads note their waits now, that is, store the address of
// each wait for the code that collects the stacks of all threads.
static bool are_noted(void) {
  return atomic_load_explicit(&mprof_contention.notes_waits,
                              memory_order_acquire);
}

// Returns whether the profile `locks` needs waits of the kind.
static bool wants_pairs(enum mprof_kind kind) {
  return load(&mprof_contention.mutex_fraction) != 0 &&
         (MUTEX_KINDS >> kind & 1);
}

// Finds the bucket of a wait, for the profiles that need it.
static void find_bucket(struct mprof_wait *w) {
  const bool is_block = wants_block(w->kind), is_pair = wants_pairs(w->kind);
  if (!is_block && !is_pair)
    return;
  struct mprof_bucket *b =
      bucket_of(MPROF_BUCKET_BLOCK, w->kind, w->op, w->frame, w->object);
  if (is_block)
    w->bucket = b;
  if (is_pair)
    w->waiter = mprof_persistent_handle(b);
}

// Adds the rest of a wait to the profile `locks`: the ticks that no release was
// charged with. charged: the other ticks.
static void add_rest(uint32_t waiter, uint64_t cycles, uint64_t charged) {
  const uint64_t fraction = load(&mprof_contention.mutex_fraction);
  if (waiter != 0 && cycles > charged && is_one_in(fraction))
    mprof_pairs_add_rest(waiter, cycles - charged, fraction);
}

static MPROF_NOINLINE void trace_begin(struct mprof_wait *w) {
  char name[MPROF_LOCK_NAME];
  mprof_trace_wait_begin(w, false,
                         mprof_lock_name(w->object, name) ? name : NULL);
}

void mprof_wait_begin_saved(struct mprof_wait *w, enum mprof_kind kind,
                            uintptr_t op, uintptr_t frame, uintptr_t object,
                            uintptr_t mutex, uint32_t value) {
  if (!begin(w, kind, op, frame, object))
    return;
  w->start = mprof_clock_now();
  w->is_inside = is_inside_user(frame);
  if (!w->is_inside) {
    find_bucket(w);
    if (mprof_unlikely(mprof_trace_is_on()))
      trace_begin(w);
    if (object != 0 && has_charges()) {
      struct mprof_waiter who = {.stack = w->waiter};
      w->is_waiter = mprof_waiters_enter(object, mutex, w->start, &who);
      w->from = who.from;
      w->is_shared = who.stack != 0;
    }
    if (w->is_waiter && value != 0)
      mprof_waiters_expect(object, value);
  }
  if (mprof_unlikely(are_noted()))
    mprof_wait_note(w);
  mprof_guard_leave();
}

void mprof_call_begin_saved(struct mprof_wait *w, enum mprof_kind kind,
                            uintptr_t op, uintptr_t frame) {
  if (!begin(w, kind, op, frame, 0))
    return;
  w->start = mprof_clock_about();
  w->is_inside = is_inside_user(frame);
  if (!w->is_inside) {
    w->is_late = wants_block(kind);
    if (mprof_unlikely(mprof_trace_is_on()))
      mprof_trace_wait_begin(w, true, NULL);
  }
  if (mprof_unlikely(are_noted()))
    mprof_wait_note(w);
  mprof_guard_leave();
}

// Semaphore of the probe mprof:contention (usdt.h).
MPROF_USDT_DATA MPROF_HIDDEN uint16_t mprof_contention_probes = 0;

// The probe mprof:contention(lock, ns, weight) of a sampled wait, when it has
// ended. lock: address of the object that the thread waited for, or 0. weight:
// the estimated nanoseconds of all waits for which the sample stands.
static MPROF_NOINLINE void probe(uintptr_t object, uint64_t cycles,
                                 uint64_t rate) {
  const uint64_t ns = mprof_clock_ns(cycles);
  MPROF_USDT_3("mprof", "contention", "mprof_contention_probes",
               (uint64_t)object, ns, cycles < rate ? mprof_clock_ns(rate) : ns);
}

// Counts a sampled wait.
static void add_wait(struct mprof_bucket *b, uintptr_t object, uint64_t cycles,
                     uint64_t rate) {
  mprof_block_add(b, cycles, rate);
  if (mprof_unlikely(*(volatile uint16_t *)&mprof_contention_probes != 0))
    probe(object, cycles, rate);
}

static void record(const struct mprof_wait *w, uint64_t cycles) {
  uint64_t rate = load(&mprof_contention.block_rate);
  if (cycles == 0)
    cycles = 1;
  if (!mprof_block_sampled(cycles, rate))
    return;
  struct mprof_bucket *b = w->bucket;
  const enum mprof_kind kind =
      w->kind == MPROF_KIND_io ? mprof_kind_of_file(w->fd) : w->kind;
  if (w->is_late)
    b = bucket_of(MPROF_BUCKET_BLOCK, kind, w->op, w->frame, w->object);
  if (b)
    add_wait(b, w->object, cycles, rate);
}

// Returns the bucket for the wait for `mutex` that follows a wait for a
// condition. b: bucket of the wait for the condition. Both waits have the same
// stack, so the stack is not unwound again.
static struct mprof_bucket *bucket_of_mutex(const struct mprof_bucket *b,
                                            uintptr_t mutex) {
  const struct mprof_bucket_key key = {.stack = b->stack,
                                       .stack_len = b->stack_len,
                                       .type = b->type,
                                       .skip = b->skip,
                                       .end = b->end,
                                       .kind = MPROF_KIND_mutex,
                                       .labels = b->labels,
                                       .object = mutex};
  const bool has_slots = mprof_bucket_has_slots(b);
  const struct mprof_bucket_slots slots =
      has_slots ? mprof_bucket_slots(b) : (struct mprof_bucket_slots){0};
  return mprof_bucket_make(&key, has_slots ? &slots : NULL);
}

// Ends the second part of a wait for a condition, in which the thread waits for
// the mutex after the signal. If no thread has unlocked the mutex since the
// signal, this thread did not wait for it, and nothing is recorded.
static void end_mutex_part(const struct mprof_wait *w,
                           const struct mprof_signal *signal) {
  struct mprof_waiter who = {.stack = signal->waiter, .from = signal->from};
  const uint64_t released =
      mprof_waiters_leave(signal->mutex, signal->time, NULL, NULL, &who);
  if (released == 0 || signal->time < w->start)
    return;
  const uint64_t cycles = released - signal->time;
  add_rest(signal->waiter != 0 ? signal->waiter : w->waiter, cycles,
           who.charged);
  const uint64_t rate = load(&mprof_contention.block_rate);
  if (w->bucket == NULL || !wants_block(MPROF_KIND_mutex) ||
      !mprof_block_sampled(cycles, rate))
    return;
  // The stack that the profile `locks` shows, so that both profiles agree.
  const struct mprof_bucket *stack =
      signal->waiter != 0 ? mprof_persistent_known(signal->waiter) : w->bucket;
  struct mprof_bucket *b = bucket_of_mutex(stack, signal->mutex);
  if (b)
    add_wait(b, signal->mutex, cycles, rate);
}

void mprof_wait_end(struct mprof_wait *w, enum mprof_outcome outcome) {
  struct mprof_signal signal = {.time = 0};
  struct mprof_trace_mark mark = {.buf = NULL};
  if (w->start == 0 || w->epoch != mprof_process_epoch())
    return;
  if (mprof_unlikely(w->trace_session != 0))
    mprof_trace_wait_fetch(w);
  if (mprof_likely(w->is_noted))
    mprof_wait_note_end(w);
  if (w->is_inside ||
      (!w->is_waiter && w->trace_session == 0 && outcome == MPROF_NO_WAIT))
    return;
  uint64_t released = 0;
  struct mprof_waiter who = {.stack = w->is_shared ? w->waiter : 0,
                             .from = w->from};
  uint64_t now = mprof_clock_about();
  // begin() found the guard free when the wait began, so this wait does not run
  // inside the runtime. Only mprof_threads_keep_out may have set the guard of
  // the waiting thread, and mprof_threads_let_in clears it soon.
  while (mprof_unlikely(mprof_tls.guard == MPROF_GUARD_KEPT_OUT))
    mprof_sys_sleep_ms(1);
  mprof_guard_enter();
  if (w->is_waiter)
    released = mprof_waiters_leave(
        w->object, w->start, outcome == MPROF_GOT ? &mark : NULL,
        w->kind == MPROF_KIND_cond ? &signal : NULL, &who);
  if (mprof_unlikely(w->trace_session != 0 || mprof_trace_is_on()))
    mprof_trace_wait_end(w, outcome, now, &mark);
  if (outcome != MPROF_NO_WAIT && (w->bucket || w->is_late || w->waiter)) {
    // The recorded wait ends when the lock was released. The time that the
    // thread then needed to wake up is not counted. (Go: releasetime)
    uint64_t until = outcome == MPROF_GOT && released ? released : now;
    if (signal.time >= w->start)
      until = signal.time;
    const uint64_t cycles = until > w->start ? until - w->start : 1;
    if (w->bucket || w->is_late)
      record(w, cycles);
    if (LOCK_KINDS >> w->kind & 1)
      add_rest(w->waiter, cycles, who.charged);
  }
  // Only a lock whose acquisition is about to be noted, so that no later
  // acquisition is taken for the one after this wait.
  const bool is_noted =
      w->waiter != 0 && outcome == MPROF_GOT && mprof_notes_wanted(w->object);
  mprof_tls.waited = is_noted ? w->object : 0;
  mprof_tls.waited_stack = w->waiter;
  if (signal.is_counted)
    end_mutex_part(w, &signal);
  mprof_guard_leave();
}

void mprof_try_failed(uintptr_t op, uintptr_t frame, uintptr_t object) {
  struct mprof_wait w = {.start = 0};
  if (is_inside_user(frame) || !begin(&w, MPROF_KIND_try, op, frame, object))
    return;
  w.start = mprof_clock_about();
  if (wants_block(MPROF_KIND_try)) {
    w.is_late = true;
    record(&w, 1);
  }
  mprof_guard_leave();
}

// --- releases ---

void mprof_release_begin(struct mprof_release *r, uintptr_t object,
                         enum mprof_wakes wakes, uintptr_t op,
                         uintptr_t frame) {
  *r = (struct mprof_release){.object = object};
  if (is_inside_user(frame) || !mprof_process_ready())
    return;
  if (!mprof_guard_enter()) {
    if (has_charges())
      mprof_stat_add(MPROF_STAT_reentrant, 1);
    return;
  }
  struct mprof_trace_waker waker = {.row = NULL};
  if (mprof_unlikely(mprof_trace_is_on()))
    mprof_trace_release_begin(&waker, op, frame);
  r->charge = mprof_waiters_charge(object, wakes, waker.row ? &waker : NULL,
                                   load(&mprof_contention.mutex_fraction) != 0);
  if (mprof_notes_wanted(object)) {
    uint64_t since = 0;
    const uint32_t taken = mprof_note_take(object, &since);
    if (r->charge.shares != NULL) {
      r->charge.shares->taken = taken;
      r->charge.shares->since = since;
    }
  }
  if (r->charge.signal.woken != 0)
    mprof_waiters_count_woken(object, &r->charge.signal);
  if (mprof_unlikely(waker.row != NULL))
    mprof_trace_leave();
  mprof_guard_leave();
}

void mprof_release_end(struct mprof_release *r, bool released,
                       enum mprof_kind kind, uintptr_t op, uintptr_t frame) {
  if (r->charge.ticks == 0 || !mprof_guard_enter())
    return;
  if (!released) {
    mprof_waiters_uncharge(r->object, &r->charge);
  } else {
    uint64_t fraction = load(&mprof_contention.mutex_fraction);
    if (is_one_in(fraction)) {
      struct mprof_bucket *b =
          bucket_of(MPROF_BUCKET_MUTEX, kind, op, frame, r->object);
      if (b) {
        mprof_mutex_add(b, r->charge.ticks, fraction);
        mprof_pairs_add_release(&r->charge, mprof_persistent_handle(b),
                                fraction);
      }
    }
  }
  if (r->charge.shares != NULL)
    mprof_waiters_forget_shares(r->object, r->charge.shares);
  mprof_guard_leave();
}

void mprof_hold_taken(uintptr_t lock, uint8_t kind, unsigned how, uintptr_t op,
                      uintptr_t frame) {
  if (mprof_holds_on)
    mprof_holds_add(lock, kind, how, op, frame);
  if (!mprof_notes_wanted(lock) || is_inside_user(frame) ||
      !mprof_process_ready() || !mprof_guard_enter())
    return;
  const uint32_t stack = mprof_tls.waited == lock
                             ? mprof_tls.waited_stack
                             : mprof_persistent_handle(bucket_of(
                                   MPROF_BUCKET_BLOCK, kind, op, frame, lock));
  mprof_tls.waited = 0;
  if (stack != 0)
    mprof_note_taken(lock, stack,
                     kind == MPROF_KIND_mutex || kind == MPROF_KIND_rwlock);
  else
    mprof_waiters_noted(lock);
  mprof_guard_leave();
}

void mprof_mutex_retaken(const struct mprof_wait *w, uintptr_t mutex) {
  if (w->waiter == 0 || !mprof_notes_wanted(mutex) || !mprof_guard_enter())
    return;
  mprof_note_taken(mutex, w->waiter, false);
  mprof_guard_leave();
}

void mprof_release_taken(uintptr_t object) {
  if (!mprof_process_ready() || !mprof_guard_enter())
    return;
  mprof_waiters_skip(object);
  mprof_guard_leave();
}

// --- rates ---

static void update_kinds_locked(void) {
  uint64_t kinds = 0;
  if (load(&mprof_contention.block_rate) != 0)
    kinds |= mprof_contention.block_kinds;
  if (load(&mprof_contention.mutex_fraction) != 0)
    kinds |= MUTEX_KINDS;
  // Add all kinds except `try`, because a failed try is not a wait.
  if (mprof_trace_is_on() || mprof_contention.sees_waits)
    kinds |= ((UINT64_C(1) << MPROF_KIND_COUNT) - 1) & ~MPROF_KIND_BIT(try);
  if (mprof_order_on)
    kinds |= MUTEX_KINDS | MPROF_KIND_BIT(try);
  kinds &= ~mprof_contention.foreign_kinds;
  __atomic_store_n(&__mprof_sync_kinds, kinds, __ATOMIC_RELAXED);
  mprof_switches_set_locked(kinds);
}

void mprof_contention_update_kinds(void) {
  mprof_lock_acquire(&mprof_registry_lock);
  update_kinds_locked();
  mprof_lock_release(&mprof_registry_lock);
}

void mprof_contention_note_waits(void) {
  // Find the functions before the lock is taken. Uninstrumented code may wait
  // in them, too.
  if (!are_noted())
    mprof_hooked_find_all();
  mprof_lock_acquire(&mprof_registry_lock);
  const bool is_new = !mprof_contention.notes_waits;
  if (is_new) {
    mprof_contention.sees_waits = true;
    update_kinds_locked();
    atomic_store(&mprof_contention.notes_waits, true);
  }
  mprof_lock_release(&mprof_registry_lock);
  // From now on, each thread records its waits, so that other threads can read
  // the stack of a waiting thread. During this pause, most threads begin a new
  // wait, which is recorded. thread_wait.c handles the other threads.
  if (is_new)
    mprof_sys_sleep_ms(10);
}

static void set_block_rate(uint64_t ns) {
  // As in Go, rate 1 means that every event is recorded. So rate 1 is stored
  // without a conversion to ticks.
  atomic_store(&mprof_contention.block_rate,
               ns == 1 ? 1 : mprof_clock_ticks(ns));
  atomic_store(&mprof_contention.block_rate_ns, ns);
}

void mprof_contention_init(void) {
  mprof_contention.foreign_kinds = mprof_hooked_foreign_kinds();
  mprof_contention.block_kinds = mprof_kinds_parse(mprof_flags.block_kinds);
  if (mprof_contention.block_kinds == 0) {
    mprof_message(
        "option block_kinds contains no known kind; MProf uses 'sync'");
    mprof_contention.block_kinds = mprof_kinds_parse("sync");
  }
  if (mprof_flags.block_rate != 0)
    set_block_rate(mprof_flags.block_rate);
  atomic_store(&mprof_contention.mutex_fraction, mprof_flags.mutex_fraction);
  const bool notes =
      mprof_flags.threads || mprof_holds_on || mprof_flags.wall_rate != 0;
  if (notes)
    mprof_hooked_find_all();
  mprof_contention.sees_waits = notes;
  mprof_contention.notes_waits = notes;
  mprof_contention.notes_from_start = notes;
  if (mprof_flags.own)
    mprof_lock_observer = mprof_own_lock_released;
  update_kinds_locked(); // without registry_lock: no other thread runs yet
}

uint64_t mprof_contention_set_block_rate(uint64_t ns) {
  mprof_lock_acquire(&mprof_registry_lock);
  uint64_t before = load(&mprof_contention.block_rate_ns);
  set_block_rate(ns);
  update_kinds_locked();
  mprof_lock_release(&mprof_registry_lock);
  return before;
}

uint64_t mprof_contention_set_mutex_fraction(int n) {
  mprof_lock_acquire(&mprof_registry_lock);
  uint64_t before = load(&mprof_contention.mutex_fraction);
  if (n >= 0) {
    atomic_store(&mprof_contention.mutex_fraction, (uint64_t)n);
    update_kinds_locked();
  }
  mprof_lock_release(&mprof_registry_lock);
  return before;
}
