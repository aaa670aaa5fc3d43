// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the calls that the pass rewrites. For each call, selects the rule of
// mprof/hooks.def by which it is rewritten.

#ifndef MPROF_PASS_CALLSITES_H
#define MPROF_PASS_CALLSITES_H

#include "Hooks.h"
#include "Options.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class CallBase;
class Function;
class FunctionType;
class Module;
class Value;
} // namespace llvm

namespace mprof {

/// A call that the pass rewrites, and the data for rewriting it. Indices count
/// the call's arguments from 0; -1 means that there is no such argument.
struct Site {
  llvm::CallBase *Call = nullptr;
  mprof::Rule Rule = Rule::CustomAlloc;
  const Hook *H = nullptr; ///< Null for functions with an MPROF_ATTRIBUTE.
  int Size = -1;           ///< Index of the size in bytes.
  int Count = -1;          ///< Index of the number of elements.
  int Ptr = -1;            ///< Index of the block or of the lock.
  /// For rule CustomAlloc: index of the address at which the function stores
  /// the block. Such a function returns 0 if it succeeds. -1: the function
  /// returns the block.
  int Out = -1;

  /// True if the rewritten code always calls the runtime, without an inline
  /// test.
  bool IsUnconditional = false;

  /// True if the call must not be counted. The rewritten code then calls the
  /// function directly and not through the runtime's interceptor, because the
  /// interceptor would count the call.
  bool OnlyBypassesInterceptor = false;
};

/// Finds the calls to rewrite. Emits a missed-optimization remark for each call
/// of a hooked function that is not rewritten.
class CallSites {
public:
  CallSites(llvm::Module &M, const ProfileKinds &Kinds);

  /// Appends the calls in \p F of hooked functions (the functions that
  /// hooks.def names, such as malloc) to \p Sites, in program order.
  void findHooked(llvm::Function &F, llvm::SmallVectorImpl<Site> &Sites) const;

  /// Appends the calls in \p F of functions with mprof_alloc, mprof_free,
  /// mprof_realloc, mprof_lock, mprof_unlock or mprof_blocking to \p Sites, in
  /// program order.
  void findCustom(llvm::Function &F, llvm::SmallVectorImpl<Site> &Sites) const;

private:
  struct Target {
    const Hook *H;
    llvm::FunctionType *Type;
  };
  llvm::DenseMap<const llvm::Value *, Target> Hooked;
  llvm::DenseMap<const llvm::Value *, Site> Custom;
};

} // namespace mprof

#endif // MPROF_PASS_CALLSITES_H
