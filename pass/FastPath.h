// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tests that rewritten code makes inline, before it calls the runtime.

#ifndef MPROF_PASS_FASTPATH_H
#define MPROF_PASS_FASTPATH_H

#include "Runtime.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

/// Returns the number of bytes that the call of \p S requests: size times
/// count, with wrap-around.
llvm::Value *bytes(llvm::IRBuilderBase &B, const Site &S);

struct Countdown {
  llvm::Value *Left; ///< The countdown after the subtraction.
  llvm::Value *Ask;  ///< Whether the runtime must be called.
};

/// Subtracts \p Bytes from the thread's countdown to the next sample.
Countdown countDown(Runtime &RT, llvm::IRBuilderBase &B, llvm::Value *Bytes);

/// Returns whether \p Ptr has none of the bits that are set in the word \p
/// Mask.
llvm::Value *hasNone(Runtime &RT, llvm::IRBuilderBase &B, llvm::Value *Ptr,
                     llvm::StringRef Mask);

/// Returns whether a thread waits for the lock or condition at \p Object, or
/// for another object with the same index in __mprof_waiters.
llvm::Value *hasWaiters(Runtime &RT, llvm::IRBuilderBase &B,
                        llvm::Value *Object);

/// Returns whether the runtime records waits of kind \p K.
llvm::Value *wantsKind(Runtime &RT, llvm::IRBuilderBase &B, WaitKind K);

/// Returns the condition under which a site of a hooked function calls the
/// runtime's entry instead of the function.
llvm::Value *mustAsk(Runtime &RT, llvm::IRBuilderBase &B, const Site &S);

} // namespace mprof

#endif // MPROF_PASS_FASTPATH_H
