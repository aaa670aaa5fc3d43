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

/// The kinds of profiles that the program must be able to write, under their
/// names in -fmprof=. The kinds decide which calls are rewritten.
struct ProfileKinds {
  bool Heap = true;
  bool Block = true;
  bool Mutex = true;
  bool Threads = true;

  /// Returns whether calls of \p H are rewritten for one of these profiles.
  bool need(const Hook &H) const;

  /// Returns whether calls with rule \p R are rewritten for one of these
  /// profiles.
  bool need(Rule R) const;
};

/// Which blocks are counted when a custom allocator calls malloc or another
/// custom allocator.
enum class Nested {
  Written,   ///< Calls in the allocator's own source are not counted; calls in
             ///< its helper functions are.
  Outermost, ///< Only blocks of the outermost allocator are counted.
  Each       ///< Blocks of every allocator are counted.
};

struct Options {
  ProfileKinds Kinds;
  std::vector<std::string> Ignorelists; ///< File names.
  mprof::Nested Nested = Nested::Written;
  bool AllocSize = false; ///< Functions with alloc_size are allocators.
};

} // namespace mprof

#endif // MPROF_PASS_OPTIONS_H
