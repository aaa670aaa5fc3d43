// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The timers of the CPU profile, and its sessions; see cpu.h. A thread whose
// start the runtime sees makes its own timer, and deletes it at its end. It
// takes no lock for that, because many threads may start at once. The collector
// finds the other threads in /proc/self/task.

#include "cpu/cpu.h"

#include "options/flags.h"
#include "process/process.h"
#include "process/signal_action.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
  COLLECT_MS = 100, // time between two drains
  LIST_MS = 1000,   // longest time between two searches for new threads
  // The searches take at most 1/SHARE of the time.
  SHARE = 100,
  NO_TIMER = -1,
};

// The timer of a thread that has not made one itself.
struct timer {
  int tid;
  int id; // NO_TIMER: the kernel has refused to make one
};

atomic_uint mprof_cpu_session;

static struct {
  struct mprof_lock lock; // cpu_lock
  struct timer *timers;   // by tid
  size_t len, cap;
  unsigned sessions; // number of the last session
  unsigned rate;     // of the active or last session
  int64_t began_ms, ended_sessions_ms;
  int64_t listed_ms, next_list_ms; // times of the last and of the next search
  // The lock does not guard the fields below.
  atomic_size_t own_timers; // number of timers that threads have made
  atomic_bool has_said_refused;
  atomic_bool is_kept; // see mprof_cpu_is_kept
  // The program's actions: the present one is at `action`, and a new one is
  // written to the other place.
  struct sigaction actions[2];
  atomic_uint action;
  // The signal whose handler is installed, also after the session; 0: none.
  atomic_int handled;
  _Atomic uint64_t period_ns;
} cpu = {.lock = MPROF_LOCK_INIT(MPROF_RANK_CPU)};

static int signal_number(void) {
  return mprof_signal_number(mprof_flags.cpu_signal,
                             strlen(mprof_flags.cpu_signal));
}

// --- the handler ---

// Returns the action that the program has set.
static struct sigaction *own_action(void) {
  return &cpu.actions[atomic_load(&cpu.action)];
}

static void set_own_action(const struct sigaction *a) {
  const unsigned next = 1 - atomic_load(&cpu.action);
  cpu.actions[next] = *a;
  atomic_store(&cpu.action, next);
}

static void on_tick(int sig, siginfo_t *info, void *context) {
  if (!mprof_cpu_is_own_signal(info)) {
    const int before = errno;
    mprof_signal_pass_on(own_action(), sig, info, context);
    errno = before;
    return;
  }
  const unsigned session = atomic_load(&mprof_cpu_session);
  // A signal of an earlier session may have been blocked until now.
  if ((uintptr_t)info->si_value.sival_ptr == mprof_cpu_signal_value(session))
    mprof_cpu_take_sample(info, context, atomic_load(&cpu.period_ns));
}

static bool is_handled_by(const struct sigaction *a) {
  return a->sa_sigaction == on_tick;
}

