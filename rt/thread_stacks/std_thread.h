// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the function that a std::thread runs. A thread of libstdc++ has a state
// with a virtual function, and the function that the program passed to the
// thread is a part of this state. A thread of libc++ has a start function that
// is a template, and the passed function is a part of its argument.

#ifndef MPROF_RT_THREAD_STACKS_STD_THREAD_H
#define MPROF_RT_THREAD_STACKS_STD_THREAD_H

#include "sys/base.h"

// The first entries of the virtual table of std::thread::_State (Itanium C++
// ABI).
struct mprof_virtuals {
  void (*destroy)(void *self);
  void (*delete)(void *self);
  void (*run)(void *self);
};
static inline const struct mprof_virtuals *
mprof_virtuals_of(const void *state) {
  return *(const struct mprof_virtuals *const *)state;
}

// Returns the address of the function that a thread with this state will run.
// state: a std::thread::_State whose thread has not begun. If the program
// passed a pointer to a function or to a member function, and the position of
// the pointer is known, returns the value of the pointer. In all other cases,
// for example for a lambda, returns the state's virtual function. The name of
// this virtual function contains the type of the callable object. Takes no lock
// and allocates nothing.
uintptr_t mprof_std_thread_function(const void *state);

// Returns the field `passed` of struct mprof_thread_runs (threads.h) for a
// thread with this argument. The argument may be any value, because the caller
// does not know whether libc++ or the program has passed it. Returns 0 if the
// program does not contain libc++. Takes no lock and allocates nothing.
uintptr_t mprof_libcxx_thread_function(const void *arg);

#endif // MPROF_RT_THREAD_STACKS_STD_THREAD_H
