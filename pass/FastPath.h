// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inserts the tests by which rewritten code decides, inline, whether to call
// the runtime.

#ifndef MPROF_PASS_FASTPATH_H
#define MPROF_PASS_FASTPATH_H

#include "Runtime.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

/// Inserts code that computes how many bytes the call of \p S requests: size
/// times count, modulo 2^64.
llvm::Value *bytes(llvm::IRBuilderBase &B, const Site &S);

struct Countdown {
  llvm::Value *Left; ///< The countdown after the subtraction.
  llvm::Value *Ask;  ///< Whether the runtime must be called.
};

/// Inserts code that subtracts \p Bytes from the number of bytes that the
/// thread may allocate before its next sample.
Countdown countDown(Runtime &RT, llvm::IRBuilderBase &B, llvm::Value *Bytes);

/// Inserts the same code, and returns only whether the runtime must be called.
llvm::Value *isDue(Runtime &RT, llvm::IRBuilderBase &B, llvm::Value *Bytes);

/// Inserts the same code for the size that the call of \p S requests.
llvm::Value *isSampleDue(Runtime &RT, llvm::IRBuilderBase &B, const Site &S);

/// Inserts code that adds \p Bytes to the thread's sampling countdown. This
/// reverts the subtraction of countDown().
void countBack(Runtime &RT, llvm::IRBuilderBase &B, llvm::Value *Bytes);

/// Inserts the test whether \p Ptr has none of the bits that are set in the
/// runtime's variable __mprof_<Mask>.
llvm::Value *hasNone(Runtime &RT, llvm::IRBuilderBase &B, llvm::Value *Ptr,
                     llvm::StringRef Mask);

/// Returns whether \p S frees a block off a page boundary through
/// __mprof_free_off_page. This is so in code for executables, unless the call
/// could become a jump: the function in this word may be the runtime's entry,
/// which would not find the frame of the caller. It is not so for a call of a
/// definition of the module itself, and for functions other than free.
bool freesOffPage(const Runtime &RT, const Site &S);

/// Inserts the test whether the block that \p S frees or resizes may be
/// counted.
llvm::Value *mayBeCounted(Runtime &RT, llvm::IRBuilderBase &B, const Site &S);

/// Inserts the test whether a thread waits for the lock or condition at \p
/// Object, or for another object with the same index in __mprof_waiters.
llvm::Value *hasWaiters(Runtime &RT, llvm::IRBuilderBase &B,
                        llvm::Value *Object);

/// Inserts the test whether the runtime records waits of kind \p K.
llvm::Value *wantsKind(Runtime &RT, llvm::IRBuilderBase &B, WaitKind K);

/// Inserts the test before the rewritten call \p S. If the result is true, the
/// rewritten code calls the runtime in place of the hooked function.
/// FastPath.cpp describes the test for each rule of mprof/hooks.def.
llvm::Value *mustAsk(Runtime &RT, llvm::IRBuilderBase &B, const Site &S);

} // namespace mprof

#endif // MPROF_PASS_FASTPATH_H
