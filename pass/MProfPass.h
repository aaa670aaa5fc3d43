// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two passes of MProf.

#ifndef MPROF_PASS_MPROFPASS_H
#define MPROF_PASS_MPROFPASS_H

#include "Options.h"
#include "llvm/IR/PassManager.h"

namespace mprof {

/// Runs before the optimizer, because inlining removes calls and functions that
/// this pass needs. Adds the attributes of Marks.h to functions and calls.
/// Rewrites calls of functions that have an attribute such as mprof_alloc.
/// Makes the program register, with the runtime, the names of functions that
/// have the attribute mprof_wrapper.
class MarkPass : public llvm::PassInfoMixin<MarkPass> {
public:
  explicit MarkPass(Options Opts) : Opts(std::move(Opts)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  Options Opts;
};

/// Runs after the optimizer. Rewrites the calls of hooked functions, such as
/// malloc, that the optimizer has left. Makes functions keep frame pointers,
/// and makes main store its frame address. If MarkPass has not run, does the
/// work of MarkPass first.
class MProfPass : public llvm::PassInfoMixin<MProfPass> {
public:
  explicit MProfPass(Options Opts) : Opts(std::move(Opts)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  Options Opts;
};

} // namespace mprof

#endif // MPROF_PASS_MPROFPASS_H
