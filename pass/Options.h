// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of the passes. Plugin.cpp has their names and help texts.

#ifndef MPROF_PASS_OPTIONS_H
#define MPROF_PASS_OPTIONS_H

#include "Hooks.h"
#include <string>
#include <vector>

namespace mprof {

/// The kinds of profiles that the program must be able to write, as selected by
/// -fmprof=. The kinds decide which calls the pass rewrites.
struct ProfileKinds {
  bool Heap = true;
  bool Block = true;
  bool Mutex = true;
  bool Threads = true;

  /// Returns whether one of the selected profiles needs the calls of \p H
  /// rewritten.
  bool need(const Hook &H) const;

  /// Returns whether one of the selected profiles needs calls with rule \p R
  /// rewritten.
  bool need(Rule R) const;
};

/// Which blocks are counted when a custom allocator calls malloc or another
/// custom allocator.
enum class Nested {
  /// Calls in the source of the custom allocator itself are not counted. Calls
  /// in the functions that the custom allocator calls are counted.
  Written,
  Outermost, ///< Only blocks of the outermost allocator are counted.
  Each       ///< Blocks of every allocator are counted.
};

/// How the runtime follows the stacks of the code.
enum class Unwind {
  Default, ///< Tables; for musl, Frames.
  Frames,  ///< Every function keeps a frame pointer.
  Tables   ///< Functions have unwind tables, and need no frame pointer.
};

struct Options {
  ProfileKinds Kinds;
  std::vector<std::string> Ignorelists; ///< File names.
  mprof::Nested Nested = Nested::Written;
  /// True: functions with the attribute alloc_size are custom allocators.
  bool AllocSize = false;
  mprof::Unwind Unwind = Unwind::Default;
  /// True: the runtime can find the coroutines that await a running coroutine.
  bool Coroutines = false;
};

} // namespace mprof

#endif // MPROF_PASS_OPTIONS_H
