// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks a running thread for its stack by a signal; see thread_stacks.h. The
// signal's value tells the thread which slot (thread_stacks.h) it must fill,
// and in which round, that is, in which collection of all stacks. A real-time
// signal is used, because real-time signals are queued and keep their values.
// The signal's handler is installed only during a round. If the runtime has not
// sent a signal, the handler calls the program's handler.

#include "thread_stacks/thread_stacks.h"

#include "lock_wait/contention.h"
#include "options/flags.h"
#include "process/process.h"
#include "process/signal_action.h"
#include "sys/arch.h"
#include "sys/context.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_wait.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

// --- the system call that a signal handler has interrupted ---
//
// /proc does not show this call, because the thread is running now. But the
// kernel saved the thread's registers on the stack before it called the
// handler. The saved registers show whether the thread will continue the call
// when the handler returns. (Linux: handle_signal)

static bool is_syscall_at(uintptr_t pc) {
  return mprof_sys_readable(pc) && mprof_is_syscall_code((const void *)pc);
}

static const ucontext_t *interrupted_context(uintptr_t frame) {
  if (frame == 0 || !mprof_tls.self)
    return NULL;
  // Use a copy of the thread's stack range, because the interrupted code may be
  // in the middle of a change of the original.
  struct mprof_stack_range range = mprof_tls.self->range;
  return mprof_interrupted_context(&range, frame);
}

// Describes the interrupted system call in *p. u: the registers that the kernel
// has saved.
// - If the kernel will restart the call, the program counter points to the
//   instruction for system calls.
// - If the call has failed with EINTR, the program counter points behind this
//   instruction, and the result of the call is -EINTR.
// In all other cases the function returns false.
static bool read_call(const ucontext_t *u, struct mprof_proc_thread *p) {
  const uintptr_t pc = mprof_context_pc(u);
  const long result = mprof_context_result(u);
  const bool restarts =
      (result >= 0 || !MPROF_RESULT_REPLACES_NUMBER) && is_syscall_at(pc);
  const bool is_over =
      result == -EINTR && is_syscall_at(pc - MPROF_SYSCALL_BYTES);
  if (!restarts && !is_over)
    return false;
  *p = (struct mprof_proc_thread){
      .state = 'S', .pc = pc, .sp = mprof_context_sp(u)};
  const long number = mprof_context_call(u, !restarts, p->args);
  p->syscall = number >= 0 ? (int)number : MPROF_SYSCALL_UNKNOWN;
  return true;
}

bool mprof_interrupted_call(uintptr_t frame, struct mprof_proc_thread *p) {
  const ucontext_t *u = interrupted_context(frame);
  return u && read_call(u, p);
}

bool mprof_call_of_context(const void *context, struct mprof_proc_thread *p) {
  return read_call(context, p);
}

bool mprof_sleeps_again(const struct mprof_proc_thread *p, bool calls_again) {
  const uint64_t command = p->args[1] & FUTEX_CMD_MASK;
  uint32_t word;
  if ((p->syscall != SYS_futex &&
       (p->syscall != MPROF_SYSCALL_UNKNOWN || !calls_again)) ||
      !mprof_os_copy(&word, p->args[0], sizeof(word)))
    return false;
  if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET)
    return word == (uint32_t)p->args[2];
  return (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2) &&
         (word & FUTEX_TID_MASK) != 0;
}

// Returns whether the interrupted system call belongs to the wait at address w.
// The call belongs to this wait if w is close above the interrupted stack
// pointer. If w is not close, the thread has left the wait by a longjmp, or the
// frames of another signal handler are in between.
// u: the registers that the kernel has saved.
static bool is_near(uintptr_t w, const ucontext_t *u) {
  return w - mprof_context_sp(u) < MPROF_MAX_FRAME_BYTES;
}

struct mprof_wait *mprof_interrupted_wait(uintptr_t frame) {
  struct mprof_proc_thread p;
  const ucontext_t *u = interrupted_context(frame);
  const uintptr_t at =
      u ? atomic_load(&mprof_tls.self->wait) & ~MPROF_WAIT_BITS : 0;
  if (at == 0 || at == MPROF_WAIT_ASKED || !is_near(at, u) ||
      !mprof_sys_readable(at & -(uintptr_t)8))
    return NULL;
  struct mprof_wait *w = (struct mprof_wait *)at;
  return w->is_noted && w->epoch == mprof_process_epoch() && read_call(u, &p)
             ? w
             : NULL;
}

// --- the signal ---

static struct {
  struct sigaction previous; // the program's handler
  bool is_installed;
  atomic_uint expected; // number of sent signals that have not arrived yet
} ask;                  // guarded by stacks_lock, except `expected`

int mprof_ask_signal(void) { return (int)mprof_flags.threads_signal; }

//--- the signal's value ---
//
// Bits 48 to 63 are OWN, which distinguishes the runtime's signals from signals
// of the program. Bits 24 to 47 are the number of the round, and bits 0 to 23
// are the number of the slot.

