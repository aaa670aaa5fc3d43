// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the functions f that create threads: the functions __mprof_f that
// instrumented code calls in place of f. Each entry finds the bucket of the
// creator's stack. The new thread first stores this bucket in its thread
// record. Then it runs its start function by a tail call, so that the new
// thread's stack has no frame of this file.

#include "bucket/bucket.h"
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "entry/entry_lock.h"
#include "options/flags.h"
#include "process/modules.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/libc.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "thread_stacks/thread_starts.h"
#include "trace/trace_events.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

#include <string.h>

// Returns the bucket of the creator's stack. Returns NULL if thread creation is
// not profiled.
static struct mprof_bucket *created_at(uintptr_t frame) {
  if (!mprof_flags.threadcreate || mprof_flags.stack_depth == 0)
    return NULL;
  struct mprof_thread *t = mprof_thread_self(true);
  struct mprof_bucket_key key = {.type = MPROF_BUCKET_THREAD};
  return t ? mprof_bucket_at(t, &key, 0, frame) : NULL;
}

// The code of libstdc++, if the entries see libstdc++'s own calls; otherwise
// empty. Written once, at start.
static struct mprof_code_range std_code;

// Returns what is known about the function of a thread. The arguments are those
// of begin().
static struct mprof_thread_runs runs_of(uintptr_t fn, const void *arg,
                                        const void *state) {
  struct mprof_thread_runs runs = {.start = fn};
  if (fn - std_code.begin < std_code.end - std_code.begin)
    state = arg;
  if (state)
    runs.start = mprof_std_thread_function(state);
  else
    runs.passed = mprof_libcxx_thread_function(arg);
  return runs;
}

// Returns a start record for the new thread, which replaces the argument of its
// start function. Returns NULL if the thread needs no record, or the runtime
// cannot make one.
// fn, arg: function that the thread will run, and its argument; fn is 0 if
// `state` is not NULL.
// state: for a std::thread of libstdc++, its std::thread::_State.
static struct mprof_thread_start *begin(uintptr_t fn, const void *arg,
                                        const void *state, uintptr_t frame) {
  if (!mprof_process_ready())
    return NULL;
  if (!mprof_guard_enter()) {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
    return NULL;
  }
  struct mprof_bucket *b = created_at(frame);
  struct mprof_thread_start *s = b || mprof_tls.labels != 0 || mprof_cpu_is_on()
                                     ? mprof_thread_start_new()
                                     : NULL;
  if (s) {
    s->runs = runs_of(fn, arg, state);
    s->bucket = b;
    s->labels = mprof_tls.labels;
    s->epoch = mprof_process_epoch();
    // Count the new thread now, because it may end before this thread runs
    // again.
    if (b)
      atomic_fetch_add_explicit(&b->thread.created, 1, memory_order_relaxed);
    if (mprof_unlikely(mprof_trace_is_on())) {
      s->trace_g = mprof_trace_create(&s->runs, frame, &s->trace_start);
      s->trace_session = mprof_tls.trace_session;
    }
  }
  mprof_guard_leave();
  return s;
}

static void take_back(struct mprof_thread_start *s) {
  if (!mprof_guard_enter())
    return;
  if (s->bucket && s->epoch == mprof_process_epoch())
    atomic_fetch_sub_explicit(&s->bucket->thread.created, 1,
                              memory_order_relaxed);
  mprof_thread_start_free(s);
  mprof_guard_leave();
}

// --- POSIX and C11 ---

static void *run(void *arg) {
  struct mprof_thread_start *s = arg;
  void *(*fn)(void *) = s->fn;
  arg = s->arg;
  mprof_learn_root((mprof_pc)__builtin_return_address(0));
  mprof_thread_begin(s, true);
  __attribute__((musttail)) return fn(arg);
}

MPROF_ENTRY int __mprof_pthread_create(pthread_t *t, const pthread_attr_t *attr,
                                       void *(*fn)(void *), void *arg) {
  struct mprof_thread_start *s = begin((uintptr_t)fn, arg, NULL, ENTRY_FRAME);
  if (!s)
    return pthread_create(t, attr, fn, arg);
  s->fn = fn;
  s->arg = arg;
  int error = pthread_create(t, attr, run, s);
  if (error != 0)
    take_back(s);
  return error;
}

int thrd_create(pthread_t *t, int (*fn)(void *), void *arg);

static int run_c11(void *arg) {
  struct mprof_thread_start *s = arg;
  int (*fn)(void *) = s->c11_fn;
  arg = s->arg;
  mprof_learn_root((mprof_pc)__builtin_return_address(0));
  mprof_thread_begin(s, true);
  __attribute__((musttail)) return fn(arg);
}

MPROF_ENTRY int __mprof_thrd_create(pthread_t *t, int (*fn)(void *),
                                    void *arg) {
  struct mprof_thread_start *s = begin((uintptr_t)fn, NULL, NULL, ENTRY_FRAME);
  if (!s)
    return thrd_create(t, fn, arg);
  s->c11_fn = fn;
  s->arg = arg;
  int result = thrd_create(t, run_c11, s);
  if (result != 0)
    take_back(s);
  return result;
}

// --- std::thread of libstdc++ ---

// libstdc++ creates the thread with a std::thread::_State. The thread calls a
// virtual function of the state and finally deletes the state. The entry
// replaces the state by the start record, which owns the original state. The
// start record begins with a virtual table in the layout of the Itanium C++
// ABI. (libc++ needs no entry here, because its headers call pthread_create.)
static void state_destroy(void *self) {
  struct mprof_thread_start *s = self;
  mprof_virtuals_of(s->arg)->delete(s->arg);
}

static void state_delete(void *self) {
  struct mprof_thread_start *s = self;
  mprof_virtuals_of(s->arg)->delete(s->arg);
  if (s->has_run) {
    if (mprof_guard_enter()) {
      mprof_thread_start_free(s);
      mprof_guard_leave();
    }
  } else {
    take_back(s); // the thread could not be created
  }
}

static void state_run(void *self) {
  struct mprof_thread_start *s = self;
  void *state = s->arg;
  s->has_run = true;
  mprof_thread_begin(s, false);
  __attribute__((musttail)) return mprof_virtuals_of(state)->run(state);
}

static const struct {
  ptrdiff_t offset_to_top;
  const void *type_info;
  struct mprof_virtuals functions;
} state_table = {0, NULL, {state_destroy, state_delete, state_run}};

#define START_THREAD                                                           \
  _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE
// The entry below calls this function. The reference is weak, because C
// programs have no C++ library, which defines the function. In C++ programs,
// the pass adds a strong reference to the function to each module that calls
// it, so that the linker keeps the function.
extern void START_THREAD(void *thread, void **state, void (*depend)(void))
    __attribute__((weak));

// state: the address of a std::unique_ptr to a std::thread::_State.
MPROF_ENTRY void
__mprof__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    void *thread, void **state, void (*depend)(void)) {
  struct mprof_thread_start *s = begin(0, NULL, *state, ENTRY_FRAME);
  if (s) {
    s->virtuals = &state_table.functions;
    s->arg = *state;
    *state = s;
  }
  REAL(START_THREAD)(thread, state, depend);
}

void mprof_entry_thread_sees_library(void) {
  if (!START_THREAD)
    return;
  const struct mprof_module m = mprof_module_of((void *)START_THREAD);
  if (mprof_module_is_cxx_library(&m))
    std_code = (struct mprof_code_range){m.start, m.end};
}
