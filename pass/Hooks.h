// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of hooked functions, which mprof/hooks.def lists: the functions
// whose calls the pass rewrites, their prototypes, and the rules for rewriting
// the calls.

#ifndef MPROF_PASS_HOOKS_H
#define MPROF_PASS_HOOKS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class FunctionType;
class Module;
} // namespace llvm

namespace mprof {

/// How a call is rewritten. mprof/hooks.def shows the code of each rule.
enum class Rule {
  // Rules of MPROF_HOOK lines. hooks.def writes these names in capitals.
  Alloc,
  Realloc,
  Free,
  Delete,
  Dup,
  Call,
  // Rules of the lists MPROF_RELEASE, MPROF_WAIT, MPROF_CREATE, MPROF_UNLOAD,
  // MPROF_LEAVE, MPROF_SIGNAL and MPROF_MAP in hooks.def.
  Release,
  Wait,
  Create,
  Unload,
  Leave,
  Signal,
  Map,
  // Rules of functions with an attribute such as mprof_alloc (the list
  // MPROF_ATTRIBUTE in hooks.def).
  CustomAlloc,
  CustomFree,
  CustomRealloc,
  UserLock,
  UserUnlock,
  UserCall
};

/// Returns whether calls with rule \p R allocate or free memory.
bool isHeap(Rule R);

/// Returns whether \p R is the rule of functions that only free a block: free
/// or operator delete.
inline bool isRelease(Rule R) { return R == Rule::Free || R == Rule::Delete; }

/// The kinds of waits, in the order of the MPROF_KIND lines. The names have the
/// prefix K_ because the name `try` would be a keyword.
enum class WaitKind : unsigned {
#define MPROF_KIND(Name, Group) K_##Name,
#include "mprof/hooks.def"
  K_none
};

/// One hooked function. Size, Count and Ptr are indices of arguments, counted
/// from 0; -1 means that there is no such argument.
struct Hook {
  llvm::StringLiteral Symbol; ///< Linkage name.
  llvm::StringLiteral Proto;  ///< Prototype, in the letters of hooks.def.
  mprof::Rule Rule;
  int Size = -1;                    ///< Index of the size in bytes.
  int Count = -1;                   ///< Index of the number of elements.
  int Ptr = -1;                     ///< Index of the block or of the lock.
  WaitKind Kind = WaitKind::K_none; ///< Set for Wait.
  bool HasWord = false; ///< Call sites call f by the pointer __mprof_next_<f>.

  constexpr Hook(llvm::StringLiteral Symbol, llvm::StringLiteral Proto,
                 mprof::Rule Rule)
      : Symbol(Symbol), Proto(Proto), Rule(Rule) {}
};

/// Returns all hooked functions, that is, all functions listed in hooks.def.
llvm::ArrayRef<Hook> hooks();

/// Returns whether \p M is compiled for programs whose libc is musl.
bool isForMusl(const llvm::Module &M);

/// Returns the function type that \p Proto describes in the letters of
/// hooks.def. \p M selects the LLVM context and the libc.
llvm::FunctionType *prototype(llvm::StringRef Proto, const llvm::Module &M);

} // namespace mprof

#endif // MPROF_PASS_HOOKS_H