#define OWN UINT64_C(0x6d70)
enum { ROUND_BITS = 24, SLOT_BITS = 24 };

static uint64_t pack(unsigned round, unsigned slot) {
  const uint64_t bits = round & ((1u << ROUND_BITS) - 1);
  return OWN << (ROUND_BITS + SLOT_BITS) | bits << SLOT_BITS | slot;
}

static bool is_own(const siginfo_t *info) {
  return info->si_code == SI_QUEUE && info->si_pid == mprof_sys_getpid() &&
         (uintptr_t)info->si_value.sival_ptr >> (ROUND_BITS + SLOT_BITS) == OWN;
}

// --- the rounds in which threads pause ---

static struct {
  // An odd number while threads that answer pause, an even number otherwise.
  // Only the reader changes it.
  atomic_uint round;
  // The last round for whose end a thread watches. A late thread of an earlier
  // round may write its own round here. The next thread then watches, too.
  atomic_uint watched;
  // Threads pause by waiting for a change of one of these words. The next round
  // uses the other word, because some threads may not run again before it.
  atomic_uint lines[2];
} pauses;

// --- the handler ---

static void fill(struct mprof_thread_slot *slot, const ucontext_t *context) {
  const struct mprof_registers from = mprof_context_frame(context);
  // Use a copy of the thread's stack range, because the unwinder may change the
  // range, and the interrupted code may be using the original.
  struct mprof_stack_range range =
      mprof_tls.self
          ? mprof_tls.self->range
          : mprof_stack_range_of_thread(slot->tid == mprof_sys_getpid());
  enum mprof_stack_end end;
  slot->stack->stack_len = (uint32_t)mprof_unwind_registers(
      &range, &from, slot->tid, slot->stack->stack, mprof_round.stacks->depth,
      &end);
  slot->stack->end = (uint8_t)end;
  slot->stack->labels = mprof_tls.labels;
  struct mprof_proc_thread p;
  // Ignores a futex call with a timeout (args[3]), because the thread may be
  // waiting for a lock of the runtime. Waits for these locks have timeouts.
  const bool in_futex = mprof_call_of_context(context, &p) &&
                        p.syscall == SYS_futex && p.args[3] == 0;
  slot->source = in_futex ? MPROF_STACK_IN_FUTEX : MPROF_STACK_OF_RUNNING;
}

// Allows the calling thread to begin waits again, after the signal has arrived.
// Also tells other threads that this thread from now on stores the address of
// each of its waits in its field `wait`. At this point the thread is in no wait
// that it did not store, because no signal is sent to a thread in such a wait.
static void let_wait(void) {
  uintptr_t asked = MPROF_WAIT_ASKED;
  if (!mprof_tls.self)
    return;
  mprof_thread_is_noting(mprof_tls.self);
  atomic_compare_exchange_strong(&mprof_tls.self->wait, &asked, 0);
}

static void answer(uint64_t value, const ucontext_t *context) {
  unsigned pause_round = 0;
  const unsigned active = atomic_load(&mprof_round.active);
  const unsigned number = value & ((1u << SLOT_BITS) - 1);
  struct mprof_thread_slot *slot =
      pack(active, number) == value ? mprof_round_enter(active, number) : NULL;
  if (slot) {
    slot->context = context;
    struct mprof_thread_stacks *s = mprof_round.stacks;
    if (mprof_slot_claim(s, slot, s->depth)) {
      fill(slot, context);
      mprof_slot_satisfy(slot);
    }
    while (atomic_load(&mprof_round.stopped))
      mprof_sys_futex_wait(&mprof_round.stopped, 1);
    // The number is read before this thread leaves the round: the reader then
    // has not ended the pauses, and later rounds, in which this thread has not
    // answered, have not begun.
    pause_round = mprof_pause_round();
    mprof_round_leave();
  }
  let_wait();
  // A thread that the signal has interrupted in a system call does not pause.
  // It needs no processor, and it must soon be in this call again.
  struct mprof_proc_thread p;
  if (slot && !mprof_call_of_context(context, &p))
    mprof_pause(pause_round);
}

// The signal handler. All other signals are blocked while it runs, because
// another handler could leave this handler by a longjmp before the slot is
// filled. The handler blocks them itself, too, because libc does not let
// sigaction block its own signals. By one of these, pthread_cancel would end
// the thread in this handler, and the reader would wait for the thread forever.
// The kernel restores the mask when the handler returns.
static void on_ask(int sig, siginfo_t *info, void *context) {
  if (is_own(info)) {
    mprof_sys_set_signal_mask(UINT64_MAX);
    struct mprof_thread *t = mprof_tls.self;
    if (t)
      atomic_store(&t->is_in_handler, true);
    atomic_fetch_sub(&ask.expected, 1);
    answer((uintptr_t)info->si_value.sival_ptr, context);
    if (t)
      atomic_store(&t->is_in_handler, false);
  } else {
    const int before = errno;
    mprof_signal_pass_on(&ask.previous, sig, info, context);
    errno = before;
  }
}

