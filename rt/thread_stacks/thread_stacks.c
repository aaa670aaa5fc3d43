// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Begins and ends a round, that is, a collection of the stacks of all threads;
// see thread_stacks.h. Every thread gets a slot, and thread_collect.c fills the
// slots. A thread that is created during the round gets a slot only if the
// round stops all threads. (Go: goroutineProfileWithLabelsConcurrent)

#include "thread_stacks/thread_stacks.h"

#include "lock_wait/contention.h"
#include "options/flags.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_wait.h"
#include "unwind/unwind.h"

#include <errno.h>

// --- the kernel's list of threads ---

void mprof_tids_free(struct mprof_tids *t) {
  if (t->v)
    mprof_os_unmap(t->v, t->mapped_bytes);
  t->v = NULL;
}

int mprof_tids_list(struct mprof_tids *t) {
  size_t cap = 1024;
  for (;;) {
    *t = (struct mprof_tids){.mapped_bytes = cap * sizeof(int)};
    t->v = mprof_os_map(t->mapped_bytes);
    if (!t->v)
      return -ENOMEM;
    long n = mprof_proc_threads(t->v, cap, &t->missing);
    if (n >= 0 && (size_t)n <= cap) {
      for (size_t i = 0; i < (size_t)n; i++)
        if (!mprof_is_own_thread(t->v[i]))
          t->v[t->len++] = t->v[i];
      return 0;
    }
    mprof_tids_free(t);
    if (n < 0)
      return (int)n;
    // The larger array has room for threads that are created before the next
    // try.
    cap = (size_t)n + n / 8 + 64;
  }
}

// --- does the registry have all threads? ---
//
// If it has, a round need not read the kernel's list of threads, which costs
// about a microsecond for each thread.
//
// The kernel counts the threads of the process cheaply. The registry has all
// threads if it has as many live threads as the kernel counts. Two facts may
// make the numbers equal although a thread is missing:
// - A registered thread has ended, and the runtime has not noticed its end,
//   because the thread has called the system call exit itself.
// - The runtime's own threads begin and end without registry_lock.
// Therefore each thread that the runtime has counted is looked up in the kernel
// after the kernel has counted. If a thread exists then, it also existed when
// the kernel counted, because the runtime knew it earlier. If all of them
// exist, then at the time of the kernel's count there were as many threads as
// the kernel counted, and so no others. (This assumes that no seccomp filter
// refuses the look-up, and that the kernel does not give the id of an ended
// thread to a new thread between the count and the look-up. The kernel gives
// ids in turn, so it would have to give all others first.)
//
// To look up a thread costs half of what the kernel's list costs. Most threads
// are therefore looked up late, when the round has asked the running threads:
// those whose end the runtime notices. Such a thread may end between the count
// and the look-up. It then takes registry_lock first, so the registry shows
// that the thread existed at the time of the count.

// For fewer threads, the kernel's list is read. So a kernel whose directory
// /proc/self/task always has the same small number of links does no harm.
enum { MANY = 32 };

// Returns whether the registry seems to have all threads. This is a cheap check
// that needs no lock. Returns false if there are few threads, because the
// kernel's list is then cheap.
static bool known_seem_all(void) {
  const size_t registered = mprof_threads_number();
  return registered >= MANY && mprof_proc_thread_count() == registered;
}

// The ids of the runtime's own threads; 0: none.
struct own_tids {
  int v[MPROF_OWNS];
};

static struct own_tids known_own(void) {
  struct own_tids own;
  for (int i = 0; i < MPROF_OWNS; i++)
    own.v[i] = atomic_load(&mprof_own_threads[i]);
  return own;
}

// Returns how many of the runtime's own threads exist and have no slot.
static size_t count_own(const struct mprof_thread_stacks *s,
                        const struct own_tids *own) {
  size_t n = 0;
  for (int i = 0; i < MPROF_OWNS; i++) {
    const int tid = own->v[i];
    bool is_new = tid != 0 && !mprof_slot_of(s, tid);
    for (int k = 0; k < i; k++)
      is_new &= own->v[k] != tid;
    n += is_new && mprof_sys_thread_alive(tid);
  }
  return n;
}

