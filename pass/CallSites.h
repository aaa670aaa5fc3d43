// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which calls are rewritten, and by which rule of hooks.def.

#ifndef MPROF_PASS_CALLSITES_H
#define MPROF_PASS_CALLSITES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <memory>

namespace llvm {
class BasicBlock;
class CallBase;
class Function;
class FunctionType;
class LLVMContext;
class Module;
class Value;
} // namespace llvm

namespace mprof {

/// The rules of MPROF_HOOK and its kin, those that are lines of their own, then
/// those of MPROF_ATTRIBUTE.
enum class Rule {
  ALLOC,
  REALLOC,
  FREE,
  DELETE,
  DUP,
  CALL,
  Owned,
  Release,
  Wait,
  Create,
  Unload,
  Leave,
  CustomAlloc,
  CustomFree,
  CustomRealloc,
  UserLock,
  UserUnlock,
  UserCall
};

/// Whether a rule is about blocks of memory.
bool isHeap(Rule R);

/// The MPROF_KIND lines.
enum class Kind : unsigned {
#define MPROF_KIND(Name, Group) K_##Name,
#include "mprof/hooks.def"
  None
};

/// One line for a hooked function.
struct Hook {
  llvm::StringLiteral Symbol;
  llvm::StringLiteral Proto;
  mprof::Rule Rule;
  int Size, Count, Ptr;
  mprof::Kind Kind;     ///< Of Owned and Wait.
  int Owner;            ///< Of Owned: which int of the lock has the owner.
  bool HasWord = false; ///< The function is called through a word.
  int MuslOwner = 0;    ///< As Owner, of musl's lock.
};

/// Which sites are wanted: kinds of profiles, as -fmprof= names them.
struct Wanted {
  bool Heap, Block, Mutex, Threads;
  bool wants(const Hook &H) const;
  bool wants(Rule R) const;
};

llvm::ArrayRef<Hook> hooks();

/// Whether \p M is compiled for programs whose libc is musl.
bool isForMusl(const llvm::Module &M);

/// The function type that \p Proto spells, in \p M.
llvm::FunctionType *prototype(llvm::StringRef Proto, const llvm::Module &M);

/// A call and what becomes of it.
struct Site {
  llvm::CallBase *Call;
  mprof::Rule Rule;
  const Hook *H; ///< Null for sites of custom allocators.
  /// Indices of the call's arguments, or -1.
  int Size, Count, Ptr;
  /// Without a test: the entry is called, as it does all the work.
  bool Plain;
  /// Of no profile, but the function beneath is to be called: the interceptors
  /// would count it else.
  bool Beneath = false;
};

/// Finds sites and reports those that are left alone as missed remarks.
class CallSites {
public:
  CallSites(llvm::Module &M, const Wanted &W);

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
