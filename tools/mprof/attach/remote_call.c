// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attach/remote_call.h"

#include "common/clock.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

enum {
  STOP_MS = 1000,
  CALL_MS = 5000,
  LONGEST_CALL_MS = 60000, // of a thread that does not wait for a lock
  FLOATS = 16384, // at least the size of the registers of an x86-64 processor
};

#if defined(__x86_64__)
enum { FLOAT_SET = NT_X86_XSTATE, RED_ZONE = 128 };
#elif defined(__aarch64__)
enum { FLOAT_SET = NT_PRFPREG, RED_ZONE = 0 };
#endif

struct remote_state {
  struct user_regs_struct registers; // when the thread stopped
  char floats[FLOATS];
  size_t float_bytes;
  uint64_t mask; // of signals
};

static void pause_shortly(void) {
  nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

// Waits until the thread stops or ends. Returns false if the time is over.
static bool wait_for_stop(pid_t tid, int ms, int *status) {
  const int64_t end = clock_now_ms() + ms;
  for (;;) {
    const pid_t found = waitpid(tid, status, __WALL | WNOHANG);
    if (found == tid)
      return true;
    if (found < 0 && errno != EINTR) {
      *status = 0; // as after exit
      return true;
    }
    if (clock_now_ms() >= end)
      return false;
    pause_shortly();
  }
}

static bool is_event_stop(int status) {
  return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP;
}

// Interrupts the thread, and waits until it stops. Passes signals that arrive
// before on to it.
static int interrupt(pid_t tid, int ms) {
  int status;
  if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) != 0)
    return errno;
  for (;;) {
    if (!wait_for_stop(tid, ms, &status))
      return EAGAIN;
    if (!WIFSTOPPED(status))
      return ESRCH;
    if (is_event_stop(status))
      return 0;
    ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
  }
}

static bool get_set(pid_t tid, int set, void *to, size_t *size) {
  struct iovec v = {to, *size};
  if (ptrace(PTRACE_GETREGSET, tid, set, &v) != 0)
    return false;
  *size = v.iov_len;
  return true;
}

static bool put_set(pid_t tid, int set, const void *from, size_t size) {
  struct iovec v = {(void *)from, size};
  return ptrace(PTRACE_SETREGSET, tid, set, &v) == 0;
}

static bool save(struct remote *r) {
  struct remote_state *s = r->state;
  size_t size = sizeof s->registers;
  s->float_bytes = sizeof s->floats;
  return get_set(r->tid, NT_PRSTATUS, &s->registers, &size) &&
         get_set(r->tid, FLOAT_SET, s->floats, &s->float_bytes) &&
         ptrace(PTRACE_GETSIGMASK, r->tid, sizeof s->mask, &s->mask) == 0;
}

// Returns whether a signal has arrived that the thread takes when it continues.
static bool has_signal(const struct remote *r) {
  static const char *const fields[] = {"SigPnd", "ShdPnd"};
  char value[64];
  uint64_t pending = 0;
  for (size_t i = 0; i < 2; i++)
    if (target_status(r->target->pid, r->tid, fields[i], value, sizeof value))
      pending |= strtoull(value, NULL, 16);
  return (pending & ~r->state->mask) != 0;
}

#if defined(__x86_64__)
// Returns whether the thread's system call waits without a limit of time.
static bool is_endless(const struct user_regs_struct *regs) {
  switch (regs->orig_rax) {
  case SYS_epoll_wait:
  case SYS_epoll_pwait:
    return (int)regs->r10 < 0;
  case SYS_epoll_pwait2:
  case SYS_semtimedop:
    return regs->r10 == 0;
  case SYS_rt_sigtimedwait:
    return regs->rdx == 0;
  case SYS_io_getevents:
  case SYS_io_pgetevents:
    return regs->r8 == 0;
  case SYS_semop:
  case SYS_msgrcv:
  case SYS_msgsnd:
    return true;
  default:
    return false;
  }
}