static bool has_action(const struct sigaction *a) {
  return (a->sa_flags & SA_SIGINFO) ||
         (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

// Installs the handler, which stays installed after the session: a signal that
// a thread blocks may arrive much later, and would then end the process.
static int install(void) {
  struct sigaction now, ours;
  const int before = errno;
  memset(&ours, 0, sizeof(ours));
  ours.sa_sigaction = on_tick;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&ours.sa_mask);
  const int sig = signal_number();
  int error = sigaction(sig, NULL, &now) == 0 ? 0 : -errno;
  if (error == 0 && has_action(is_handled_by(&now) ? own_action() : &now))
    error = -EADDRINUSE;
  if (error == 0 && !is_handled_by(&now)) {
    set_own_action(&now);
    error = sigaction(sig, &ours, NULL) == 0 ? 0 : -errno;
    if (error == 0)
      atomic_store(&cpu.handled, sig);
  }
  errno = before;
  return error;
}

static bool is_installed(void) {
  struct sigaction now;
  const int before = errno;
  const bool is = sigaction(signal_number(), NULL, &now) == 0 &&
                  is_handled_by(&now) && !has_action(own_action());
  errno = before;
  return is;
}

// A child of vfork has its own actions, but its parent's memory.
bool mprof_cpu_handles(int sig) {
  return sig == atomic_load(&cpu.handled) && sig != 0 && mprof_process_is_own();
}

// The handler stays installed, and passes signals on to the program's handler.
// So a signal of a timer neither ends the process nor surprises the program,
// until the collector has seen that the program handles the signal. With
// SIG_IGN, the kernel ignores the signal, also in a program that follows by
// exec.
int mprof_cpu_set_action(int sig, const struct sigaction *act,
                         struct sigaction *old) {
  struct sigaction now, ours;
  if (sigaction(sig, NULL, &now) != 0)
    return -1;
  const struct sigaction before = is_handled_by(&now) ? *own_action() : now;
  if (act && !is_handled_by(act)) {
    ours = *act;
    set_own_action(act);
    if (has_action(act) || act->sa_handler == SIG_DFL) {
      ours.sa_sigaction = on_tick;
      ours.sa_flags |= SA_SIGINFO;
      ours.sa_flags &= ~(int)SA_RESETHAND;
      if (!has_action(act))
        ours.sa_flags |= SA_RESTART | SA_ONSTACK;
      sigfillset(&ours.sa_mask);
    }
    if (sigaction(sig, &ours, NULL) != 0)
      return -1;
  }
  if (old)
    *old = before;
  return 0;
}

// --- timers ---

static void say(const char *what, int error, const char *more) {
  char text[256];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, what);
  if (error != 0)
    mprof_text_errno(&t, error);
  mprof_text_str(&t, more);
  mprof_message(text);
}

static bool make_room_locked(void) {
  if (cpu.len < cpu.cap)
    return true;
  const size_t cap = cpu.cap ? 2 * cpu.cap : 256;
  struct timer *v = mprof_os_map(cap * sizeof(*v));
  if (!v)
    return false;
  if (cpu.timers) {
    memcpy(v, cpu.timers, cpu.len * sizeof(*v));
    mprof_os_unmap(cpu.timers, cpu.cap * sizeof(*v));
  }
  cpu.timers = v;
  cpu.cap = cap;
  return true;
}

// Returns the index of the first timer whose thread id is not less than tid.
static size_t place_locked(int tid) {
  size_t from = 0, to = cpu.len;
  while (from < to) {
    const size_t middle = (from + to) / 2;
    if (cpu.timers[middle].tid < tid)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

// Does not use mprof_thread_random, whose numbers decide which blocks the heap
// profile samples: with a seed, they are the same in each run.
static uint64_t random_part(void) {
  return 1 + mprof_sys_random() % atomic_load(&cpu.period_ns);
}

// Makes a timer for thread tid. Returns its number, or NO_TIMER. The first
// period is shorter by a random part. Otherwise a thread that lives for less
// than a period would never have a sample. (Go: setThreadCPUProfiler)
// own: see struct mprof_thread_cpu; NULL: the timer is another thread's.
static int make_timer(int tid, struct mprof_cpu_seen *own) {
  int id;
  const uint64_t first_ns = random_part();
  const unsigned session = atomic_load(&mprof_cpu_session);
  long error = mprof_sys_timer_create(tid, signal_number(),
                                      mprof_cpu_signal_value(session), &id);
  if (error == 0) {
    struct mprof_cpu_seen *seen = own ? own : mprof_cpu_seen_of(id);
    *seen = (struct mprof_cpu_seen){.first_ns = mprof_sys_thread_ran_ns(tid) +
                                                first_ns};
    error = mprof_sys_timer_set(id, first_ns, atomic_load(&cpu.period_ns));
    if (error == 0)
      return id;
    mprof_sys_timer_delete(id);
  }
  if (error == -EINVAL || error == -ESRCH) // the thread has ended
    return NO_TIMER;
  mprof_stat_add(MPROF_STAT_cpu_threads, 1);
  if (!atomic_exchange(&cpu.has_said_refused, true))
    say("the CPU profile lacks threads, because the kernel refuses a timer: ",
        (int)error, error == -EAGAIN ? " (see ulimit -i)" : "");
  return NO_TIMER;
}

// Makes a timer for the thread, as number i of the list.
static void add_locked(size_t i, int tid) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_CPU));
  if (!make_room_locked()) {
    mprof_stat_add(MPROF_STAT_cpu_threads, 1);
    return;
  }
  memmove(&cpu.timers[i + 1], &cpu.timers[i],
          (cpu.len - i) * sizeof(cpu.timers[0]));
  cpu.len++;
  cpu.timers[i] = (struct timer){.tid = tid, .id = make_timer(tid, NULL)};
}

