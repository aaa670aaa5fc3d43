// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes the IR as it is told to. RewriteHooked.cpp does the sites of hooked
// functions, RewriteLibrary.cpp what they call in shared libraries,
// RewriteCustom.cpp those of custom allocators, RewriteModule.cpp what concerns
// whole functions and the module.

#ifndef MPROF_PASS_REWRITEHOOKED_H
#define MPROF_PASS_REWRITEHOOKED_H

#include "CallSites.h"
#include "MProfPass.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

/// What all symbols of the runtime begin with.
inline constexpr llvm::StringLiteral Prefix = "__mprof_";

/// A builder before \p I whose instructions no sanitizer looks at.
struct Builder
    : llvm::IRBuilder<llvm::ConstantFolder, llvm::IRBuilderCallbackInserter> {
  explicit Builder(llvm::Instruction *I)
      : IRBuilder(I->getContext(), llvm::ConstantFolder(),
                  llvm::IRBuilderCallbackInserter([](llvm::Instruction *New) {
                    New->setNoSanitizeMetadata();
                  })) {
    SetInsertPoint(I);
  }
};

/// Branch weights of a condition that almost never holds.
llvm::MDNode *unlikely(llvm::LLVMContext &Ctx);

/// Removes what holds for the hooked function but not for its entry, which
/// reads and writes memory of its own, keeps pointers and takes locks.
llvm::AttributeList entryAttributes(llvm::LLVMContext &Ctx,
                                    llvm::AttributeList Attrs,
                                    unsigned NumParams);

/// A new block on the normal edge of \p Invoke.
llvm::BasicBlock *splitNormalEdge(llvm::InvokeInst *Invoke);

class Rewriter {
public:
  Rewriter(llvm::Module &M, mprof::Nested Nested);

  /// Rewrites \p S. Of the sites in one block, the last is to come first: each
  /// splits the block behind it, which moves what follows.
  void rewrite(const Site &S);

  /// Puts the accesses to the words that sites of custom allocators need where
  /// rewrite has left calls that stand for them. Returns whether there were
  /// any.
  bool lowerDeferred();

  /// Has no allocator under way where \p F goes on after one was left by an
  /// exception or by longjmp. Returns whether it can.
  bool leaveNested(llvm::Function &F);

  /// Corrects what the optimizer has inferred from hooked functions, which
  /// change nothing that the program sees: where they are called, or what calls
  /// them, the countdown changes. Optimizers at link time would rely on it.
  void widenMemoryEffects();

  /// Makes every frame of \p F that calls anything walkable.
  static void keepFramePointer(llvm::Function &F);

  /// The same for functions that later passes add.
  static void keepFramePointers(llvm::Module &M);

  /// Tells the runtime where the stack of the main thread ends.
  void storeMainFrame(llvm::Function &Main);

  /// Registers the names of \p Wrappers while the program runs.
  void registerWrappers(llvm::ArrayRef<const llvm::Function *> Wrappers);

  /// Makes the object need a runtime of this version of hooks.def.
  void requireVersion();

  /// Tells the runtime when a shared library that has this code is unloaded.
  void tellUnload();

private:
  llvm::GlobalVariable *word(llvm::StringRef Name);
  llvm::Value *bytes(llvm::IRBuilderBase &B, const Site &S);
  struct Countdown {
    llvm::Value *Left; // after the subtraction
    llvm::Value *Ask;  // whether the runtime is called
  };
  Countdown countDown(llvm::IRBuilderBase &B, llvm::Value *Bytes);
  llvm::Value *hasNone(llvm::IRBuilderBase &B, llvm::Value *Ptr,
                       llvm::StringRef Mask);
  llvm::Value *waitersWord(llvm::IRBuilderBase &B, llvm::Value *Object);
  llvm::Value *isOwned(llvm::IRBuilderBase &B, llvm::Value *Lock, int Owner);
  llvm::Value *hasWaiters(llvm::IRBuilderBase &B, llvm::Value *Object);
  llvm::Value *wantsKind(llvm::IRBuilderBase &B, Kind K);
  llvm::Value *mustAsk(llvm::IRBuilderBase &B, const Site &S);
  llvm::FunctionCallee entry(llvm::StringRef Name, llvm::FunctionType *Ty);
  llvm::FunctionCallee entry(llvm::StringRef Name, llvm::Type *Result,
                             llvm::ArrayRef<llvm::Type *> Params);
  llvm::Constant *hookEntry(const Site &S);
  llvm::FunctionCallee hookEntry(llvm::IRBuilderBase &B, const Site &S);
  llvm::Value *next(llvm::IRBuilderBase &B, const Site &S);
  /// The fields of a __mprof_module_hook (rt/fastpath.h) that sites read.
  enum ModuleField { ModuleWord, ModuleEntry };
  bool hasModuleHook(const Site &S) const;
  llvm::GlobalVariable *moduleHook(const Site &S);
  llvm::Value *moduleField(llvm::IRBuilderBase &B, const Site &S,
                           ModuleField Field);
  llvm::Function *
  standIn(const Site &S, llvm::StringRef Kind,
          llvm::function_ref<llvm::Value *(llvm::IRBuilderBase &, const Site &)>
              Callee);
  void branchToEntry(const Site &S, llvm::Value *Cond);

  void rewriteHooked(const Site &S);
  void keepReference(llvm::Function &F);
  llvm::Value *nested(llvm::IRBuilderBase &B, llvm::StringRef Word);
  void setNested(llvm::IRBuilderBase &B, llvm::StringRef Word, llvm::Value *V);
  llvm::Value *enterNested(llvm::IRBuilderBase &B, bool Enters);
  void restoreNested(llvm::IRBuilderBase &B, llvm::Value *IsOuter);
  void rewriteCustomAlloc(const Site &S);
  void rewriteCustomFree(const Site &S);
  void rewriteCustomRealloc(const Site &S);
  void rewriteUserSync(const Site &S);

  llvm::Module &M;
  llvm::LLVMContext &Ctx;
  llvm::IntegerType *I64;
  llvm::PointerType *PtrTy;
  llvm::StringMap<llvm::GlobalVariable *> Words;
  llvm::DenseMap<llvm::Function *, llvm::Value *> UserNotes;
  bool WordsAreLocal;
  bool IsForLibrary; ///< Code for shared libraries, as far as it shows.
  bool IsMusl;       ///< The program's libc is musl.
  mprof::Nested Nested;
};

} // namespace mprof

#endif // MPROF_PASS_REWRITEHOOKED_H
