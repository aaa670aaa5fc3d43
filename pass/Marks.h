// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the source says about functions, kept in the IR where inlining cannot
// lose it.

#ifndef MPROF_PASS_MARKS_H
#define MPROF_PASS_MARKS_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class CallBase;
class Function;
class Module;
class SpecialCaseList;
} // namespace llvm

namespace mprof {

struct Options;

/// Moves MProf's annotations from llvm.global.annotations to function
/// attributes, applies \p Ignorelist (may be null), and marks calls whose place
/// decides whether they are rewritten.
void markModule(llvm::Module &M, const llvm::SpecialCaseList *Ignorelist,
                const Options &Opts);

/// Removes what markModule has put into \p F to keep the optimizer from
/// removing calls of it.
void removeBarriers(llvm::Function &F);

/// The function attribute for each MPROF_ATTRIBUTE: mark::alloc and so on. Its
/// value holds the argument indices, with commas between.
namespace mark {
#define MPROF_ATTRIBUTE(Spelling, MinArgs, MaxArgs)                            \
  inline constexpr llvm::StringLiteral Spelling = "mprof-" #Spelling;
#include "mprof/hooks.def"
} // namespace mark

/// Where a call was written.
enum class Place {
  Ordinary,
  Ignored,     ///< in a function of mprof_ignore or of the ignorelist
  Allocator,   ///< in a custom allocator
  Definition,  ///< in a definition of a hooked allocator
  Synchronizer ///< in a lock or blocking call of the user's, or a definition
               ///< of a hooked one
};
Place placeOf(const llvm::CallBase &Call);

} // namespace mprof

#endif // MPROF_PASS_MARKS_H
