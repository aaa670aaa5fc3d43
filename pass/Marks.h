// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds string attributes to functions and calls in the IR. An attribute of a
// function records an annotation such as mprof_alloc. An attribute of a call
// records the kind of function that contains the call in the source. Inlining
// does not lose these attributes.

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

/// Replaces MProf's annotations in llvm.global.annotations by function
/// attributes. Gives functions on \p Ignorelist, which may be null, the
/// attribute mprof_ignore. Records for each call the kind of function that
/// contains it (see Place).
void markModule(llvm::Module &M, const llvm::SpecialCaseList *Ignorelist,
                const Options &Opts);

/// Removes from \p F the empty asm that markModule has inserted. The asm
/// prevents the optimizer from removing the calls of \p F.
void removeBarriers(llvm::Function &F);

/// The names of the function attributes in the IR, such as mark::alloc, which
/// is "mprof-alloc". There is one for each MPROF_ATTRIBUTE of hooks.def. The
/// value of an attribute holds the argument indices, separated by commas.
namespace mark {
#define MPROF_ATTRIBUTE(Spelling, MinArgs, MaxArgs)                            \
  inline constexpr llvm::StringLiteral Spelling = "mprof-" #Spelling;
#include "mprof/hooks.def"
/// For functions such as je_posix_memalign, which hooks.def lists with the kind
/// alloc_out: the function does not return the address of the block that it
/// allocates, but stores this address in memory to which an argument points.
inline constexpr llvm::StringLiteral alloc_out = "mprof-alloc_out";
} // namespace mark

/// The place of a call: the kind of function that contains it in the source.
enum class Place {
  Ordinary,
  Ignored,    ///< a function with mprof_ignore or on the ignorelist
  Allocator,  ///< a function with mprof_alloc, mprof_free or mprof_realloc
  Definition, ///< the program's definition of a function such as malloc
  /// A function with mprof_lock, mprof_unlock or mprof_blocking, or the
  /// program's definition of a function such as pthread_mutex_lock.
  Synchronizer
};

/// Returns the kind of function that contained \p Call before any inlining.
Place placeOf(const llvm::CallBase &Call);

} // namespace mprof

#endif // MPROF_PASS_MARKS_H
