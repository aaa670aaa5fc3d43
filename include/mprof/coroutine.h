// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For programs with C++20 coroutines that are compiled with -fmprof-coroutines.
// This header works without MProf, too.

#ifndef MPROF_COROUTINE_H
#define MPROF_COROUTINE_H

#include <coroutine>

namespace mprof {

/// The handle of the coroutine that awaits this one. By default, the awaiting
/// coroutine is found if its handle is the only std::coroutine_handle in a
/// promise. If the promise has several, give the handle of the awaiting
/// coroutine this type instead:
///
///     struct promise_type {
///       mprof::continuation awaiting;
///       std::coroutine_handle<> child;
///     };
struct continuation : std::coroutine_handle<> {
  constexpr continuation() noexcept = default;
  constexpr continuation(std::nullptr_t) noexcept {}
  constexpr continuation(std::coroutine_handle<> handle) noexcept
      : std::coroutine_handle<>(handle) {}
};

} // namespace mprof

#endif // MPROF_COROUTINE_H
