// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU profile. Each thread has a timer of the kernel that runs on the
// thread's own processor time, and sends the thread a signal after each period
// of it. The signal's handler unwinds the stack and stores a sample in a slot.
// A thread of the runtime, the collector, adds the samples to buckets ten times
// a second, and finds threads without a timer. (Go: runtime/cpuprof.go,
// setThreadCPUProfiler, sigprof)
//
//   timer of a thread --signal--> handler --> slot --collector--> bucket
//
// While the profile is off, nothing of this exists, and no path of the program
// does more than before, except that a new thread reads one word.

#ifndef MPROF_RT_CPU_CPU_H
#define MPROF_RT_CPU_CPU_H

#include "bucket/bucket.h"
#include "sys/base.h"

#define MPROF_CPU_RATE_MAX 1000u    // samples a second
#define MPROF_CPU_RATE_DEFAULT 100u // of requests (Go: StartCPUProfile)
// A signal that stands for more time than this was blocked. The stack at which
// the thread has unblocked it is then a sample of one period only.
#define MPROF_CPU_BLOCKED_NS UINT64_C(250000000)

// --- timers, start and end (cpu.c) ---

// Number of the session, that is, of the time between a start and the next end;
// 0: the profile is off. Written with cpu_lock held. Handlers read it.
extern MPROF_HIDDEN atomic_uint mprof_cpu_session;

static inline bool mprof_cpu_is_on(void) {
  return atomic_load_explicit(&mprof_cpu_session, memory_order_relaxed) != 0;
}
// Begins to profile with `rate` samples a second of each thread's processor
// time. Returns 0; -EBUSY if a session is active; -EADDRINUSE if the program
// handles the signal itself; -EINVAL if the rate is 0 or above
// MPROF_CPU_RATE_MAX; or another -errno. Takes cpu_lock. Call with the
// recursion guard set, and not in a thread that the program waits for in a
// signal handler. (Go: StartCPUProfile)
// is_kept: the profile is also written at the end of the process.
int mprof_cpu_start(unsigned rate, bool is_kept);
// Ends the session with this number, or the active one if it is 0. Does nothing
// if there is none. The samples stay in the profile. Takes cpu_lock. Call with
// the recursion guard set. (Go: StopCPUProfile)
void mprof_cpu_stop(unsigned session);
// Returns whether a session with is_kept was started.
bool mprof_cpu_is_kept(void);
// Starts a session if the option cpu_rate says so, and prints a message if that
// is impossible. In a forked child, also starts the session that the parent
// had. Call with the recursion guard not set.
void mprof_cpu_init(void);
// Ends the session. Call with the recursion guard not set, or in a thread of
// the runtime: the server stops the profiles for mprof attach.
void mprof_cpu_end(void);
// Ends the session, and does the same with the present value of the option.
// Call with the recursion guard set.
void mprof_cpu_restart(void);
// Ends the session in a forked child, which has no timers.
void mprof_cpu_reset(void);

struct sigaction;
// Returns whether the profile's handler is installed for the signal, so that
// the program sets the signal by mprof_cpu_set_action. Signal safe.
bool mprof_cpu_handles(int sig);
// Does what sigaction does: sets what the program's own signals `sig` do.
// Signal safe.
int mprof_cpu_set_action(int sig, const struct sigaction *act,
                         struct sigaction *old);

// What the profile has seen so far, in all sessions.
struct mprof_cpu_totals {
  uint64_t period_ns; // of the active or last session
  int64_t on_ns;      // duration of all sessions
};
// Adds all samples to buckets, and returns the totals. Call with the recursion
// guard set.
struct mprof_cpu_totals mprof_cpu_publish(void);

// --- samples (cpu_samples.c) ---

// The value of the timers' signals.
uint64_t mprof_cpu_signal_value(unsigned session);
// Returns whether the runtime's timers have sent the signal. info: a siginfo_t.
bool mprof_cpu_is_own_signal(const void *info);
// Maps the memory of the slots. Returns 0 or -ENOMEM.
int mprof_cpu_slots_init(void);
// Discards all samples. Call when no handler runs, as in a forked child.
void mprof_cpu_slots_reset(void);
// Stores samples of `periods` periods of the calling thread without a known
// stack: only the start function of the thread, if that is not 0. Call with the
// recursion guard set.
void mprof_cpu_take_rest(uint64_t periods, uint64_t period_ns, uintptr_t start);
// Adds that many periods of a thread that blocks the signal to a bucket. Call
// with the recursion guard set.
void mprof_cpu_take_blocked(uint64_t periods, uint64_t period_ns,
                            uint16_t labels);
struct mprof_cpu_seen;
// Returns the data of a timer that a thread has not made itself. Timers whose
// numbers differ by a multiple of a large number share them.
struct mprof_cpu_seen *mprof_cpu_seen_of(int timer);
// Stores a sample of the calling thread. Called by the handler. info, context:
// the siginfo_t and the ucontext_t of the handler. period_ns: see struct
// mprof_cpu_totals.
void mprof_cpu_take_sample(const void *info, const void *context,
                           uint64_t period_ns);
// Adds the samples of all slots to buckets. Any thread may call it at any time,
// with the recursion guard set.
void mprof_cpu_drain(void);
// Waits until many slots are full, at most for ms milliseconds.
void mprof_cpu_wait_for_samples(unsigned ms);

#endif // MPROF_RT_CPU_CPU_H