// Returns the number of periods of the thread that are not in the profile.
static uint64_t rest_of(int tid, struct mprof_cpu_seen *seen) {
  const uint64_t ran = mprof_sys_thread_ran_ns(tid);
  const uint64_t all =
      ran < seen->first_ns
          ? 0
          : 1 + (ran - seen->first_ns) / atomic_load(&cpu.period_ns);
  const uint64_t known =
      atomic_load(&seen->periods) + atomic_load(&seen->early);
  return all > known ? all - known : 0;
}

// Adds the time for which a thread has blocked the signal. The thread may block
// it until the end of the process.
static void take_blocked_locked(int tid, struct mprof_cpu_seen *seen,
                                uint16_t labels) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_CPU));
  const uint64_t period = atomic_load(&cpu.period_ns);
  const uint64_t rest = rest_of(tid, seen);
  if (rest * period <= MPROF_CPU_BLOCKED_NS)
    return;
  atomic_fetch_add(&seen->early, rest);
  mprof_cpu_take_blocked(rest, period, labels);
}

static void take_blocked_of_thread(struct mprof_thread *t, void *unused) {
  (void)unused;
  const unsigned id = atomic_load(&t->cpu.timer_plus_1);
  if (id != 0 && id != MPROF_CPU_REFUSED)
    take_blocked_locked(t->tid, &t->cpu.seen, t->labels);
}

static void take_all_blocked_locked(void) {
  for (size_t i = 0; i < cpu.len; i++)
    if (cpu.timers[i].id != NO_TIMER)
      take_blocked_locked(cpu.timers[i].tid,
                          mprof_cpu_seen_of(cpu.timers[i].id), 0);
  mprof_lock_acquire(&mprof_registry_lock);
  mprof_threads_each(take_blocked_of_thread, NULL);
  mprof_lock_release(&mprof_registry_lock);
}

// --- timers that threads have made themselves ---

// Deletes the timer of t, unless another thread has done so. Returns whether
// there was one.
static bool take_own_timer(struct mprof_thread *t) {
  const unsigned id = atomic_exchange(&t->cpu.timer_plus_1, 0);
  if (id == 0)
    return false;
  atomic_fetch_sub(&cpu.own_timers, 1);
  if (id != MPROF_CPU_REFUSED)
    mprof_sys_timer_delete((int)id - 1);
  return id != MPROF_CPU_REFUSED;
}

static void make_own_timer(struct mprof_thread *t) {
  const unsigned session = atomic_load(&mprof_cpu_session);
  const int id = make_timer(t->tid, &t->cpu.seen);
  atomic_fetch_add(&cpu.own_timers, 1);
  atomic_store(&t->cpu.timer_plus_1,
               id == NO_TIMER ? MPROF_CPU_REFUSED : (unsigned)id + 1);
  if (atomic_load(&mprof_cpu_session) != session)
    take_own_timer(t);
}

// The kernel looks at the timers only at its clock's ticks, so a thread that
// ends before the next tick gets no signal for its last period. (Go: the
// samples are lost)
static void end_own_timer(struct mprof_thread *t) {
  const uint64_t period = atomic_load(&cpu.period_ns);
  if (!take_own_timer(t) || !mprof_cpu_is_on())
    return;
  const uint64_t rest = rest_of(t->tid, &t->cpu.seen);
  if (rest > 0)
    mprof_cpu_take_rest(rest, period, t->runs.start);
}

// (Go: minit, unminit)
static void on_thread(struct mprof_thread *t, bool begins) {
  if (mprof_tls.is_own)
    return;
  // A session that is about to end does not see the record of an ended thread.
  if (!begins)
    end_own_timer(t);
  else if (mprof_cpu_is_on())
    make_own_timer(t);
}

// --- the collector ---

// Sorts thread ids. The kernel lists them nearly sorted.
static void sort(int *v, size_t n) {
  for (size_t i = 1; i < n; i++) {
    const int tid = v[i];
    size_t j = i;
    for (; j > 0 && v[j - 1] > tid; j--)
      v[j] = v[j - 1];
    v[j] = tid;
  }
}