// The kernel restarts most system calls that a stop has interrupted, but lets
// some return EINTR. If the program has got no signal, they are called again,
// unless they wait for a time, which would begin anew.
static void restart_call(struct remote *r) {
  struct user_regs_struct *regs = &r->state->registers;
  if ((int64_t)regs->rax != -EINTR || !is_endless(regs) || has_signal(r))
    return;
  regs->rax = regs->orig_rax;
  regs->orig_rax = (unsigned long)-1;
  regs->rip -= 2; // the instruction syscall
}

static bool is_in_call(const struct user_regs_struct *regs) {
  return (int64_t)regs->orig_rax >= 0;
}

static uint64_t code_of(const struct user_regs_struct *regs) {
  return regs->rip;
}

static uint64_t stack_of(const struct user_regs_struct *regs) {
  return regs->rsp;
}

// Sets the registers for a call whose return address is 0.
static bool set_up(struct remote *r, struct user_regs_struct *regs,
                   uint64_t function, const uint64_t a[REMOTE_ARGUMENTS],
                   uint64_t stack) {
  const uint64_t none = 0;
  regs->rsp = (stack & ~(uint64_t)15) - 8;
  regs->rip = function;
  regs->rax = 0;
  regs->orig_rax = (unsigned long)-1; // no system call to restart
  regs->eflags &= ~UINT64_C(0x400);   // the direction flag
  regs->rdi = a[0], regs->rsi = a[1], regs->rdx = a[2];
  regs->rcx = a[3], regs->r8 = a[4], regs->r9 = a[5];
  return target_put(r->target, regs->rsp, &none, sizeof none);
}

static bool has_returned(const struct user_regs_struct *regs) {
  return regs->rip == 0;
}

static uint64_t result_of(const struct user_regs_struct *regs) {
  return regs->rax;
}
#elif defined(__aarch64__)
// Before the thread stops, the kernel sets the registers so that the system
// call is called again, or returns EINTR.
static void restart_call(struct remote *r) { (void)has_signal(r); }

// The instruction before the thread's next one, or this one, is svc.
static bool is_in_call(const struct user_regs_struct *regs) {
  return regs->regs[8] < 512;
}

static uint64_t code_of(const struct user_regs_struct *regs) {
  return regs->pc;
}

static uint64_t stack_of(const struct user_regs_struct *regs) {
  return regs->sp;
}

static bool set_up(struct remote *r, struct user_regs_struct *regs,
                   uint64_t function, const uint64_t a[REMOTE_ARGUMENTS],
                   uint64_t stack) {
  (void)r;
  regs->sp = stack & ~(uint64_t)15;
  regs->pc = function;
  regs->regs[30] = 0;
  regs->regs[29] = 0;
  for (int i = 0; i < REMOTE_ARGUMENTS; i++)
    regs->regs[i] = a[i];
  return true;
}

static bool has_returned(const struct user_regs_struct *regs) {
  return regs->pc == 0;
}

static uint64_t result_of(const struct user_regs_struct *regs) {
  return regs->regs[0];
}
#endif

// The kernel's description of a restartable sequence. (struct rseq_cs)
struct sequence {
  uint32_t version, flags;
  uint64_t start, length, abort;
};

// Returns whether the code address is in the sequence that the thread has
// registered.
static bool is_in_sequence(const struct remote *r, uint64_t code) {
  enum { GET_CONFIGURATION = 0x420f, SEQUENCE_AT = 8 };
  struct {
    uint64_t area;
    uint32_t size, signature, flags, unused;
  } c = {0};
  uint64_t at = 0;
  struct sequence s;
  if (ptrace((enum __ptrace_request)GET_CONFIGURATION, r->tid, sizeof c, &c) <
          0 ||
      c.area == 0 ||
      !target_get(r->target, c.area + SEQUENCE_AT, &at, sizeof at) || at == 0 ||
      !target_get(r->target, at, &s, sizeof s))
    return false;
  return code - s.start < s.length;
}

