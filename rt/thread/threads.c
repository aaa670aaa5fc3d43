// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of threads: a list with a struct mprof_thread for each thread.
// (Go: allm)
//
// A thread is added to the registry at its first event, which is usually an
// allocation. When the thread ends, the destructor of a pthread key removes it,
// while the thread-local memory of the thread still exists.
//
// The destructor cannot remove a thread that has an event after the destructor
// has run. The key is not used if libc would have to allocate memory for the
// key's values. In both cases, the field `countdown` of the thread is NULL. The
// struct is reused when the kernel reports that the thread no longer exists.

#include "thread/threads.h"

#include "options/flags.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread_stacks/thread_wait.h"
#include "trace/trace_events.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

struct mprof_lock mprof_registry_lock = MPROF_LOCK_INIT(MPROF_RANK_REGISTRY);

// glibc stores the values of pthread keys below this number in the thread's
// control block. For other keys, glibc allocates memory.
#define MAX_INLINE_KEY 32u
// Maximum number of structs to check for ended threads, when a new thread needs
// a struct.
#define REAP_TRIES 4

static struct {
  struct mprof_thread *live;   // newest live thread; guarded by registry_lock
  struct mprof_thread *oldest; // oldest live thread; guarded by registry_lock
  struct mprof_thread *unused; // structs for reuse; guarded by registry_lock
  // Number of live threads. Written under registry_lock, read atomically.
  size_t threads;
  // Number of threads that have drawn a random number. Accessed atomically.
  uint64_t ordinal;
  // Number from which the random numbers of all threads are derived; 0: not
  // drawn yet. Accessed atomically.
  uint64_t seed;
  // Key whose destructor removes ending threads from the registry. Written
  // once, by mprof_threads_init.
  pthread_key_t key;
  bool has_key; // whether `key` exists; written once, by mprof_threads_init
} registry;

void (*_Atomic mprof_thread_observer)(struct mprof_thread *t, bool begins);

// --- shards ---

// When a thread ends, a new thread may get the same shard, and then continues
// the same counters.
#define WORD_BITS 64u
static struct {
  // One bit for each of the shards 1 to MPROF_OWN_SHARDS. 1: a thread has the
  // shard. Bit 0 of taken[0] is for shard 1.
  uint64_t taken[MPROF_OWN_SHARDS / WORD_BITS + 1];
  unsigned next_common;
} shards; // guarded by registry_lock

// Returns a shard for a new thread. Call with registry_lock held.
static uint16_t take_shard_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  for (unsigned i = 0; i < MPROF_OWN_SHARDS; i++) {
    uint64_t bit = UINT64_C(1) << i % WORD_BITS;
    if ((shards.taken[i / WORD_BITS] & bit) == 0) {
      shards.taken[i / WORD_BITS] |= bit;
      return (uint16_t)(i + 1);
    }
  }
  unsigned at = shards.next_common++ % MPROF_COMMON_SHARDS;
  return (uint16_t)(MPROF_OWN_SHARDS + 1 + at);
}

// Makes the shard of an ending thread available to new threads.
static void give_shard_back_locked(uint16_t shard) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  if (shard == 0 || shard > MPROF_OWN_SHARDS)
    return;
  unsigned i = shard - 1u;
  MPROF_ASSERT(shards.taken[i / WORD_BITS] >> i % WORD_BITS & 1);
  shards.taken[i / WORD_BITS] &= ~(UINT64_C(1) << i % WORD_BITS);
}

// --- the registry ---

static void link_locked(struct mprof_thread *t) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  t->prev = NULL;
  t->next = registry.live;
  if (t->next)
    t->next->prev = t;
  else
    registry.oldest = t;
  registry.live = t;
  __atomic_store_n(&registry.threads, registry.threads + 1, __ATOMIC_RELAXED);
}

static void unlink_locked(struct mprof_thread *t) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  MPROF_ASSERT(t->prev ? t->prev->next == t : registry.live == t);
  MPROF_ASSERT(t->next ? t->next->prev == t : registry.oldest == t);
  if (t->prev)
    t->prev->next = t->next;
  else
    registry.live = t->next;
  if (t->next)
    t->next->prev = t->prev;
  else
    registry.oldest = t->prev;
  __atomic_store_n(&registry.threads, registry.threads - 1, __ATOMIC_RELAXED);
}

static void retire_locked(struct mprof_thread *t) {
  unlink_locked(t);
  t->countdown = NULL;
  give_shard_back_locked(t->shard);
  t->shard = 0;
  t->next = registry.unused;
  registry.unused = t;
}