// Returns whether the slots of s and the runtime's own threads are as many as
// `threads`. Looks up the runtime's own threads in the kernel.
// threads: the kernel's number of threads, read with registry_lock held, before
//   the slots of the registered threads were added
// own: what known_own has returned before `threads` was read
static bool known_are_all(const struct mprof_thread_stacks *s,
                          const struct own_tids *own, uint64_t threads) {
  return s->slots_len + count_own(s, own) == threads;
}

// Returns whether thread `slot`, which no longer exists, has ended without
// leaving the registry.
static bool ended_unnoticed(const struct mprof_reader *r,
                            const struct mprof_thread_slot *slot) {
  mprof_reader_lock_registry(r);
  const struct mprof_thread *t = slot->thread;
  const bool is_unnoticed = mprof_is_own_record(r, slot) && t->countdown;
  mprof_reader_unlock_registry(r);
  return is_unnoticed;
}

// Looks up the threads whose end the runtime notices. Returns whether any of
// them may have ended before the kernel's count. In this case the round may
// lack a thread. Leaves the ended threads out of the round. Call in the active
// round, with registry_lock held only if the round stops all threads.
static bool known_are_doubtful(const struct mprof_reader *r) {
  const int pid = mprof_sys_getpid();
  bool is_doubtful = false;
  for (size_t i = 0; i < r->s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(r->s, i);
    // A thread that has run the signal handler existed, and so did one whose
    // noted wait was read. (In a signal handler, such a thread may have ended
    // by the system call exit. A sample may then lack a thread.)
    if (slot->sees_exit && !atomic_load(&slot->context) &&
        !(r->s->same && slot->wait != 0) &&
        !mprof_sys_thread_of(pid, slot->tid) && ended_unnoticed(r, slot))
      is_doubtful = slot->is_gone = true;
  }
  return is_doubtful;
}

// Number of slots for threads that are created while the round begins.
enum { SPARE_SLOTS = 256 };

// --- slots ---

// Adds a slot for thread tid and returns the slot. Returns NULL if all slots
// are used.
static struct mprof_thread_slot *add_slot(struct mprof_thread_stacks *s,
                                          int tid) {
  if (s->slots_len == s->slots_cap)
    return NULL;
  struct mprof_thread_slot *slot = mprof_slot_at(s, s->slots_len);
  slot->tid = tid;
  size_t i = mprof_slot_place(s, tid);
  while (s->index[i] != 0)
    i = (i + 1) & (s->index_size - 1);
  s->index[i] = (uint32_t)++s->slots_len;
  MPROF_ASSERT(2 * s->slots_len <= s->index_size);
  return slot;
}

// Allocates the memory of `threads` slots, and of `spare` slots that may stay
// unused. A slot that is never used takes only address space.
static int make_slots(struct mprof_thread_stacks *s, size_t threads,
                      size_t spare) {
  s->slots_cap = threads + spare;
  s->depth = (uint32_t)mprof_flags.stack_depth;
  s->index_size = 64;
  while (s->index_size < 2 * s->slots_cap)
    s->index_size *= 2;
  const size_t slots_bytes = s->slots_cap * sizeof(*s->slots);
  const size_t pointers_bytes = s->slots_cap * sizeof(*s->v);
  const size_t scratch_bytes = s->depth * sizeof(mprof_pc);
  const size_t index_bytes = s->index_size * sizeof(*s->index);
  const size_t before_stacks = (slots_bytes + pointers_bytes + scratch_bytes +
                                index_bytes + mprof_sys_page_size() - 1) &
                               -mprof_sys_page_size();
  s->mapped_bytes =
      before_stacks + s->slots_cap * mprof_slot_stack_bytes(s->depth);
  s->slots = mprof_os_map(s->mapped_bytes);
  if (!s->slots)
    return -ENOMEM;
  mprof_os_populate(s->slots, threads * sizeof(*s->slots));
  char *p = (char *)s->slots + slots_bytes;
  s->v = (struct mprof_thread_slot **)p;
  s->scratch = (mprof_pc *)(p + pointers_bytes);
  s->index = (uint32_t *)(p + pointers_bytes + scratch_bytes);
  s->stacks = (char *)s->slots + before_stacks;
  s->stacks_used = 0;
  return 0;
}

static void round_free_slots(struct mprof_thread_stacks *s) {
  if (s->slots)
    mprof_os_unmap(s->slots, s->mapped_bytes);
  s->slots = NULL;
  s->slots_len = s->len = 0;
}

// --- threads and their records ---

