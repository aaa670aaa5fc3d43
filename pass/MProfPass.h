// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two passes of MProf.

#ifndef MPROF_PASS_MPROFPASS_H
#define MPROF_PASS_MPROFPASS_H

#include "Options.h"
#include "llvm/IR/PassManager.h"

namespace mprof {

/// Runs before the optimizer: sets marks, rewrites calls of custom allocators
/// and registers wrappers. Inlining would remove the calls and functions that
/// this work needs.
class MarkPass : public llvm::PassInfoMixin<MarkPass> {
public:
  explicit MarkPass(Options Opts) : Opts(std::move(Opts)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  Options Opts;
};

/// Runs after the optimizer: rewrites the remaining calls of hooked functions,
/// keeps frame pointers and stores main's frame. Does the work of MarkPass
/// first if that pass has not run.
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
