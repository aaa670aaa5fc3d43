// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites the calls of functions with an attribute such as mprof_alloc: custom
// allocators, the program's own locks and blocking functions. Runs before the
// optimizer.

#ifndef MPROF_PASS_REWRITECUSTOM_H
#define MPROF_PASS_REWRITECUSTOM_H

#include "Runtime.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

class CustomRewriter {
public:
  CustomRewriter(Runtime &RT, mprof::Nested Nested) : RT(RT), Nested(Nested) {}

  /// Rewrites the call \p S. Rewrite the calls of a basic block in reverse
  /// order, because each rewrite splits the basic block and moves the code
  /// after the call to a new basic block.
  void rewrite(const Site &S);

  /// Inserts code at landing pads and after setjmp in \p F.
  /// __mprof_nested_frame belongs to the outermost allocator that is running.
  /// The code sets this variable to 0 if an exception or longjmp has left that
  /// allocator. Returns whether \p F has landing pads or calls of setjmp.
  bool leaveNested(llvm::Function &F);

private:
  bool isOutermost() const { return Nested == mprof::Nested::Outermost; }
  llvm::Value *loadNested(llvm::IRBuilderBase &B, llvm::StringRef Word);
  void storeNested(llvm::IRBuilderBase &B, llvm::StringRef Word,
                   llvm::Value *V);
  llvm::Value *enterNested(llvm::IRBuilderBase &B, bool Enters);
  void restoreNested(llvm::IRBuilderBase &B, llvm::Value *IsOuter);
  void rewriteAlloc(const Site &S);
  void rewriteFree(const Site &S);
  void rewriteRealloc(const Site &S);
  llvm::Value *reallocToken(const Site &S, llvm::Value *Cond);
  void rewriteUserSync(const Site &S);
  llvm::Value *userNotes(llvm::Function &F);

  Runtime &RT;
  const mprof::Nested Nested;
  llvm::DenseMap<llvm::Function *, llvm::Value *> UserNotes;
};

/// Replaces each call of mprof.countdown and mprof.uncounted by code that
/// accesses the runtime's variables. No library defines these two functions:
/// their calls only stand for the accesses until the optimizer has run. Returns
/// whether there were any such calls.
bool lowerDeferred(Runtime &RT);

} // namespace mprof

#endif // MPROF_PASS_REWRITECUSTOM_H