// Returns whether thread t, which has no slot, may still exist. If the kernel's
// list was not read and the runtime notices the end of t, t is looked up later
// (known_are_doubtful).
static bool may_live_locked(const struct mprof_reader *r,
                            const struct mprof_thread *t) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  return (r->is_by_registry && t->countdown) || mprof_sys_thread_alive(t->tid);
}

// A count of the threads of the registry that have no slot yet.
struct unlisted {
  const struct mprof_reader *r;
  size_t threads;
};

static void count_unlisted_locked(struct mprof_thread *t, void *arg) {
  struct unlisted *u = arg;
  u->threads += !mprof_slot_of(u->r->s, t->tid) && may_live_locked(u->r, t);
}

// Connects the record of thread t with the slot of t in the round, if t has a
// slot.
static void join_locked(struct mprof_thread *t, void *arg) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  const struct mprof_reader *r = arg;
  struct mprof_thread_slot *slot = mprof_slot_of(r->s, t->tid);
  if (!slot || slot->thread)
    return;
  slot->thread = t;
  slot->sees_exit = t->countdown != NULL;
  slot->created = t->created;
  atomic_store(&t->slot, mprof_slot_number(r->s, slot));
  atomic_store(&t->round, r->round);
}

// Does the same as join_locked, but first adds a slot for t if t has none. Most
// slots were created from the kernel's list of threads. But the list may lack t
// for two reasons: t was created later, or another thread has ended while the
// kernel made the list.
static void add_locked(struct mprof_thread *t, void *arg) {
  const struct mprof_reader *r = arg;
  if (!mprof_slot_of(r->s, t->tid) && may_live_locked(r, t))
    add_slot(r->s, t->tid);
  join_locked(t, arg);
}

// Adds `threads`, the number of threads that are missing in the profile, to the
// statistics.
static void round_leave_out(size_t threads) {
  if (threads > 0)
    mprof_stat_add(MPROF_STAT_threads_left_out, threads);
}

// --- the begin of a round ---

// Fills the slot of the calling thread.
static void fill_own(struct mprof_thread_stacks *s, uintptr_t frame) {
  // The runtime's own threads have no frame of the program.
  if (mprof_tls.is_own)
    return;
  struct mprof_thread_slot *slot = mprof_slot_of(s, mprof_sys_gettid());
  struct mprof_thread *t = mprof_thread_self(false);
  struct mprof_stack_range range =
      t ? t->range
        : mprof_stack_range_of_thread(mprof_sys_gettid() == mprof_sys_getpid());
  enum mprof_stack_end end;
  // The kernel's list may lack this thread, for the reason given at add_locked.
  if (!slot)
    slot = add_slot(s, mprof_sys_gettid());
  if (!slot || !mprof_slot_claim(s, slot, s->depth))
    return;
  const struct mprof_wait *w = mprof_tls.interrupted;
  slot->stack->stack_len =
      (uint32_t)(w ? mprof_unwind_wait(&range, w, slot->tid, slot->stack->stack,
                                       s->depth, &end)
                   : mprof_unwind_cfi(&range, frame, slot->stack->stack,
                                      s->depth, &end));
  slot->stack->end = (uint8_t)end;
  slot->stack->labels = mprof_tls.labels;
  if (w)
    mprof_slot_note_wait(slot, w);
  mprof_slot_satisfy(slot);
  s->v[s->len++] = slot;
}

// Makes the slots of the listed threads, and fills the slot of the calling
// thread. Then takes registry_lock, and makes the slots of the other threads of
// the registry. Stores the number of these threads in *unlisted.
//
// A new thread of instrumented code takes the lock to enter the registry,
// before it runs code of the program. So each thread of instrumented code that
// can create threads is in the registry. When this function returns, each
// thread of the registry that still lives has a slot.
// Returns 0 with the lock held. Returns -ENOMEM without the lock.
static int make_all_slots(struct mprof_reader *r, const struct mprof_tids *tids,
                          uintptr_t frame, size_t *unlisted) {
  struct mprof_thread_stacks *s = r->s;
  for (size_t spare = SPARE_SLOTS;;) {
    const int error = make_slots(s, tids->len, spare);
    if (error != 0)
      return error;
    for (size_t i = 0; i < tids->len; i++)
      add_slot(s, tids->v[i]);
    fill_own(s, frame);
    mprof_lock_acquire(&mprof_registry_lock);
    struct unlisted u = {.r = r};
    mprof_threads_each(count_unlisted_locked, &u);
    *unlisted = u.threads;
    // Half of the spare slots are for threads that add_unregistered and
    // stop_the_rest find later.
    if (u.threads <= spare / 2)
      break;
    mprof_lock_release(&mprof_registry_lock);
    round_free_slots(s);
    spare = 4 * u.threads;
  }
  mprof_threads_each(add_locked, r);
  return 0;
}

