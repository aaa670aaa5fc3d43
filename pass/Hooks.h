// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contract of mprof/hooks.def as a table: which functions are hooked, with
// which prototype, and by which rule their calls are rewritten.

#ifndef MPROF_PASS_HOOKS_H
#define MPROF_PASS_HOOKS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class FunctionType;
class Module;
} // namespace llvm

namespace mprof {

/// How a call is rewritten. hooks.def shows the code of each rule.
enum class Rule {
  // Rules of MPROF_HOOK lines; hooks.def spells them ALLOC, REALLOC and so on.
  Alloc,
  Realloc,
  Free,
  Delete,
  Dup,
  Call,
  // Rules of functions in the lists MPROF_OWNED, MPROF_RELEASE, and so on.
  Owned,
  Release,
  Wait,
  Create,
  Unload,
  Leave,
  // Rules of functions that carry an MPROF_ATTRIBUTE.
  CustomAlloc,
  CustomFree,
  CustomRealloc,
  UserLock,
  UserUnlock,
  UserCall
};

/// Returns whether calls with rule \p R allocate or release memory.
bool isHeap(Rule R);

/// Returns whether \p R only releases a block, as free and operator delete do.
inline bool isRelease(Rule R) { return R == Rule::Free || R == Rule::Delete; }

/// The kinds of waits, in the order of the MPROF_KIND lines. The names have a
/// prefix because `try` is a keyword.
enum class WaitKind : unsigned {
#define MPROF_KIND(Name, Group) K_##Name,
#include "mprof/hooks.def"
  K_none
};

/// One hooked function. Indices count arguments from 0; -1 means that there is
/// no such argument.
struct Hook {
  llvm::StringLiteral Symbol; ///< Linkage name.
  llvm::StringLiteral Proto;  ///< Prototype, in the letters of hooks.def.
  mprof::Rule Rule;
  int Size = -1;                    ///< Index of the size in bytes.
  int Count = -1;                   ///< Index of the size's multiplier.
  int Ptr = -1;                     ///< Index of the block or of the lock.
  WaitKind Kind = WaitKind::K_none; ///< Set for Owned and Wait.
  int Owner = 0;                    ///< Owned: index of the int with the owner
                                    ///< in glibc's lock.
  int MuslOwner = 0;                ///< Owned: the same index in musl's lock.
  bool HasWord = false;             ///< Sites call through __mprof_next_<f>.

  constexpr Hook(llvm::StringLiteral Symbol, llvm::StringLiteral Proto,
                 mprof::Rule Rule)
      : Symbol(Symbol), Proto(Proto), Rule(Rule) {}
};

/// Returns all hooked functions.
llvm::ArrayRef<Hook> hooks();

/// Returns whether \p M is compiled for programs whose libc is musl.
bool isForMusl(const llvm::Module &M);

/// Returns the function type that \p Proto spells, in \p M.
llvm::FunctionType *prototype(llvm::StringRef Proto, const llvm::Module &M);

} // namespace mprof

#endif // MPROF_PASS_HOOKS_H
