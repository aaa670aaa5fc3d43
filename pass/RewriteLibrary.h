// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the code by which rewritten calls in a shared library find the right
// malloc or similar function: the program's function, or a private function of
// the library.

#ifndef MPROF_PASS_REWRITELIBRARY_H
#define MPROF_PASS_REWRITELIBRARY_H

#include "Runtime.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

/// Makes the module hooks of a module that is compiled for a shared library. A
/// module hook is a struct with the addresses that rewritten calls of one heap
/// function use.
class LibraryHooks {
public:
  explicit LibraryHooks(Runtime &RT) : RT(RT) {}

  /// Returns whether the rewritten call \p S uses a module hook.
  bool covers(const Site &S) const;

  /// Inserts a load of the module hook's field `word`. This field is the
  /// address of a pointer to the heap function that \p S calls.
  llvm::Value *word(llvm::IRBuilderBase &B, const Site &S);

  /// Inserts a load of the module hook's field `entry`. This field is the
  /// function that \p S calls in place of the heap function if the runtime may
  /// have to count the call.
  llvm::Value *entry(llvm::IRBuilderBase &B, const Site &S);

private:
  /// The fields of struct __mprof_module_hook.
  enum Field {
#define MPROF_MODULE_HOOK_FIELD(Type, Name) F_##Name,
#include "mprof/hooks.def"
    NumFields
  };
  using MakeCallee =
      llvm::function_ref<llvm::Value *(llvm::IRBuilderBase &, const Site &)>;

  llvm::GlobalVariable *hook(const Site &S);
  llvm::Value *load(llvm::IRBuilderBase &B, const Site &S, Field F);
  llvm::Function *standIn(const Site &S, llvm::StringRef Kind,
                          MakeCallee Callee);
  llvm::Constant *ownEntry(const Site &S, llvm::Constant *Own);
  void bind(llvm::IRBuilderBase &B, llvm::GlobalVariable *Hook);

  Runtime &RT;
};

} // namespace mprof

#endif // MPROF_PASS_REWRITELIBRARY_H