// Makes the slots of the threads of the registry, and fills the slot of the
// calling thread. Returns true with registry_lock held if the registry seems to
// have all threads. Otherwise, or if there are more threads than `limit`, makes
// no slots.
static bool make_known_slots(struct mprof_reader *r, uintptr_t frame,
                             size_t limit) {
  struct mprof_thread_stacks *s = r->s;
  const size_t registered = mprof_threads_number();
  if (registered > limit || !known_seem_all() ||
      make_slots(s, registered, SPARE_SLOTS) != 0)
    return false;
  fill_own(s, frame);
  mprof_lock_acquire(&mprof_registry_lock);
  struct own_tids own = known_own();
  const uint64_t threads = mprof_proc_all_threads_count();
  r->is_by_registry = true;
  // This is nearly the order of the kernel's list.
  mprof_threads_each_oldest_first(add_locked, r);
  r->is_by_registry = known_are_all(s, &own, threads);
  if (r->is_by_registry)
    return true;
  mprof_lock_release(&mprof_registry_lock);
  round_free_slots(s);
  // The records of the threads still have the numbers of these slots. With the
  // same number of the round, a thread could take one of them for the number of
  // its next slot.
  r->round++;
  return false;
}

// Adds slots for threads that are not in the registry and may have created a
// thread that has a slot. A creator is older than the threads that it has
// created, and the kernel lists the threads in the order of their creation. So
// adds slots for all listed threads before the last one that has a slot. Call
// this after make_all_slots, if that function has added threads that the
// kernel's list lacked.
static void add_unregistered(struct mprof_reader *r) {
  struct mprof_thread_stacks *s = r->s;
  struct mprof_tids tids;
  if (mprof_tids_list(&tids) != 0)
    return;
  mprof_lock_acquire(&mprof_registry_lock);
  size_t len = tids.len, unlisted = s->slots_len, left_out = 0;
  while (len > 0 && !mprof_slot_of(s, tids.v[len - 1]))
    len--;
  for (size_t i = 0; i < len; i++)
    if (mprof_slot_of(s, tids.v[i]))
      unlisted--;
    else
      left_out += !add_slot(s, tids.v[i]);
  if (tids.missing > unlisted)
    left_out += tids.missing - unlisted;
  mprof_threads_each(join_locked, r);
  mprof_lock_release(&mprof_registry_lock);
  mprof_tids_free(&tids);
  round_leave_out(left_out);
}

// Threads that the kernel's list lacked when make_listed_slots read it.
struct lacking {
  size_t registered; // threads of the registry, which have got slots
  size_t others;     // other threads; number of threads that are known to exist
};

// Makes the slots of all threads from the kernel's list and the registry.
// Returns 0 with registry_lock held. Otherwise returns, without the lock,
// -ENOMEM, or -ERANGE if the kernel's list has more threads than `limit`.
static int make_listed_slots(struct mprof_reader *r, uintptr_t frame,
                             size_t limit, struct lacking *lacking) {
  struct mprof_tids tids;
  int error = mprof_tids_list(&tids);
  if (error == -ENOMEM)
    return error;
  // Other errors mean that /proc cannot be read. Then the round has only the
  // threads of the registry.
  if (error != 0)
    mprof_stat_add(MPROF_STAT_threads_unlisted, 1);
  r->s->threads = tids.len;
  error = tids.len > limit
              ? -ERANGE
              : make_all_slots(r, &tids, frame, &lacking->registered);
  lacking->others = tids.missing;
  mprof_tids_free(&tids);
  return error;
}