// Checks the oldest threads of the registry, and removes those that have ended.
// Skips each thread that has a countdown address, because this thread's
// destructor removes it from the registry when it ends.
static void reap_locked(void) {
  struct mprof_thread *t = registry.oldest;
  for (int i = 0; t && i < REAP_TRIES; i++) {
    struct mprof_thread *newer = t->prev;
    if (!t->countdown && !mprof_sys_thread_alive(t->tid)) {
      retire_locked(t);
    } else { // move t to the front, so that the next call checks other threads
      unlink_locked(t);
      link_locked(t);
    }
    t = newer;
  }
}

static struct mprof_thread *new_thread_locked(void) {
  if (!registry.unused)
    reap_locked();
  struct mprof_thread *t = registry.unused;
  if (t)
    registry.unused = t->next;
  else
    t = mprof_persistent_alloc(sizeof(*t));
  return t;
}

static bool register_exit(struct mprof_thread *t) {
  return registry.has_key && !mprof_tls.is_exiting &&
         pthread_setspecific(registry.key, t) == 0;
}

// Adds no thread of a child that vfork or clone created and that may share the
// parent's memory. In such a child, reap_locked would take all threads of the
// parent for ended threads.
static MPROF_NOINLINE struct mprof_thread *enter(void) {
  if (!mprof_process_is_own())
    return NULL;
  int tid = mprof_sys_gettid();
  mprof_lock_acquire(&mprof_registry_lock);
  struct mprof_thread *t = new_thread_locked();
  if (t) {
    const struct mprof_thread old = *t;
    *t = (struct mprof_thread){.tid = tid,
                               .scratch = old.scratch,
                               .sized = old.sized,
                               .sized_mask = old.sized_mask,
                               .labels = mprof_tls.labels,
                               .holds = old.holds,
                               .order = old.order,
                               .pthread = (uintptr_t)pthread_self()};
    t->range = mprof_stack_range_of_thread(tid == mprof_sys_getpid());
    mprof_tls.shard = t->shard = take_shard_locked();
    t->guard = &mprof_tls.guard;
    if (register_exit(t))
      t->countdown = &__mprof_heap_countdown;
    mprof_stacks_enter_locked(t);
    link_locked(t);
  }
  mprof_tls.self = t;
  mprof_lock_release(&mprof_registry_lock);
  if (t)
    mprof_stat_add(MPROF_STAT_threads, 1);
  return t;
}

static void on_thread_exit(void *arg) {
  struct mprof_thread *t = arg;
  // In a forked child, the pthread key may still hold the struct of the
  // parent's thread. This struct must not be removed.
  if (t != mprof_tls.self)
    return;
  // If the guard is still set, the code that has set it never continues,
  // because the thread ends.
  if (!mprof_guard_enter()) {
    mprof_guard_abandon();
    mprof_guard_enter();
  }
  // The thread stops using its shard before it takes registry_lock. Therefore
  // the next thread that gets the shard sees all counts of this thread.
  mprof_tls.shard = 0;
  mprof_thread_observe(t, false);
  if (mprof_trace_is_on())
    mprof_trace_thread_end();
  mprof_stacks_until_unread(t);
  mprof_lock_acquire(&mprof_registry_lock);
  retire_locked(t);
  // mprof_lock_release must not use this thread's record, because another
  // thread may have taken over the record already. So mprof_tls.self is NULL.
  mprof_tls.self = NULL;
  mprof_tls.order = NULL;
  mprof_tls.order_top = NULL;
  mprof_lock_release(&mprof_registry_lock);
  mprof_tls.is_exiting = true;
  mprof_guard_leave();
}

// Gives thread t its buffers. Returns false if there is no memory.
static MPROF_NOINLINE bool add_scratch(struct mprof_thread *t) {
  mprof_unwind_learn_roots();
  size_t stack_bytes = 2 * mprof_flags.stack_depth * sizeof(mprof_pc);
  struct mprof_scratch *s =
      mprof_persistent_alloc(sizeof(struct mprof_scratch) + stack_bytes);
  if (!s)
    return false;
  s->depth = (uint32_t)mprof_flags.stack_depth;
  t->sized = s->few;
  t->sized_mask = MPROF_SIZED_MIN - 1;
  atomic_signal_fence(memory_order_release);
  t->scratch = s;
  return true;
}

struct mprof_thread *mprof_thread_make(bool need_scratch) {
  MPROF_ASSERT(mprof_tls.guard != 0);
  struct mprof_thread *t = mprof_tls.self;
  if (mprof_tls.is_own || (!t && !(t = enter())))
    return NULL;
  if (need_scratch && !t->scratch && !add_scratch(t))
    return NULL;
  return t;
}

