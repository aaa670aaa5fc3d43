// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the calls that are rewritten, and the rule of hooks.def for each.

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

/// A call that is rewritten, and the data for rewriting it. Indices count the
/// call's arguments from 0; -1 means that there is no such argument.
struct Site {
  llvm::CallBase *Call = nullptr;
  mprof::Rule Rule = Rule::CustomAlloc;
  const Hook *H = nullptr; ///< Null for functions with an MPROF_ATTRIBUTE.
  int Size = -1;           ///< Index of the size in bytes.
  int Count = -1;          ///< Index of the size's multiplier.
  int Ptr = -1;            ///< Index of the block or of the lock.
  /// CustomAlloc: index of the address at which the function stores the block;
  /// it then returns 0 if it succeeds. -1: the function returns the block.
  int Out = -1;

  /// True if the site always calls the runtime's entry, without a test.
  bool IsUnconditional = false;

  /// True if the call must not be counted. The site then calls the function
  /// beneath the runtime's interceptor, since the interceptor would count it.
  bool OnlyBypassesInterceptor = false;
};

/// Finds sites. Emits a missed remark for each call that is not rewritten
/// although its callee is a hooked function.
class CallSites {
public:
  CallSites(llvm::Module &M, const ProfileKinds &Kinds);

  /// Appends the calls of hooked functions in \p F, in program order.
  void findHooked(llvm::Function &F, llvm::SmallVectorImpl<Site> &Sites) const;

  /// Appends the calls in \p F of functions that carry mprof_alloc, mprof_free,
  /// mprof_realloc, mprof_lock, mprof_unlock or mprof_blocking, in program
  /// order.
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