// Makes the slots of all threads, and then makes the round active, so that
// threads that begin or end a wait fill their own slots. Returns 0, -ENOMEM, or
// -ERANGE if there are more threads than `limit`. If it returns 0 and the round
// stops all threads, registry_lock is held after the call. After -ERANGE,
// r->s->threads is the number of threads. Call with stacks_lock held and with
// all signals blocked.
// frame: as for mprof_thread_stacks_take.
static int round_begin(struct mprof_reader *r, uintptr_t frame, size_t limit) {
  struct mprof_thread_stacks *s = r->s;
  struct lacking lacking = {0, 0};
  // Call mprof_ask_begin before registry_lock is taken. mprof_ask_begin calls
  // sigaction, and a library may have replaced sigaction by a function that
  // takes a lock.
  mprof_ask_begin();
  int error = make_known_slots(r, frame, limit)
                  ? 0
                  : make_listed_slots(r, frame, limit, &lacking);
  if (error != 0) {
    mprof_ask_end(0);
    return error;
  }
  s->threads = s->slots_len;
  if (s->slots_len > limit) {
    mprof_lock_release(&mprof_registry_lock);
    mprof_ask_end(0);
    return -ERANGE;
  }
  atomic_store(&mprof_round.stopped, s->stops);
  mprof_round.stacks = s;
  atomic_store(&mprof_round.active, r->round);
  if (s->stops)
    return 0;
  mprof_lock_release(&mprof_registry_lock);
  if (lacking.registered > 0)
    add_unregistered(r);
  else
    round_leave_out(lacking.others);
  return 0;
}

// --- later threads ---

// Adds slots for the listed threads that have none. Returns whether it has
// added a slot.
static bool add_listed_locked(struct mprof_reader *r,
                              const struct mprof_tids *tids, size_t *left_out) {
  struct mprof_thread_stacks *s = r->s;
  const size_t known = s->slots_len;
  *left_out = tids->missing;
  for (size_t i = 0; i < tids->len; i++)
    *left_out += !mprof_slot_of(s, tids->v[i]) && !add_slot(s, tids->v[i]);
  if (s->slots_len == known)
    return false;
  mprof_threads_each(add_locked, r);
  return true;
}

// Adds slots for all threads that have no slot, because they were created after
// round_begin has listed the threads. Returns whether it has added a
// slot. Call with registry_lock held.
// left_out: receives the number of threads that still have no slot.
static bool round_add_new_locked(struct mprof_reader *r, size_t *left_out) {
  struct mprof_tids tids;
  if (mprof_tids_list(&tids) != 0)
    return false;
  const bool has_added = add_listed_locked(r, &tids, left_out);
  mprof_tids_free(&tids);
  return has_added;
}

// Does the same for a caller without registry_lock, which is taken only after
// the kernel's list was read.
static void round_add_new(struct mprof_reader *r, size_t *left_out) {
  struct mprof_tids tids;
  if (mprof_tids_list(&tids) != 0)
    return;
  mprof_lock_acquire(&mprof_registry_lock);
  add_listed_locked(r, &tids, left_out);
  mprof_lock_release(&mprof_registry_lock);
  mprof_tids_free(&tids);
}

static struct {
  struct mprof_lock lock; // stacks_lock; allows only one round at a time
  // Last number that a round may have; guarded by lock. Each round has two
  // numbers, because it may begin twice.
  unsigned rounds;
} rounds = {.lock = MPROF_LOCK_INIT(MPROF_RANK_STACKS)};

// A function to call while all threads are stopped, and its argument.
struct inspection {
  // NULL: no function to call.
  void (*fn)(struct mprof_thread_stacks *s, void *arg);
  void *arg;
};

void mprof_stacks_lock(void) { mprof_lock_acquire(&rounds.lock); }
void mprof_stacks_unlock(void) { mprof_lock_release(&rounds.lock); }

void mprof_thread_stacks_free(struct mprof_thread_stacks *s) {
  round_free_slots(s);
  *s = (struct mprof_thread_stacks){0};
}

// --- the round ---

// Stops the threads that were created since the round began. To do so, collects
// their stacks, because a thread whose stack was collected stays stopped until
// the round ends. Repeats this until the kernel lists no new thread, which
// means that all threads are stopped. Several searches may be needed, because a
// thread that is not stopped yet may create another thread.
static void stop_the_rest(struct mprof_reader *r) {
  enum { LOOKS = 10 };
  size_t left_out = 0, known = r->s->slots_len;
  for (int looks = 0; looks < LOOKS; looks++) {
    if (!round_add_new_locked(r, &left_out))
      break;
    mprof_collect_slots(r, known);
    known = r->s->slots_len;
  }
  round_leave_out(left_out);
}

