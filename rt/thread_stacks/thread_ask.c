// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks a running thread for its stack by a signal; see thread_ask.h. The
// signal's value tells the thread which slot (thread_slots.h) it must fill, and
// in which round, that is, in which collection of all stacks. A real-time
// signal is used, because real-time signals are queued and keep their values.
// The signal's handler is installed only during a round. If the runtime has not
// sent a signal, the handler calls the program's handler.

#include "thread_stacks/thread_ask.h"

#include "options/flags.h"
#include "process/signal_action.h"
#include "sys/context.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread_stacks/thread_interrupted.h"
#include "thread_stacks/thread_noting.h"
#include "thread_stacks/thread_pause.h"
#include "thread_stacks/thread_slots.h"
#include "thread_stacks/thread_wait.h"
#include "unwind/stack_end.h"
#include "unwind/unwind_cfi.h"
#include "unwind/unwind_step.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

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
      &range, &from, slot->stack->stack, mprof_round.stacks->depth, &end);
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
    mprof_round_leave();
  }
  let_wait();
  // A thread that the signal has interrupted in a system call does not pause.
  // It needs no processor, and it must soon be in this call again.
  struct mprof_proc_thread p;
  if (slot && !mprof_call_of_context(context, &p))
    mprof_pause();
}

// The signal handler. All other signals are blocked while it runs, because
// another handler could leave this handler by a longjmp before the slot is
// filled.
static void on_ask(int sig, siginfo_t *info, void *context) {
  if (is_own(info)) {
    atomic_fetch_sub(&ask.expected, 1);
    answer((uintptr_t)info->si_value.sival_ptr, context);
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

void mprof_ask_reset(void) {
  atomic_store(&ask.expected, 0);
  if (ask.is_installed)
    restore();
}
