// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function that a site calls: the hooked function, a word that holds its
// address, or the runtime's entry.

#ifndef MPROF_PASS_CALLEE_H
#define MPROF_PASS_CALLEE_H

#include "Runtime.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

/// Copies the attributes of the callee's result, and nounwind, from the
/// declaration of the callee to \p Call. The caller then makes \p Call a call
/// through a pointer, for which LLVM cannot see the declaration.
void sayAtCall(llvm::CallBase &Call);

/// Makes \p Call, which has rule \p R, a call of \p Entry. Forbids a tail call,
/// so that the caller's frame stays on the stack. Also forbids the optimizer to
/// merge \p Call with other calls, because profiles show its return address.
/// Profiles do not show where blocks were freed. So calls with rule Free or
/// Delete may be merged, which keeps landing pads small. They are no tail
/// calls, because the allocation log shows where a block was freed.
void retarget(llvm::CallBase &Call, Rule R, llvm::FunctionCallee Entry);

/// Makes \p Call a call of the function to which \p Callee points.
void callIndirectly(llvm::CallBase &Call, llvm::Value *Callee);

/// Returns \p Callee for the call of \p S. A call through memory takes some
/// processors (AMD's) two cycles more than a load of the address and a call
/// through a register. So the address is loaded into a register first, except
/// for a jump.
llvm::Value *toCall(llvm::IRBuilderBase &B, const Site &S, llvm::Value *Callee);

/// Returns whether \p S may call its function through a word of the runtime. It
/// must call the function directly if there is no variable
/// __mprof_next_<Symbol>, or if the module defines or hides the function.
bool callsByWord(const Site &S);

/// Returns the function of libc with this name and type, such as malloc, if the
/// module only declares it or does not know it. Returns null if it is another
/// function.
llvm::Function *declared(Runtime &RT, llvm::StringRef Name,
                         llvm::FunctionType *Ty);

} // namespace mprof

#endif // MPROF_PASS_CALLEE_H