// --- begin and end of a round ---

int mprof_ask_begin(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_STACKS));
  struct sigaction now, ours;
  const int before = errno;
  memset(&ours, 0, sizeof(ours));
  ours.sa_sigaction = on_ask;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&ours.sa_mask);
  int error = sigaction(mprof_ask_signal(), NULL, &now);
  if (error == 0 && now.sa_sigaction != on_ask) {
    ask.previous = now;
    error = sigaction(mprof_ask_signal(), &ours, NULL);
  }
  error = error == 0 ? 0 : -errno;
  ask.is_installed = error == 0;
  errno = before;
  return error;
}

long mprof_ask(int tid, unsigned round, unsigned slot) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_STACKS));
  if (!ask.is_installed || slot >> SLOT_BITS != 0)
    return -EAGAIN;
  atomic_fetch_add(&ask.expected, 1);
  long error = mprof_sys_queue(tid, mprof_ask_signal(), pack(round, slot));
  if (error != 0)
    atomic_fetch_sub(&ask.expected, 1);
  return error;
}

static void restore(void) {
  struct sigaction now;
  const int before = errno;
  // Does nothing if the program has installed another handler meanwhile.
  if (sigaction(mprof_ask_signal(), NULL, &now) == 0 &&
      now.sa_sigaction == on_ask)
    sigaction(mprof_ask_signal(), &ask.previous, NULL);
  ask.is_installed = false;
  errno = before;
}

// Waits for a short time until all sent signals have arrived, except `lost`
// signals, which will never arrive. A signal may arrive after the stack of its
// thread is already known, because a thread also gives its stack when it begins
// or ends a wait.
static void await_signals(unsigned lost) {
  for (int i = 0; i < 20 && atomic_load(&ask.expected) != lost; i++)
    mprof_sys_doze();
  for (int i = 0; i < 5 && atomic_load(&ask.expected) != lost; i++)
    mprof_sys_sleep_ms(1);
}

void mprof_ask_end(unsigned lost) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_STACKS));
  await_signals(lost);
  if (atomic_fetch_sub(&ask.expected, lost) == lost && ask.is_installed)
    restore();
}

// --- pauses ---

unsigned mprof_pause_ms = 250;
enum { WATCH_MS = 2 };

// Returns the number of processors on which the threads may run, after adding
// those of thread tid. Returns UINT_MAX if the kernel does not tell.
static unsigned add_processors(struct mprof_asked *a, int tid) {
  uint64_t of_tid[sizeof(a->processors) / sizeof(a->processors[0])] = {0};
  if (!mprof_sys_affinity(tid, of_tid, sizeof(of_tid)))
    return UINT_MAX;
  unsigned n = 0;
  for (size_t i = 0; i < sizeof(of_tid) / sizeof(of_tid[0]); i++) {
    a->processors[i] |= of_tid[i];
    n += (unsigned)__builtin_popcountll(a->processors[i]);
  }
  return n;
}

unsigned mprof_pause_round(void) { return atomic_load(&pauses.round); }

bool mprof_pause_asked(struct mprof_asked *a, int tid) {
  a->threads++;
  if (mprof_pause_round() % 2 != 0 || a->threads <= add_processors(a, tid))
    return false;
  atomic_fetch_add(&pauses.round, 1);
  return true;
}

// Wakes no thread, because the kernel may let a woken thread run at once, in
// place of the reader, whose call would then last many time slices longer.
void mprof_pause_end(void) {
  const unsigned round = mprof_pause_round();
  if (round % 2 != 0)
    atomic_store(&pauses.round, round + 1);
}

// The first thread that pauses is the watcher: it looks every WATCH_MS. At the
// end of the round, it wakes two other threads, each of which wakes two others.
// A thread reads the word of the line before the number of the round, so that
// it does not sleep if the round ends meanwhile.
void mprof_pause(unsigned round) {
  atomic_uint *line = &pauses.lines[round / 2 % 2];
  const unsigned value = atomic_load(line);
  if (mprof_tls.self == NULL || mprof_tls.held != 0 || round % 2 == 0 ||
      mprof_pause_round() != round)
    return;
  if (atomic_exchange(&pauses.watched, round) == round) {
    mprof_sys_futex_wait_ms(line, value, mprof_pause_ms);
  } else {
    for (unsigned ms = 0; ms < mprof_pause_ms && mprof_pause_round() == round;
         ms += WATCH_MS)
      mprof_sys_sleep_ms(WATCH_MS);
    // If the round goes on, the next thread that pauses becomes the watcher.
    atomic_store(&pauses.watched, 0);
  }
  atomic_fetch_add(line, 1);
  mprof_sys_futex_wake(line);
  mprof_sys_futex_wake(line);
}

void mprof_ask_reset(void) {
  atomic_fetch_and(&pauses.round, ~1u);
  atomic_store(&pauses.watched, 0);
  atomic_store(&ask.expected, 0);
  if (ask.is_installed)
    restore();
}