// Looks whether the registry had all threads when the round began, as it
// seemed. If this is not certain, reads the kernel's list, and collects the
// stacks of the threads that the registry lacked. (If the round stops all
// threads, stop_the_rest reads the list.)
static void collect_unknown(struct mprof_reader *r) {
  size_t left_out = 0;
  const size_t known = r->s->slots_len;
  if (!r->is_by_registry || !known_are_doubtful(r) || r->s->stops)
    return;
  round_add_new(r, &left_out);
  mprof_collect_slots(r, known);
  round_leave_out(left_out);
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

static void list_results(struct mprof_thread_stacks *s) {
  const struct mprof_thread_slot *own = s->len > 0 ? s->v[0] : NULL;
  for (size_t i = 0; i < s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(s, i);
    slot->count = 1;
    mprof_unnoted_name(slot);
    if (slot != own && !slot->is_gone &&
        atomic_load(&slot->state) == MPROF_SLOT_SATISFIED)
      s->v[s->len++] = slot;
  }
  s->threads = s->len;
}

// Runs a round. Returns 0, or the error of round_begin.
static int run(struct mprof_reader *r, const struct inspection *n,
               uintptr_t frame, size_t limit) {
  struct mprof_thread_stacks *s = r->s;
  const int error = round_begin(r, frame, limit);
  if (error != 0)
    return error;
  mprof_collect_slots(r, 0);
  collect_unknown(r);
  if (s->stops)
    stop_the_rest(r);
  mprof_collect_rest(r);
  if (n->fn)
    n->fn(s, n->arg);
  atomic_store(&mprof_round.active, 0);
  let_go(s);
  if (s->stops)
    mprof_lock_release(&mprof_registry_lock);
  while (atomic_load(&mprof_round.users) != 0)
    mprof_sys_doze();
  mprof_ask_end(r->lost);
  list_results(s);
  mprof_pause_end();
  return 0;
}

static int take(const struct inspection *n, struct mprof_thread_stacks *s,
                uintptr_t frame, size_t limit, bool stops,
                const struct mprof_same_stack *same) {
  *s = (struct mprof_thread_stacks){
      .time_ns = mprof_sys_realtime_ns(), .stops = stops, .same = same};
  // From now on, all threads note their waits: they store the address of each
  // wait in their records. So this round and later rounds can read the stacks
  // of waiting threads, and need fewer signals.
  mprof_contention_note_waits();
  mprof_unwind_learn_roots();
  mprof_thread_self(false); // adds the calling thread to the registry
  mprof_lock_acquire(&rounds.lock);
  rounds.rounds += 2;
  if (rounds.rounds == 0) // 0 means that no round is active
    rounds.rounds = 2;
  struct mprof_reader r = {.s = s, .round = rounds.rounds - 1};
  // All signals are blocked during the round, because a long signal handler of
  // the program would keep the other threads waiting.
  const uint64_t mask = mprof_sys_set_signal_mask(UINT64_MAX);
  const int error = run(&r, n, frame, limit);
  mprof_sys_set_signal_mask(mask);
  mprof_lock_release(&rounds.lock);
  return error;
}

int mprof_thread_stacks_take(struct mprof_thread_stacks *s, uintptr_t frame,
                             size_t limit, bool stops) {
  const struct inspection none = {.fn = NULL};
  return take(&none, s, frame, limit, stops, NULL);
}

int mprof_thread_stacks_sample(struct mprof_thread_stacks *s,
                               const struct mprof_same_stack *same) {
  const struct inspection none = {.fn = NULL};
  return take(&none, s, (uintptr_t)__builtin_frame_address(0), SIZE_MAX, false,
              same);
}

int mprof_thread_stacks_inspect(struct mprof_thread_stacks *s, uintptr_t frame,
                                void (*inspect)(struct mprof_thread_stacks *s,
                                                void *arg),
                                void *arg) {
  const struct inspection n = {inspect, arg};
  return take(&n, s, frame, SIZE_MAX, true, NULL);
}

void mprof_thread_stacks_reset(void) {
  mprof_lock_reset(&rounds.lock);
  atomic_store(&mprof_round.active, 0);
  atomic_store(&mprof_round.users, 0);
  atomic_store(&mprof_round.stopped, 0);
  atomic_store(&mprof_round.reading, NULL);
  mprof_ask_reset();
}