size_t mprof_threads_list(struct mprof_thread_info *v, size_t cap) {
  size_t n = 0;
  mprof_lock_acquire(&mprof_registry_lock);
  for (struct mprof_thread *t = registry.live; t; t = t->next, n++)
    if (n < cap)
      v[n] = (struct mprof_thread_info){t->tid, t->created, t->runs};
  mprof_lock_release(&mprof_registry_lock);
  return n;
}

void mprof_threads_each(void (*fn)(struct mprof_thread *t, void *arg),
                        void *arg) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  for (struct mprof_thread *t = registry.live; t; t = t->next)
    fn(t, arg);
}

void mprof_threads_each_oldest_first(void (*fn)(struct mprof_thread *t,
                                                void *arg),
                                     void *arg) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  for (struct mprof_thread *t = registry.oldest; t; t = t->prev)
    fn(t, arg);
}

size_t mprof_threads_number(void) {
  return __atomic_load_n(&registry.threads, __ATOMIC_RELAXED);
}

// A thread subtracts from its countdown by a plain load and store. If this
// function stores 0 between the load and the store, the thread overwrites the
// 0. Therefore each countdown is read again after a memory barrier on all
// processors. If it is still 0, it stays 0 until the thread draws a new
// countdown. After a thread has stored a new countdown, it reads the epoch of
// the sampling rate, so it notices the new rate.
void mprof_threads_interrupt(uint64_t rate_epoch) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  bool all_seen = false;
  for (int tries = 0; !all_seen && tries < 100; tries++) {
    all_seen = true;
    for (struct mprof_thread *t = registry.live; t; t = t->next) {
      if (!t->countdown || atomic_load(&t->rate_epoch) == rate_epoch)
        continue;
      if (__atomic_load_n(t->countdown, __ATOMIC_RELAXED) > 0 || tries == 0) {
        all_seen = false;
        __atomic_store_n(t->countdown, 0, __ATOMIC_RELAXED);
      }
    }
    mprof_sys_membarrier();
  }
}

// Maximum time in milliseconds to wait for a thread to finish its trace record.
// A signal handler may have interrupted the thread and left the record by
// longjmp, so that in_trace stays set forever. The limit is long, because a
// slow thread must not be mistaken for a thread that has left its record.
#define LEAVE_MS 1000

void mprof_threads_leave_trace(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  mprof_sys_membarrier();
  for (struct mprof_thread *t = registry.live; t; t = t->next) {
    int waited_ms = 0;
    t->has_left_trace = false;
    while (atomic_load(&t->in_trace) != 0 && mprof_sys_thread_alive(t->tid)) {
      if (waited_ms++ == LEAVE_MS) {
        t->has_left_trace = true;
        atomic_store(&t->in_trace, 0);
        break;
      }
      mprof_sys_sleep_ms(waited_ms > 1);
    }
  }
}

// Maximum time in milliseconds to wait for threads that are inside the runtime.
// A thread that has left the runtime by longjmp stays inside until its next
// event.
#define KEEP_OUT_MS 1000
// A thread reads its guard and sets it some instructions later. Between them,
// another thread's value may be overwritten. After this time in milliseconds, a
// thread that has begun to set its guard has done so.
#define SETTLE_MS 10