// Makes the id of the thread negative in the sorted list if it has made its own
// timer.
static void mark(struct mprof_thread *t, void *tids) {
  const struct mprof_tids *list = tids;
  size_t from = 0, to = list->len;
  if (atomic_load(&t->cpu.timer_plus_1) == 0)
    return;
  while (from < to) {
    const size_t middle = (from + to) / 2;
    if (abs(list->v[middle]) < t->tid)
      from = middle + 1;
    else
      to = middle;
  }
  if (from < list->len && list->v[from] == t->tid)
    list->v[from] = -t->tid;
}

// Stores the sorted ids of the threads that have not made their own timers.
// Returns whether it could.
static bool list_others(struct mprof_tids *list) {
  if (mprof_tids_list(list) != 0)
    return false;
  sort(list->v, list->len);
  mprof_lock_acquire(&mprof_registry_lock);
  mprof_threads_each(mark, list);
  mprof_lock_release(&mprof_registry_lock);
  size_t kept = 0;
  for (size_t i = 0; i < list->len; i++)
    if (list->v[i] > 0)
      list->v[kept++] = list->v[i];
  list->len = kept;
  return true;
}

// Gives each of these threads a timer, and deletes the timers of others.
static void match_timers_locked(const struct mprof_tids *list) {
  size_t kept = 0, at = 0;
  for (size_t i = 0; i < cpu.len; i++) {
    while (at < list->len && list->v[at] < cpu.timers[i].tid)
      at++;
    if (at < list->len && list->v[at] == cpu.timers[i].tid)
      cpu.timers[kept++] = cpu.timers[i];
    else if (cpu.timers[i].id != NO_TIMER)
      mprof_sys_timer_delete(cpu.timers[i].id);
  }
  cpu.len = kept;
  for (size_t i = 0; i < list->len; i++) {
    const size_t place = place_locked(list->v[i]);
    if (place == cpu.len || cpu.timers[place].tid != list->v[i])
      add_locked(place, list->v[i]);
  }
}

// Looks for threads without a timer if there seem to be any, and from time to
// time.
static void look_for_threads_locked(bool is_first) {
  const int64_t begin = mprof_clock_ms();
  const uint64_t timers = cpu.len + atomic_load(&cpu.own_timers);
  struct mprof_tids list;
  if (!is_first &&
      (begin < cpu.next_list_ms || (begin < cpu.listed_ms + LIST_MS &&
                                    mprof_proc_thread_count() == timers)))
    return;
  if (!list_others(&list))
    return;
  match_timers_locked(&list);
  mprof_tids_free(&list);
  cpu.listed_ms = mprof_clock_ms();
  cpu.next_list_ms = cpu.listed_ms + (cpu.listed_ms - begin) * SHARE;
}

static void end_own(struct mprof_thread *t, void *unused) {
  (void)unused;
  take_own_timer(t);
}

static void end_session_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_CPU));
  take_all_blocked_locked();
  atomic_store(&mprof_cpu_session, 0);
  while (cpu.len > 0) {
    const struct timer *last = &cpu.timers[--cpu.len];
    if (last->id != NO_TIMER)
      mprof_sys_timer_delete(last->id);
  }
  mprof_lock_acquire(&mprof_registry_lock);
  mprof_threads_each(end_own, NULL);
  mprof_lock_release(&mprof_registry_lock);
  cpu.ended_sessions_ms += mprof_clock_ms() - cpu.began_ms;
}

// Looks after the session. Returns false if it has ended.
static bool look_after(unsigned session) {
  mprof_lock_acquire(&cpu.lock);
  bool goes_on = atomic_load(&mprof_cpu_session) == session;
  if (goes_on && !is_installed()) {
    end_session_locked();
    goes_on = false;
    say("the CPU profile has ended, because the program now handles its signal "
        "itself; choose another one by cpu_signal",
        0, "");
  } else if (goes_on) {
    look_for_threads_locked(false);
  }
  mprof_lock_release(&cpu.lock);
  return goes_on;
}

static void collect(void) {
  const unsigned session = atomic_load(&mprof_cpu_session);
  while (session != 0 && look_after(session)) {
    mprof_cpu_wait_for_samples(COLLECT_MS);
    mprof_cpu_drain();
  }
}

// --- sessions ---