int remote_begin(struct remote *r, const struct target *target, pid_t tid) {
  *r = (struct remote){.target = target, .tid = tid};
  if (ptrace(PTRACE_SEIZE, tid, 0, 0) != 0)
    return errno;
  int error = interrupt(tid, STOP_MS);
  r->state = error ? NULL : calloc(1, sizeof *r->state);
  if (!error && (!r->state || !save(r)))
    error = errno;
  if (!error) {
    r->sleeps = is_in_call(&r->state->registers);
    r->is_in_sequence = is_in_sequence(r, code_of(&r->state->registers));
  }
  if (error) {
    // A thread that does not stop stays traced until this process ends.
    ptrace(PTRACE_DETACH, tid, 0, 0);
    free(r->state);
    r->state = NULL;
  }
  return error;
}

bool remote_end(struct remote *r) {
  struct remote_state *s = r->state;
  if (!s)
    return false;
  restart_call(r);
  const bool is_there =
      put_set(r->tid, FLOAT_SET, s->floats, s->float_bytes) &&
      put_set(r->tid, NT_PRSTATUS, &s->registers, sizeof s->registers) &&
      ptrace(PTRACE_SETSIGMASK, r->tid, sizeof s->mask, &s->mask) == 0;
  ptrace(PTRACE_DETACH, r->tid, 0, 0);
  free(s);
  r->state = NULL;
  return is_there;
}

// Signals by which the kernel reports an error of the code. If they were
// blocked, the kernel would change the program's action for them.
static uint64_t faults(void) {
  static const int numbers[] = {SIGSEGV, SIGBUS,  SIGILL,
                                SIGFPE,  SIGTRAP, SIGSYS};
  uint64_t set = 0;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    set |= UINT64_C(1) << (numbers[i] - 1);
  return set;
}

// Waits until the thread stops. A call that waits for a lock may be given up
// after 5 seconds: the thread does not have the lock. Any other call, such as
// one that reads the library from a slow disk, must return.
static bool wait_for_call(const struct remote *r, int64_t begin, int *status) {
  for (;;) {
    if (wait_for_stop(r->tid, 100, status))
      return true;
    const int64_t ms = clock_now_ms() - begin;
    if (ms > LONGEST_CALL_MS ||
        (ms > CALL_MS && target_futex(r->target->pid, r->tid).address != 0))
      return false;
  }
}

// Continues the thread until the called function returns to address 0.
static const char *run(struct remote *r, uint64_t *result) {
  const int64_t begin = clock_now_ms();
  int signal = 0;
  for (;;) {
    int status;
    struct user_regs_struct regs;
    size_t size = sizeof regs;
    if (ptrace(PTRACE_CONT, r->tid, 0, signal) != 0)
      return "the process has ended";
    if (!wait_for_call(r, begin, &status)) {
      interrupt(r->tid, STOP_MS);
      return "a call in the process does not return; another thread may hold a "
             "lock of the loader";
    }
    if (!WIFSTOPPED(status))
      return "the process has ended";
    signal = 0;
    if (is_event_stop(status))
      continue;
    signal = WSTOPSIG(status);
    if (!get_set(r->tid, NT_PRSTATUS, &regs, &size))
      return "the process has ended";
    if (signal == SIGSEGV && has_returned(&regs)) {
      *result = result_of(&regs);
      return NULL;
    }
    if (faults() >> (signal - 1) & 1)
      return "a call in the process has failed by a signal";
  }
}

const char *remote_call(struct remote *r, uint64_t function,
                        const uint64_t arguments[REMOTE_ARGUMENTS],
                        uint64_t stack, uint64_t *result) {
  struct user_regs_struct regs = r->state->registers;
  const uint64_t all = ~faults();
  if (!set_up(r, &regs, function, arguments,
              stack ? stack : stack_of(&regs) - RED_ZONE) ||
      !put_set(r->tid, NT_PRSTATUS, &regs, sizeof regs) ||
      ptrace(PTRACE_SETSIGMASK, r->tid, sizeof all, &all) != 0)
    return "the process has ended";
  return run(r, result);
}