// Sets the guards that are not set. Returns whether all threads are kept out.
static bool are_kept_out_locked(void) {
  bool all = true;
  for (struct mprof_thread *t = registry.live; t; t = t->next) {
    uintptr_t guard = 0;
    if (t->countdown && *t->guard != MPROF_GUARD_KEPT_OUT) {
      all = false;
      __atomic_compare_exchange_n(t->guard, &guard, MPROF_GUARD_KEPT_OUT, false,
                                  __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    }
  }
  return all;
}

void mprof_threads_keep_out(void) {
  bool settled = false;
  mprof_lock_acquire(&mprof_registry_lock);
  for (int ms = 0; ms < KEEP_OUT_MS; ms++) {
    const bool all = are_kept_out_locked();
    if (all && settled)
      return;
    // A thread inside may wait for the lock.
    mprof_lock_release(&mprof_registry_lock);
    mprof_sys_sleep_ms(all ? SETTLE_MS : 1);
    settled = all;
    mprof_lock_acquire(&mprof_registry_lock);
  }
}

void mprof_threads_let_in(void) {
  for (struct mprof_thread *t = registry.live; t; t = t->next) {
    uintptr_t guard = MPROF_GUARD_KEPT_OUT;
    if (t->countdown)
      __atomic_compare_exchange_n(t->guard, &guard, 0, false, __ATOMIC_SEQ_CST,
                                  __ATOMIC_RELAXED);
  }
  mprof_lock_release(&mprof_registry_lock);
}

static uint64_t mix(uint64_t x) { // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Returns the first state of a thread's random numbers. Without the option
// seed, all threads derive it from one number of the kernel, because a system
// call for each thread would make up a noticeable part of the cost of a thread.
static MPROF_NOINLINE uint64_t first_random(void) {
  uint64_t seed = mprof_flags.seed;
  if (seed == 0) {
    seed = __atomic_load_n(&registry.seed, __ATOMIC_RELAXED);
    if (seed == 0) {
      seed = mprof_sys_random();
      __atomic_store_n(&registry.seed, seed, __ATOMIC_RELAXED);
    }
  }
  const uint64_t n = __atomic_fetch_add(&registry.ordinal, 1, __ATOMIC_RELAXED);
  const uint64_t state = mix(seed + mix(n));
  return state ? state : 1;
}

uint64_t mprof_thread_random(void) { // xorshift64*
  uint64_t x = mprof_tls.random;
  if (mprof_unlikely(x == 0))
    x = first_random();
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  mprof_tls.random = x;
  return x * 0x2545f4914f6cdd1du;
}

// Maximum number of bytes of stack that the runtime needs below the frame of a
// function that sets the guard.
#define STACK_NEEDED 32768u

// Function has_overflowed of mprof_guard_hooks. A frame far below that of the
// caller keeps its return address for a long time after it has ended, if the
// stack never becomes so deep again. This is usual after an overflow.
static bool has_overflowed(uintptr_t at, uintptr_t frame) {
  struct mprof_thread *t = mprof_tls.self;
  struct mprof_stack_range foreign;
  struct mprof_alt_stack alt;
  if (!t || frame < at || !mprof_sys_alt_stack(&alt) || alt.is_active ||
      mprof_stack_enter(&t->range, &foreign, at) != &t->range ||
      mprof_stack_enter(&t->range, &foreign, frame) != &t->range)
    return false;
  // The kernel extends the stack of the first thread at this access, as long as
  // the limit of its size allows it.
  for (uintptr_t bytes = MPROF_PAGE; bytes <= STACK_NEEDED; bytes += MPROF_PAGE)
    if (!mprof_sys_readable(at - bytes))
      return true;
  return false;
}

void mprof_threads_init(void) {
  mprof_guard_hooks.has_overflowed = has_overflowed;
  registry.has_key = pthread_key_create(&registry.key, on_thread_exit) == 0;
  if (registry.has_key && registry.key >= MAX_INLINE_KEY) {
    pthread_key_delete(registry.key);
    registry.has_key = false;
  }
  mprof_proc_find_emulator(false);
}

// --- the runtime's own threads ---

atomic_int mprof_own_threads[MPROF_OWNS];

uint64_t mprof_own_thread_mask(void) {
  enum { FIRST_REAL_TIME = 32 }; // the kernel's; libc's SIGRTMIN is above
  uint64_t mask = UINT64_MAX;
  for (int sig = FIRST_REAL_TIME; sig < SIGRTMIN; sig++)
    mask &= ~(UINT64_C(1) << (sig - 1));
  return mask;
}

struct mprof_own_call mprof_own_call_begin(void) {
  const struct mprof_own_call before = {mprof_tls.is_own, mprof_tls.rate_epoch,
                                        __mprof_heap_countdown};
  MPROF_ASSERT(mprof_tls.guard != 0);
  mprof_tls.is_own = true;
  return before;
}

void mprof_own_call_end(const struct mprof_own_call *before) {
  mprof_tls.is_own = before->is_own;
  mprof_tls.rate_epoch = before->rate_epoch;
  __mprof_heap_countdown = before->countdown;
}

// The states of a thread. STOPPED: it was told to end, and AGAIN: to begin
// again then.
enum { ENDED, RUNS, STOPPED, AGAIN };

static struct own {
  const char *name;
  void (*run)(void);
  atomic_int state;
  atomic_uint news; // a futex
} owns[MPROF_OWNS];

// Ends the thread, unless it has to begin again. Returns whether it ends, or
// has ended before. A new thread of the program may get the id of the ended
// thread. The next thread of the runtime may have stored its own id already.
static bool end_own(enum mprof_own own) {
  int tid = mprof_sys_gettid(), state = RUNS;
  if (!atomic_compare_exchange_strong(&mprof_own_threads[own], &tid, 0))
    return true;
  while (!atomic_compare_exchange_weak(&owns[own].state, &state,
                                       state == AGAIN ? RUNS : ENDED))
    ;
  return state != AGAIN;
}

void mprof_own_end(enum mprof_own own) { end_own(own); }

static void *run_own(void *arg) {
  const enum mprof_own own = (enum mprof_own)((struct own *)arg - owns);
  mprof_tls.is_own = true;
  mprof_tls.guard = MPROF_GUARD_KEPT;
  mprof_sys_set_own_name(owns[own].name);
  do {
    atomic_store(&mprof_own_threads[own], mprof_sys_gettid());
    owns[own].run();
  } while (!end_own(own));
  return arg;
}

static int start_own(struct own *o) {
  pthread_t thread;
  pthread_attr_t attr;
  const uint64_t mask = mprof_sys_set_signal_mask(mprof_own_thread_mask());
  int error = -pthread_attr_init(&attr);
  if (error == 0) {
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    const struct mprof_own_call before = mprof_own_call_begin();
    // glibc puts the thread-local variables of the program into the stack, and
    // refuses a stack that is too small for them.
    enum { STACK = 256 << 10, MAX_STACK = 64 << 20 };
    size_t stack_bytes = STACK;
    do {
      pthread_attr_setstacksize(&attr, stack_bytes);
      error = -pthread_create(&thread, &attr, run_own, o);
      stack_bytes *= 2;
    } while (error == -EINVAL && stack_bytes <= MAX_STACK);
    mprof_own_call_end(&before);
    pthread_attr_destroy(&attr);
  }
  mprof_sys_set_signal_mask(mask);
  return error;
}

int mprof_own_start(enum mprof_own own, const char *name, void (*run)(void)) {
  struct own *o = &owns[own];
  int state = ENDED;
  while (!atomic_compare_exchange_strong(&o->state, &state, RUNS)) {
    if (state != STOPPED ||
        atomic_compare_exchange_strong(&o->state, &state, AGAIN))
      return 0;
    state = ENDED;
  }
  o->name = name;
  o->run = run;
  const int error = start_own(o);
  if (error != 0)
    atomic_store(&o->state, ENDED);
  return error;
}

bool mprof_own_runs(enum mprof_own own) {
  return atomic_load(&owns[own].state) != ENDED;
}

void mprof_own_wake(enum mprof_own own) {
  atomic_fetch_add(&owns[own].news, 1);
  mprof_sys_futex_wake(&owns[own].news);
}

void mprof_own_stop(enum mprof_own own) {
  int state = atomic_load(&owns[own].state);
  do {
    if (state == ENDED || state == STOPPED)
      return;
  } while (!atomic_compare_exchange_weak(&owns[own].state, &state, STOPPED));
  mprof_own_wake(own);
}

bool mprof_own_is_stopped(enum mprof_own own) {
  return atomic_load(&owns[own].state) >= STOPPED;
}

unsigned mprof_own_news(enum mprof_own own) {
  return atomic_load(&owns[own].news);
}

bool mprof_own_wait(enum mprof_own own, unsigned news, uint64_t ms) {
  if (mprof_own_is_stopped(own))
    return false;
  if (ms == UINT64_MAX)
    mprof_sys_futex_wait(&owns[own].news, news);
  else
    mprof_sys_futex_wait_ms(&owns[own].news, news, ms);
  return !mprof_own_is_stopped(own);
}

// Forgets the threads in a forked child, where they do not exist.
static void reset_own(void) {
  for (int i = 0; i < MPROF_OWNS; i++) {
    atomic_store(&mprof_own_threads[i], 0);
    atomic_store(&owns[i].state, ENDED);
    atomic_store(&owns[i].news, 0);
  }
}

void mprof_threads_reset(void) {
  reset_own();
  mprof_proc_find_emulator(true);
  mprof_lock_reset(&mprof_registry_lock);
  registry.live = registry.oldest = registry.unused = NULL;
  registry.threads = 0;
  registry.seed = 0;
  memset(&shards, 0, sizeof(shards));
  mprof_tls.self = NULL;
  mprof_tls.order = NULL;
  mprof_tls.order_top = NULL;
  mprof_tls.shard = 0;
  mprof_tls.rate_epoch = 0;
  mprof_tls.random = 0;
  mprof_tls.held = 0;
  mprof_tls.awaited = NULL;
  mprof_tls.waited = 0;
  mprof_tls.lock_profile = (struct mprof_lock_profile){.cycles = 0};
  __mprof_heap_countdown = 0;
}
