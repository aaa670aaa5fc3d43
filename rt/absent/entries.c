// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines the entries and the public functions of the kinds that a program does
// not contain, for libraries that the program opens. Without these definitions
// the dynamic linker could not load a library that was compiled with the kinds.
//
// The program's own object files do not use this file. If one of them, or a
// library on the link line, refers to an entry, the linker has taken the real
// entries from libmprof_kinds.a, and all definitions here are weak.
//
// A site of a lock, of a wait or of a blocking call calls the hooked function
// by its switch. Nobody sets the switches of a library here, so each keeps the
// address of the hooked function, and no site calls an entry.

#include "entry/entry_lock.h"
#include "entry/entry_user.h"
#include "mprof/mprof.h"
#include "sys/abi_words.h"
#include "sys/resolve_late.h"

#include <errno.h>
#include <pthread.h>

#define ABSENT __attribute__((weak))

// --- entries that no site calls ---

__attribute__((used, noinline)) static void absent_entry(void) {}

#define ALIAS(Symbol)                                                          \
  __asm__(".weak __mprof_" #Symbol "\n"                                        \
          ".type __mprof_" #Symbol ", @function\n"                             \
          ".set __mprof_" #Symbol ", absent_entry\n");
#define MPROF_RELEASE(Symbol, Proto, Object) ALIAS(Symbol)
#define MPROF_WAIT(Symbol, Proto, Kind) ALIAS(Symbol)
#include "mprof/hooks.def"

ALIAS(register_switches)
ALIAS(unregister_switches)
ALIAS(user_lock_begin)
ALIAS(user_lock_end)
ALIAS(user_unlock_begin)
ALIAS(user_unlock_end)
ALIAS(user_call_begin)
ALIAS(user_call_end)

// --- entries of functions that create threads ---

ABSENT MPROF_ENTRY int __mprof_pthread_create(pthread_t *t,
                                              const pthread_attr_t *attr,
                                              void *(*fn)(void *), void *arg) {
  return pthread_create(t, attr, fn, arg);
}

int thrd_create(pthread_t *t, int (*fn)(void *), void *arg);

ABSENT MPROF_ENTRY int __mprof_thrd_create(pthread_t *t, int (*fn)(void *),
                                           void *arg) {
  return thrd_create(t, fn, arg);
}

#define START_THREAD                                                           \
  _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE
extern void START_THREAD(void *thread, void **state, void (*depend)(void))
    __attribute__((weak));

ABSENT MPROF_ENTRY void
__mprof__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    void *thread, void **state, void (*depend)(void)) {
  REAL(START_THREAD)(thread, state, depend);
}

// --- public functions ---
//
// They do what the inline functions of mprof.h do in a program without MProf.

#define ABSENT_PUBLIC ABSENT MPROF_PUBLIC

#define ABSENT_PROFILE(Name, Record)                                           \
  ABSENT_PUBLIC int Name(struct Record *records, size_t len, size_t *n) {      \
    if (n == NULL)                                                             \
      return EINVAL;                                                           \
    *n = 0;                                                                    \
    return 0;                                                                  \
  }
ABSENT_PROFILE(mprof_block_profile, mprof_block_record)
ABSENT_PROFILE(mprof_mutex_profile, mprof_block_record)
ABSENT_PROFILE(mprof_thread_profile, mprof_stack_record)
ABSENT_PROFILE(mprof_thread_leak_profile, mprof_stack_record)

ABSENT_PUBLIC size_t mprof_stack(char *buf, size_t len, int all) {
  if (buf != NULL && len > 0)
    buf[0] = '\0';
  return 0;
}

#define ABSENT_FUNCTION(Result, Value, Name, ...)                              \
  ABSENT_PUBLIC Result Name(__VA_ARGS__) { return Value; }
ABSENT_FUNCTION(int64_t, 0, mprof_set_block_rate, int64_t ns)
ABSENT_FUNCTION(int, 0, mprof_set_mutex_fraction, int n)
ABSENT_FUNCTION(int, ENOSYS, mprof_name_lock, const void *lock,
                const char *name)
ABSENT_FUNCTION(int, ENOSYS, mprof_trace_start, const char *path)
ABSENT_FUNCTION(int, ENOSYS, mprof_trace_start_fd, int fd)
ABSENT_FUNCTION(int, ENOSYS, mprof_trace_start_reader, void)
ABSENT_FUNCTION(int, 0, mprof_trace_stop, void)
ABSENT_FUNCTION(int, ENOSYS, mprof_trace_snapshot, const char *path)
ABSENT_FUNCTION(uint64_t, 0, mprof_trace_task_begin, uint64_t parent,
                const char *name)
ABSENT_FUNCTION(void, , mprof_trace_task_end, uint64_t task)
ABSENT_FUNCTION(void, , mprof_trace_region_begin, uint64_t task,
                const char *name)
ABSENT_FUNCTION(void, , mprof_trace_region_end, uint64_t task, const char *name)
ABSENT_FUNCTION(void, , mprof_trace_log, uint64_t task, const char *key,
                const char *text)

ABSENT_PUBLIC ssize_t mprof_trace_read(const void **data) {
  *data = NULL;
  return -ENOSYS;
}
