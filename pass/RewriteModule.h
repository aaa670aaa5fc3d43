// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes that are made once for a function or for the module.

#ifndef MPROF_PASS_REWRITEMODULE_H
#define MPROF_PASS_REWRITEMODULE_H

#include "Runtime.h"

namespace mprof {

/// Keeps frame pointers in \p F, so that the stack can be walked through each
/// frame of \p F that calls another function.
void keepFramePointer(llvm::Function &F);

/// Keeps frame pointers in functions that later passes add to \p M.
void keepFramePointers(llvm::Module &M);

/// Corrects the memory effects that the optimizer has inferred for functions.
/// The optimizer assumes that a hooked function such as malloc changes no
/// memory that the program can see. But a rewritten call changes the countdown,
/// and so does each function that contains one. Optimizers at link time would
/// otherwise rely on the inferred effects.
void widenMemoryEffects(llvm::Module &M);

/// Tells the runtime where the stack of the main thread ends.
void storeMainFrame(Runtime &RT, llvm::Function &Main);

/// Registers the names of \p Wrappers for as long as the module is loaded.
void registerWrappers(Runtime &RT,
                      llvm::ArrayRef<const llvm::Function *> Wrappers);

/// Makes the object refer to the version of hooks.def, so that the object links
/// only with a runtime of that version.
void requireVersion(Runtime &RT);

/// Tells the runtime when a shared library that contains this code is unloaded.
void tellUnload(Runtime &RT);

} // namespace mprof

#endif // MPROF_PASS_REWRITEMODULE_H
