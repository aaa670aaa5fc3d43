// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The symbols of the runtime that the code of one module refers to.

#ifndef MPROF_PASS_RUNTIME_H
#define MPROF_PASS_RUNTIME_H

#include "CallSites.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/DerivedTypes.h"

namespace llvm {
class Constant;
class FunctionCallee;
class GlobalVariable;
} // namespace llvm

namespace mprof {

/// The prefix of all symbols of the runtime.
inline constexpr llvm::StringLiteral Prefix = "__mprof_";

/// Removes the attributes that hold for a hooked function but not for its
/// entry: the entry accesses memory of its own, keeps pointers and takes locks.
llvm::AttributeList entryAttributes(llvm::LLVMContext &Ctx,
                                    llvm::AttributeList Attrs,
                                    unsigned NumParams);

/// Declares the runtime's data words and functions in a module, each once.
class Runtime {
public:
  explicit Runtime(llvm::Module &M);

  /// Returns the global of an MPROF_WORD. Every word has 64 bits.
  llvm::GlobalVariable *word(llvm::StringRef Name);

  /// Returns __mprof_waiters, an array of 1024 32-bit integers.
  llvm::GlobalVariable *waiters();

  /// Returns __mprof_next_<Symbol>, a pointer to a function.
  llvm::GlobalVariable *nextWord(llvm::StringRef Symbol);

  /// Declares the function __mprof_<Name>.
  llvm::FunctionCallee function(llvm::StringRef Name, llvm::FunctionType *Ty);
  llvm::FunctionCallee function(llvm::StringRef Name, llvm::Type *Result,
                                llvm::ArrayRef<llvm::Type *> Params);

  /// Declares the entry that replaces the hooked function of \p S.
  llvm::Constant *hookEntry(const Site &S);

  llvm::Module &M;
  llvm::LLVMContext &Ctx;
  llvm::IntegerType *const I64;
  llvm::PointerType *const PtrTy;
  const bool IsForLibrary; ///< The code is compiled for a shared library.
  const bool IsMusl;       ///< The program's libc is musl.

private:
  /// True if the linker resolves references to the runtime's data at link time.
  /// The references then need no entry of the GOT.
  const bool WordsAreLocal;
  llvm::StringMap<llvm::GlobalVariable *> Words;
  llvm::StringMap<llvm::GlobalVariable *> NextWords;
  llvm::GlobalVariable *Waiters = nullptr;
};

} // namespace mprof

#endif // MPROF_PASS_RUNTIME_H
