// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that sites of the heap call in shared libraries.

#ifndef MPROF_PASS_REWRITELIBRARY_H
#define MPROF_PASS_REWRITELIBRARY_H

#include "Runtime.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

/// Makes the module hooks of a module that is compiled for a shared library.
class LibraryHooks {
public:
  explicit LibraryHooks(Runtime &RT) : RT(RT) {}

  /// Returns whether \p S calls through a module hook.
  bool covers(const Site &S) const;

  /// Loads the address of the pointer that \p S calls through.
  llvm::Value *word(llvm::IRBuilderBase &B, const Site &S);

  /// Loads the entry that \p S calls.
  llvm::Value *entry(llvm::IRBuilderBase &B, const Site &S);

private:
  /// The fields of a __mprof_module_hook (rt/entry/entry_library.h).
  enum Field {
    WordField,
    EntryField,
    LazyField,
    NextField,
    RuntimeEntryField,
    OwnField,
    OwnEntryField,
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
