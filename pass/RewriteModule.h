// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares changes of the IR that are made once for each function or once for
// each module, and not at each call.

#ifndef MPROF_PASS_REWRITEMODULE_H
#define MPROF_PASS_REWRITEMODULE_H

#include "Runtime.h"

namespace mprof {

/// Keeps frame pointers in \p F, so that the stack can be walked through each
/// frame of \p F that calls another function.
void keepFramePointer(llvm::Function &F);

/// Keeps frame pointers in functions that later passes add to \p M.
void keepFramePointers(llvm::Module &M);

/// Gives \p F an unwind table that is right at each instruction.
void makeUnwindTable(llvm::Function &F);

/// Gives functions that later passes add to \p M such tables.
void makeUnwindTables(llvm::Module &M);

/// Corrects the memory effects that the optimizer has inferred for functions.
/// The optimizer assumes that malloc changes no memory that the program can
/// see. But a rewritten call of malloc changes the sampling countdown. A
/// function that contains such a call also changes the countdown. Without the
/// correction, the optimizer at link time would rely on the inferred effects.
void widenMemoryEffects(llvm::Module &M);

/// Makes \p Main store its frame address in __mprof_main_frame, so that the
/// runtime knows where the stack of the main thread ends.
void storeMainFrame(Runtime &RT, llvm::Function &Main);

/// Makes the module register the names of \p Wrappers (the functions with
/// mprof_wrapper) with the runtime when it is loaded, and unregister them when
/// it is unloaded.
void registerWrappers(Runtime &RT,
                      llvm::ArrayRef<const llvm::Function *> Wrappers);

/// Adds a reference to a symbol that contains the version of mprof/hooks.def,
/// so that the object file links only with a runtime of this version.
void requireVersion(Runtime &RT);

/// Adds a destructor that tells the runtime when the shared library with this
/// module is unloaded. Does nothing in code for executables.
void tellUnload(Runtime &RT);

} // namespace mprof

#endif // MPROF_PASS_REWRITEMODULE_H
