// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites the calls of functions that carry an MPROF_ATTRIBUTE: custom
// allocators, the user's locks and blocking calls. Called before the optimizer.

#ifndef MPROF_PASS_REWRITECUSTOM_H
#define MPROF_PASS_REWRITECUSTOM_H

#include "Runtime.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

class CustomRewriter {
public:
  CustomRewriter(Runtime &RT, mprof::Nested Nested) : RT(RT), Nested(Nested) {}

  /// Rewrites \p S. Call this for the sites of a basic block in reverse order,
  /// because a rewrite splits the block after its call and moves the code that
  /// follows to a new block.
  void rewrite(const Site &S);

  /// Inserts code at landing pads and after setjmp in \p F. The code clears the
  /// stored frame of an allocator that an exception or longjmp has left.
  /// Returns whether \p F has such places.
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

/// Replaces the calls of mprof.countdown and mprof.uncounted by the accesses of
/// the runtime's words that they stand for. Called after the optimizer. Returns
/// whether there were any such calls.
bool lowerDeferred(Runtime &RT);

} // namespace mprof

#endif // MPROF_PASS_REWRITECUSTOM_H
