// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks functions and calls with string attributes. The attributes record
// MProf's annotations of the functions and the place of each call in the
// source. Inlining does not lose these attributes.

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

/// Removes from \p F the instructions that markModule has inserted so that the
/// optimizer keeps the calls of \p F.
void removeBarriers(llvm::Function &F);

/// The names of the function attributes, one for each MPROF_ATTRIBUTE:
/// mark::alloc and so on. The value of an attribute holds the argument indices,
/// separated by commas.
namespace mark {
#define MPROF_ATTRIBUTE(Spelling, MinArgs, MaxArgs)                            \
  inline constexpr llvm::StringLiteral Spelling = "mprof-" #Spelling;
#include "mprof/hooks.def"
/// Only for rows of MPROF_ALLOCATOR: the function stores its block in memory.
inline constexpr llvm::StringLiteral alloc_out = "mprof-alloc_out";
} // namespace mark

/// The kind of the function that contains a call in the source.
enum class Place {
  Ordinary,
  Ignored,     ///< has mprof_ignore or is on the ignorelist
  Allocator,   ///< is a custom allocator
  Definition,  ///< is the program's definition of a hooked allocator
  Synchronizer ///< is the user's lock or blocking call, or the program's
               ///< definition of a hooked lock or wait
};

/// Returns the place of \p Call in the source, before any inlining.
Place placeOf(const llvm::CallBase &Call);

} // namespace mprof

#endif // MPROF_PASS_MARKS_H