// Waits until the collector of the last session has ended. Call without
// cpu_lock.
static void await_collector(void) {
  while (!mprof_cpu_is_on() && mprof_own_runs(MPROF_OWN_CPU))
    mprof_sys_doze();
}

static int start_locked(unsigned rate) {
  if (mprof_cpu_is_on() || mprof_own_runs(MPROF_OWN_CPU))
    return -EBUSY;
  int error = mprof_cpu_slots_init();
  if (error == 0)
    error = install();
  if (error != 0)
    return error;
  cpu.rate = rate;
  cpu.began_ms = mprof_clock_ms();
  atomic_store(&cpu.period_ns, 1000000000 / rate);
  cpu.sessions = cpu.sessions == UINT32_MAX ? 1 : cpu.sessions + 1;
  atomic_store(&mprof_cpu_session, cpu.sessions);
  mprof_thread_observer = on_thread;
  look_for_threads_locked(true);
  error = mprof_own_start(MPROF_OWN_CPU, "mprof-cpu", collect);
  if (error != 0)
    end_session_locked();
  return error;
}

int mprof_cpu_start(unsigned rate, bool is_kept) {
  if (rate == 0 || rate > MPROF_CPU_RATE_MAX)
    return -EINVAL;
  await_collector();
  mprof_lock_acquire(&cpu.lock);
  const int error = start_locked(rate);
  if (error == 0 && is_kept)
    atomic_store(&cpu.is_kept, true);
  mprof_lock_release(&cpu.lock);
  return error;
}

void mprof_cpu_stop(unsigned session) {
  mprof_lock_acquire(&cpu.lock);
  if (mprof_cpu_is_on() && (session == 0 || session == mprof_cpu_session))
    end_session_locked();
  mprof_lock_release(&cpu.lock);
  mprof_own_wake(MPROF_OWN_CPU);
}

bool mprof_cpu_is_kept(void) { return atomic_load(&cpu.is_kept); }

static void start_or_say(unsigned rate) {
  const int error = rate != 0 ? mprof_cpu_start(rate, true) : 0;
  if (error == -EADDRINUSE)
    say("no CPU profile: the program handles its signal itself; choose another "
        "one by cpu_signal",
        0, "");
  else if (error != 0 && error != -EBUSY)
    say("no CPU profile: ", error, "");
}

// The rate of the session that the parent had at the fork; 0: none.
static unsigned inherited_rate;

void mprof_cpu_init(void) {
  const unsigned rate =
      inherited_rate != 0 ? inherited_rate : (unsigned)mprof_flags.cpu_rate;
  inherited_rate = 0;
  if (rate == 0 || !mprof_guard_enter())
    return;
  start_or_say(rate);
  mprof_guard_leave();
}

void mprof_cpu_end(void) {
  if (!mprof_cpu_is_on())
    return;
  const bool entered = mprof_guard_enter();
  if (entered || mprof_tls.is_own)
    mprof_cpu_stop(0);
  if (entered)
    mprof_guard_leave();
}

void mprof_cpu_restart(void) {
  mprof_cpu_stop(0);
  start_or_say((unsigned)mprof_flags.cpu_rate);
}

void mprof_cpu_reset(void) {
  mprof_lock_reset(&cpu.lock);
  inherited_rate = mprof_cpu_is_on() && mprof_cpu_is_kept() ? cpu.rate : 0;
  atomic_store(&mprof_cpu_session, 0);
  atomic_store(&cpu.own_timers, 0);
  // A child inherits no timers. Another thread of the parent may have been
  // changing the array.
  cpu.timers = NULL;
  cpu.len = cpu.cap = 0;
  cpu.ended_sessions_ms = 0;
  cpu.has_said_refused = false;
  mprof_cpu_slots_reset();
}

struct mprof_cpu_totals mprof_cpu_publish(void) {
  mprof_cpu_drain();
  mprof_lock_acquire(&cpu.lock);
  int64_t ms = cpu.ended_sessions_ms;
  if (mprof_cpu_is_on()) {
    take_all_blocked_locked();
    ms += mprof_clock_ms() - cpu.began_ms;
  }
  const struct mprof_cpu_totals t = {.period_ns = atomic_load(&cpu.period_ns),
                                     .on_ns = ms * 1000000};
  mprof_lock_release(&cpu.lock);
  return t;
}
