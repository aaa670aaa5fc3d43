// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares in a module the runtime's variables and functions that rewritten
// code uses.

#ifndef MPROF_PASS_RUNTIME_H
#define MPROF_PASS_RUNTIME_H

#include "CallSites.h"
#include "Processor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/DerivedTypes.h"

namespace llvm {
class Constant;
class FunctionCallee;
class GlobalVariable;
} // namespace llvm

namespace mprof {

/// The prefix of the runtime's symbols that rewritten code uses.
inline constexpr llvm::StringLiteral Prefix = "__mprof_";

/// Returns \p Attrs, the attributes of a function such as malloc, without those
/// that do not hold for the runtime's replacement of this function. The
/// replacement accesses memory of its own, keeps pointers and takes locks. \p
/// NumParams is the number of parameters.
llvm::AttributeList entryAttributes(llvm::LLVMContext &Ctx,
                                    llvm::AttributeList Attrs,
                                    unsigned NumParams);

/// The name of a symbol that differs between versions of hooks.def.
#define MPROF_VERSIONED(Name)                                                  \
  "__mprof_" Name "_v" MPROF_STRING(MPROF_ABI_VERSION)
#define MPROF_STRING(X) MPROF_STRING_(X)
#define MPROF_STRING_(X) #X

/// Hides \p V, which several modules define. The linker keeps only one
/// definition for each executable or library.
void keepOne(llvm::GlobalObject &V);

/// Declares the runtime's variables and functions in a module, each only once.
class Runtime {
public:
  /// \p M must be compiled for a processor that MProf supports.
  explicit Runtime(llvm::Module &M);

  /// Returns the variable __mprof_<Name>, which an MPROF_WORD of hooks.def
  /// describes. Each of these variables has 64 bits.
  llvm::GlobalVariable *word(llvm::StringRef Name);

  /// Returns __mprof_waiters, an array of MPROF_WAITER_SLOTS 32-bit integers.
  llvm::GlobalVariable *waiters();

  /// Returns __mprof_next_<Symbol>, a pointer to a function.
  llvm::GlobalVariable *nextWord(llvm::StringRef Symbol);

  /// Returns __mprof_sized_<Symbol>, a pointer to a function that copies a
  /// string of known size.
  llvm::GlobalVariable *sizedWord(llvm::StringRef Symbol);

  /// Returns __mprof_copy_malloc, a pointer to the malloc that sites of strdup
  /// call if they may copy the string themselves. It is NULL if they may not.
  llvm::GlobalVariable *copyMallocWord();

  /// Returns __mprof_free_off_page, a pointer to the free that sites call for a
  /// block off a page boundary.
  llvm::GlobalVariable *freeOffPageWord();

  /// Declares the function __mprof_<Name> if necessary, and returns it.
  llvm::FunctionCallee function(llvm::StringRef Name, llvm::FunctionType *Ty);
  llvm::FunctionCallee function(llvm::StringRef Name, llvm::Type *Result,
                                llvm::ArrayRef<llvm::Type *> Params);

  /// Declares and returns the runtime's function __mprof_f, which replaces the
  /// function f that \p S calls.
  llvm::Constant *hookEntry(const Site &S);

  /// Makes the function \p Name, which passes \p Arg, or its own address if
  /// \p Arg is null, to __mprof_<Callee>. If \p Linkage is linkonce_odr, each
  /// executable or library has only one such function.
  llvm::Function *makeCaller(llvm::StringRef Name,
                             llvm::GlobalValue::LinkageTypes Linkage,
                             llvm::StringRef Callee, llvm::Constant *Arg);

  llvm::Module &M;
  llvm::LLVMContext &Ctx;
  llvm::IntegerType *const I64;
  llvm::PointerType *const PtrTy;
  const Processor &CPU;    ///< The processor for which the module is compiled.
  const bool IsForLTO;     ///< The linker may still optimize the code.
  const bool IsForLibrary; ///< The code is compiled for a shared library.
  /// True if the linker resolves references to the runtime's variables at link
  /// time, so that they need no entry of the GOT.
  const bool WordsAreLocal;

private:
  llvm::GlobalVariable *pointerWord(llvm::StringRef Kind,
                                    llvm::StringRef Symbol);

  llvm::StringMap<llvm::GlobalVariable *> Words;
  llvm::StringMap<llvm::GlobalVariable *> PointerWords;
  llvm::GlobalVariable *Waiters = nullptr;
};

} // namespace mprof

#endif // MPROF_PASS_RUNTIME_H
